//! An async runtime whose tasks are serialized by color: two tasks of one [`Color`] never run at
//! the same time and run in the order in which they were scheduled, tasks of different colors run
//! in parallel on all cores.
//!
//! A program that names no color runs as if it had one thread. It becomes parallel one
//! [`spawn_colored`] at a time, and state that belongs to a color needs no lock.
//!
//! ```no_run
//! use colored::net::{TcpListener, TcpStream};
//! use colored::{Color, ColorCell};
//! use std::collections::HashMap;
//!
//! #[colored::main]
//! async fn main() -> std::io::Result<()> {
//!     let hits = ColorCell::new(Color::named("hits"), HashMap::new()); // no lock
//!     let listener = TcpListener::bind("127.0.0.1:8080").await?;
//!     loop {
//!         let (stream, peer) = listener.accept().await?;
//!         let hits = hits.clone();
//!         // Connections run in parallel; each is serial in itself.
//!         let _detached = colored::spawn_colored(Color::unique(), async move {
//!             hits.call(move |hits| *hits.entry(peer.ip()).or_insert(0) += 1).await;
//!             serve(stream).await
//!         });
//!     }
//! }
//!
//! async fn serve(mut stream: TcpStream) -> std::io::Result<()> {
//!     let (mut reader, mut writer) = stream.split();
//!     colored::io::copy(&mut reader, &mut writer).await?;
//!     Ok(())
//! }
//! ```
//!
//! The package is `colored-rt`; the package named `colored` is another one, for coloring terminals.
//! A program that uses both renames one of them in its `Cargo.toml`, and tells the attributes:
//! `#[rt::main(crate = ::rt)]`.
//!
//! # Entering
//!
//! | | runs its future | the future is | afterwards |
//! |---|---|---|---|
//! | [`#[colored::main]`](macro@main), [`#[colored::test]`](macro@test) | on any worker of a new runtime | `Send` | the runtime is shut down |
//! | the same with `local` | on the calling thread | any | the same |
//! | [`Runtime::run`] | on any worker | `Send + 'static` | other tasks go on |
//! | [`Runtime::block_on`], [`Handle::block_on`] | on the calling thread | any, may borrow | other tasks go on; its [`spawn_local`] tasks are aborted |
//! | [`Handle`] | spawns from any thread | `Send + 'static` | |
//!
//! In all of them the main future is a task under [`Color::DEFAULT`]: it never overlaps anything
//! that names no color. `run` and the plain attributes cost no thread switch per poll; `block_on`
//! does, when the color is busy on a worker.
//!
//! # The end of a program
//!
//! When `main` is done, tasks that are left are dropped under their colors, and then the program waits
//! for what cannot be interrupted: polls and [`spawn_blocking`] calls that are under way. One that never
//! returns, such as a read of a terminal that nobody types at, keeps the program from ending. A name
//! look-up does not. Who cannot wait builds the [`Runtime`] and ends it by
//! [`shutdown_timeout`](Runtime::shutdown_timeout) or
//! [`shutdown_background`](Runtime::shutdown_background), which waits for nothing.
//!
//! # Spawning
//!
//! Every function schedules the task behind what is scheduled under its color already. Between
//! colors there is no order.
//!
//! | | color | the future is | runs on |
//! |---|---|---|---|
//! | [`spawn`] | [`Color::DEFAULT`] | `Send` | any worker |
//! | [`spawn_colored`] | the one named | `Send` | any worker |
//! | [`spawn_here`] | the caller's | `Send` | any worker |
//! | [`spawn_unique`] | a fresh one: parallel with everything | `Send` | any worker |
//! | [`spawn_local`] | the caller's, or the default one | any | this thread |
//! | [`spawn_pinned`] | the one named | any, made there | the worker named |
//! | [`spawn_blocking`] | none, and no order | a closure, `Send` | a thread that may block |
//!
//! A color is not inherited: what a task of some color hands to [`spawn`] runs under the default
//! one. Dropping a [`JoinHandle`] detaches its task. An abort, a panic and the end of the runtime
//! drop the task's future under its color.
//!
//! # What happens at an await
//!
//! The color is held for one poll and released at every `.await` that has to wait. In between,
//! other tasks of the same color may run. So:
//!
//! * Code without an await is atomic for its color.
//! * What was read before an await may have changed after it: look again, or keep read and write in
//!   one piece of code without an await.
//! * What must stay as it is across an await needs an owner: a local variable of the task, or the
//!   guard of a [`sync::Mutex`]. Holding a guard across an await stops nobody of the color but
//!   those who want the same lock.
//! * [`exclusive`] holds the color across awaits, by name: nothing else of the color runs until the
//!   section is done or dropped. [`ColorCell::exclusive`] gives `&mut T` in such a section.
//!
//! # Cells and hops
//!
//! A [`ColorCell`] is a value that one color owns. There are two ways to get at the state of
//! another color:
//!
//! * **Call the cell**: [`ColorCell::call`] runs a closure over there and gives its result,
//!   [`ColorCell::post`] does not wait. The task stays under its color. If the cell's color is
//!   idle, a call runs at once on the caller's thread. What is scheduled there comes first, also if
//!   the color is the caller's own. Best for short accesses without an await.
//! * **Hop**: [`hop`] moves the task itself, and everything after it runs under the other color,
//!   until it hops again. Best for several accesses, or for work that awaits in between.
//!
//! State of several colors in one step: [`when`] runs a closure that has all of the cells at once.
//! Who only looks says [`ColorCell::read`], and inside a `when` [`shared()`](ColorCell::shared) of one
//! cell or [`shared()`](fn@shared) of a row of them: readers of one color run in parallel.
//!
//! ```
//! use colored::{Color, ColorCell, hop};
//!
//! # #[colored::main(workers = 2)]
//! # async fn main() {
//! let (here, there) = (Color::new(1), Color::new(2));
//! let log = ColorCell::new(there, Vec::new());
//! let task = colored::spawn_colored(here, async move {
//!     log.call(|log| log.push("called")).await; // the task stays under `here`
//!     hop(there).await;
//!     log.with(|log| log.push("hopped")); // under `there` from now on
//!     log.with(|log| log.len())
//! });
//! assert_eq!(task.await.unwrap(), 2);
//! # }
//! ```
//!
//! # Limits
//!
//! A color takes whatever it is given. A [`Limit`] in front of it admits a number of tasks and
//! calls at a time: others wait in line, or by a `try_` function learn that there is no room.
//! What runs under the color itself is never made to wait. See [`limit`]. Where not the number counts
//! but the delay, [`admission`] refuses what would begin too late. A [`stage`] is a handler behind a
//! bounded queue, with batches, for pipelines.
//!
//! A value that must stay on one thread, because it is not `Send` or belongs to a library that wants
//! it so, lives in a [`PinnedCell`]: the same calls, and a thread of its own choice, also the one that
//! is inside `block_on`.
//!
//! # State without an argument
//!
//! Code that has no argument to hand state through reaches it by a static name: [`color_local!`] is
//! state of whatever color runs, made on first use and dropped when the color is idle;
//! [`task_local!`] is a value for the length of a future.
//!
//! # Other crates
//!
//! * tokio's `AsyncRead` and `AsyncWrite` are the traits of our sockets, and are in [`io`]. What is
//!   written against them works: TLS, codecs, protocols.
//! * `tokio::sync` needs no runtime, and is in [`sync`]. Nor do [`select!`], [`join!`] and
//!   [`try_join!`], which are tokio's own too; for `pin!` there is [`std::pin::pin!`].
//! * `tokio::spawn`, `tokio::time`, `tokio::net`, `tokio::fs`, `tokio::signal` and `tokio::process`
//!   want a tokio runtime and panic without one. Here: [`spawn`], [`time`], [`net`]; there is no
//!   file, signal or process module yet, no standard input and output, and no UDP.
//!   [`spawn_blocking`] serves for files and for the standard input. The guide, `docs/colors.md`,
//!   has a table for those who come from tokio.
//! * hyper, axum and tonic: the crate `colored-rt-hyper`.
//! * futures-io and hyper's traits are on the sockets behind the features below.
//! * Executors of one's own: [`JoinHandle`], [`ColorCell::call`] and all of [`sync`] may be awaited
//!   in any of them. Sockets and timers belong to the runtime in which they were made or first
//!   polled.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `macros` | yes | [`#[colored::main]`](macro@main), [`#[colored::test]`](macro@test) |
//! | `futures-io` | no | the futures-io traits on sockets |
//! | `hyper` | no | hyper's `Read` and `Write` on sockets |
//!
//! # Platforms
//!
//! Rust 1.88 or later. Readiness comes from mio: epoll on Linux and Android, kqueue on macOS and
//! the BSDs, the completion port on Windows. The tests run on Linux. What differs:
//!
//! | | |
//! |---|---|
//! | number of workers | [`std::thread::available_parallelism`]; on Linux it knows the affinity mask and the cgroup quota |
//! | [`Builder::pin`] | Linux and Windows bind a worker to its CPU, macOS takes it as a hint. Where the system refuses, the worker stays unpinned |
//! | thread names | Linux shows the first 15 bytes |
//! | socket options | a value must be one that every system takes: [`net::KeepAlive`], [`net::TcpStream::set_linger`] |
//! | `SO_REUSEADDR` | on by default, except on Windows, where it would let others take the port |
//! | `SO_REUSEPORT` | on unix, without Solaris and illumos |
//! | [`net::UnixListener`](net), `UnixStream` | on unix |
//! | keep-alive | no interval on OpenBSD; no count of probes on OpenBSD and Windows |

pub mod admission;
mod blocking;
mod budget;
pub mod cell;
mod color_local;
mod driver;
mod finish;
pub mod io;
mod launch;
pub mod limit;
pub mod metrics;
pub mod net;
pub mod pinned;
mod pool;
pub mod runtime;
pub mod stage;
pub mod sync;
pub mod task;
pub mod time;
mod wait;

#[doc(inline)]
pub use colored_core::{
    AccessError, CallError, Color, ColorCell, ColorLocal, ColorLocalError, Deadlock, Priority,
    exclusive, shared, try_when, when,
};

#[doc(inline)]
pub use self::limit::{Limit, LimitedCell};
#[doc(inline)]
pub use self::pinned::{PinnedCell, spawn_pinned};
#[doc(inline)]
pub use self::runtime::{Builder, Handle, Runtime};
#[doc(inline)]
pub use self::task::{
    AbortHandle, JoinError, JoinHandle, hop, spawn, spawn_blocking, spawn_colored, spawn_here,
    spawn_local, spawn_unique, try_hop, yield_now,
};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use colored_macros::{main, test};
pub use tokio::{join, select, try_join};

#[doc(hidden)]
pub mod __private;
// The macros use this name, for the sake of who renamed the runtime and has another crate called
// `colored`: it is what the compiler then does not find there, and so the message.
#[doc(hidden)]
pub use __private as __private_of_colored_rt_a_renamed_runtime_needs_the_crate_option;

// Compiles the code of the front page.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

// Runs the code of the guide.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../docs/colors.md")]
struct Guide;
