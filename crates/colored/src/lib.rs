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
//! A program that uses both renames one of them in its `Cargo.toml`, and passes the new name to the
//! attributes: `#[rt::main(crate = ::rt)]`.
//!
//! # Entering
//!
//! | | runs its future | the future is | afterwards |
//! |---|---|---|---|
//! | [`#[colored::main]`](macro@main) | on any worker of a new runtime | `Send` | the runtime is shut down |
//! | [`#[colored::test]`](macro@test), `#[colored::main(local)]`; [`block_on`](block_on()) | on the calling thread | any; `block_on`'s may borrow | the same |
//! | [`Runtime::run`] | on any worker | `Send + 'static` | other tasks go on |
//! | [`Runtime::block_on`], [`Handle::block_on`] | on the calling thread | any, may borrow | other tasks go on; its [`spawn_local`] tasks are aborted |
//! | [`EmbeddedRuntime`](runtime::EmbeddedRuntime) | on the calling thread, in turns, inside an event loop of the program | any | other tasks go on with the next turn |
//! | [`Handle`] | spawns from any thread | `Send + 'static` | |
//!
//! In all of them the main future is a task under [`Color::DEFAULT`]: it never overlaps a task that
//! names no color. `run` and `#[colored::main]` cost no thread switch per poll; `block_on` costs
//! one when the color is busy on a worker.
//!
//! # The end of a program
//!
//! When `main` is done, the runtime drops the remaining tasks under their colors, those of one color in their order: first
//! those that have a turn coming, then those that wait, the oldest first. A task that has a turn coming at that time may
//! have it: a spawn just before the end of `main` runs in some programs and not in others. What must happen, `main`
//! awaits. Then the program
//! waits for polls and [`spawn_blocking`] calls that have begun, because they cannot be
//! interrupted. A call that never returns, such as a read of [`std::io::stdin`] from an unused
//! terminal, keeps the program from ending. A name look-up does not, nor does [`io::stdin`], nor a
//! [`fs::File`] that is a pipe or a terminal. A program that cannot wait builds the [`Runtime`] itself
//! and ends it by [`shutdown_timeout`](Runtime::shutdown_timeout) or
//! [`shutdown_background`](Runtime::shutdown_background), which waits for nothing.
//!
//! # Spawning
//!
//! Every function schedules the task behind all work that is already scheduled under its color.
//! Between colors there is no order.
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
//! For files, [`fs`] is cheaper than `spawn_blocking`: what is in memory is read on the worker. [`lazy`] does the
//! same for any operation that has an attempt which does not block. A value that stays on one thread, and that other
//! tasks use, is a [`PinnedCell`].
//!
//! A color is a value: `Color::of(("account", 7))` for a thing with a key, [`Color::named`] for a thing that exists once,
//! [`Color::unique`] for one that nobody names, and [`Color::new`] where only one kind of thing has numbers.
//!
//! A task does not inherit a color: a future that a colored task passes to [`spawn`] runs under the
//! default color. Dropping a [`JoinHandle`] detaches its task. An abort, a panic and the end of the
//! runtime drop the task's future under its color.
//!
//! # What happens at an await
//!
//! A task holds its color for one poll and releases it at every `.await` that has to wait. In
//! between, other tasks of the same color may run. So:
//!
//! * Code without an await is atomic for its color.
//! * A value that was read before an await may have changed after it: read it again, or keep read
//!   and write in one piece of code without an await.
//! * State that must not change across an await needs an owner: a local variable of the task, or
//!   the guard of a [`sync::Mutex`]. A guard held across an await delays only the tasks of the color that need the same
//!   lock.
//! * [`exclusive`] holds the color across awaits: nothing else of the color runs until the section
//!   is done or dropped. [`ColorCell::exclusive`] gives `&mut T` in such a section.
//!
//! # Cancel safety
//!
//! A future is cancelled by dropping it, as the losing branches of [`select!`] are. Every function that returns a future
//! documents what that means. *Cancel safe*: nothing is lost, and the function may simply be called again. *Not
//! cancel safe*: a part of the work is done, will still be done, or is lost; the documentation says which. A
//! [`JoinHandle`] is cancel safe: its task goes on. Where a task is aborted, all futures in it are dropped, under
//! its color.
//!
//! # Panic or error
//!
//! A wait can fail although the program did nothing wrong in that line: the runtime shuts down, or the wait would never
//! end (a deadlock around a section). One rule says what then happens, for cells, pinned cells, `when`, limits and joins:
//!
//! | the name | waits? | if it fails |
//! |---|---|---|
//! | `call`, `read`, `when`, `reserve`, `spawn` of a `Limit` | yes | it panics, and the text names the line |
//! | `checked_call`, `checked_read`, [`checked_when`], `checked_reserve` | yes | it returns the error, as `checked_add` does |
//! | `try_call` of a `LimitedCell`, `try_send`, `try_reserve`, `try_with`, .. | no | it returns an error if it would have to wait |
//!
//! A join is a wait too. It returns a `Result` in any case, because its task may have panicked: [`task::JoinError`] has
//! the panic, the cancellation (also by the shutdown), and the deadlock. A limit or a stage that the program closes itself
//! is part of its protocol, and so always an error that returns the item: [`Closed`](limit::Closed).
//!
//! # Cells and hops
//!
//! A [`ColorCell`] is a value that one color owns. There are two ways to use the state of another
//! color:
//!
//! * **Call the cell**: [`ColorCell::call`] runs a closure under the cell's color and returns its
//!   result; [`ColorCell::post`] does not wait. The task stays under its own color. If the cell's
//!   color is idle, a call runs at once on the caller's thread. Otherwise it runs after all work
//!   that is already scheduled there, also if the color is the caller's own. Calls are best for
//!   short accesses without an await.
//! * **Hop**: [`hop`] moves the task itself: all code after the hop runs under the other color,
//!   until the task hops again. Hops are best for several accesses, or for work that awaits in
//!   between.
//!
//! [`when`] accesses the state of several colors in one step: its closure has all of the cells at
//! once. To only read, use [`ColorCell::read`], and inside a `when` [`shared()`](ColorCell::shared)
//! for one cell or [`shared()`](fn@shared) for a row of cells: readers of one color run in
//! parallel.
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
//! A color accepts everything that is scheduled under it. A [`Limit`] in front of the color admits
//! a number of tasks and calls at a time: others wait in line, and a `try_` function returns an
//! error if there is no room. Code that runs under the color itself never waits for room. See
//! [`limit`]. With the feature `stage` there is also `admission`, which limits the delay in place of
//! the number: it refuses work that would begin too late; and `stage`, a handler behind a bounded
//! queue, with batches, for pipelines.
//!
//! A value that must stay on one thread, because it is not `Send` or because a library requires it,
//! lives in a [`PinnedCell`]. It has the same calls as a `ColorCell`, and stays on the thread of
//! your choice, which may be the one inside `block_on`.
//!
//! # State without an argument
//!
//! Code without an argument for its state reaches the state by a static name. [`color_local!`]
//! declares state of the current color, made on first use and dropped when the color is idle;
//! [`task_local!`] declares a value for the length of a future.
//!
//! # Other crates
//!
//! * Our sockets implement tokio's `AsyncRead` and `AsyncWrite`, which are in [`io`]. Libraries
//!   that use these traits work: TLS, codecs, protocols.
//! * `tokio::sync` needs no runtime; [`sync`] wraps its types. [`join!`],
//!   [`try_join!`] and [`pin!`] are tokio's and need no runtime; [`select!`] has tokio's syntax.
//! * `tokio::spawn`, `tokio::time`, `tokio::net`, `tokio::fs`, `tokio::signal` and `tokio::process`
//!   need a tokio runtime and panic without one. Use [`spawn`], [`time`], [`net`], [`fs`], [`signal`] and `process` of
//!   this crate. What means the same has the same path and name. The page `docs/from-tokio.md` of the repository says
//!   what differs, and ports a server step by step.
//! * Libraries that are built on those, such as HTTP clients and database drivers, work with the feature
//!   `tokio-context`: then all threads are in a tokio runtime as well. Our tasks keep their colors; what a
//!   library hands to `tokio::spawn` has none, and runs on tokio's thread, where [`spawn`], [`net`] and
//!   [`time`] of this crate work too.
//! * The crate `colored-rt-hyper` runs hyper, axum and tonic.
//! * The sockets implement the traits of futures-io and hyper with the features below.
//! * Any executor may await a [`JoinHandle`], a [`ColorCell::call`] and all of [`sync`]. Sockets
//!   and timers belong to the runtime in which they were made or first polled.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `diagnose` | no | [`diagnose`](mod@diagnose): warnings of what limits the program, dumps of its tasks, reports, traces |
//! | `macros` | yes | [`#[colored::main]`](macro@main), [`#[colored::test]`](macro@test) |
//! | `futures-io` | no | the futures-io traits on sockets and files |
//! | `hyper` | no | hyper's `Read` and `Write` on sockets |
//! | `metrics` | no | `metrics::Exporter`, and `diagnose`: the runtime's counters for the recorder of the `metrics` crate |
//! | `native-stacks` | no | `diagnose::dump::install_stack_handler`: dumps have the native stacks of workers that are stuck, and reports name the functions that take the time; Linux, x86-64 and aarch64 |
//! | `tracing` | no | each task has a span of `tracing`, see [below](#spans); warnings of `diagnose` are events |
//! | `tokio-context` | no | libraries that need tokio's runtime find one, beside every runtime; `Builder::tokio_context` turns it off |
//! | `sim` | no | `sim`: a program under many schedules, by seed, in a time of its own; the failing run is repeated and shrunk |
//! | `stage` | no | `stage`: handlers with bounded queues; `admission`: under overload, early refusals of what would begin too late |
//! | `hdrhistogram` | no | `diagnose::trace::Snapshot::histograms`: how recorded times are distributed |
//!
//! ## Spans
//!
//! With the feature `tracing`, a task has a span with the target `colored::task`, the level `TRACE` and the name `task`, if the
//! subscriber wants one. Its fields are `task.id`, `task.name`, `color` and `spawned`, the place of the spawn. The span is entered
//! for each poll of the task and for the drop of its future, on whichever worker that is, so it follows the task over
//! [hops](hop()), and `color` is recorded again when the task goes on under another color. A closure that the task sends to a cell or to
//! other colors runs in the span of the task as well, and a [blocking call](spawn_blocking()) has a span `blocking` of its own. A span is
//! closed when its task completes, is aborted or panics.
//!
//! The parent of the span is the program's own span around the spawn, if there is one. The span of a task is no parent, since it would
//! stay open for as long as the tasks that come from it; the new span follows from it (`follows_from`). A future that the program
//! instruments itself has its span inside that of the task.
//!
//! Where no subscriber wants the spans, a spawn costs a check of one atomic more. A span costs what the subscriber makes of it.
//!
//! # Platforms
//!
//! Rust 1.88 or later. Readiness comes from mio: epoll on Linux and Android, kqueue on macOS and
//! the BSDs, the completion port on Windows. The tests run on Linux. The platforms differ in:
//!
//! | | |
//! |---|---|
//! | number of workers | [`std::thread::available_parallelism`]; on Linux it knows the affinity mask and the cgroup quota |
//! | [`Builder::pin`] | Linux and Windows bind a worker to its CPU, macOS takes it as a hint. Where the system refuses, the worker stays unpinned |
//! | thread names | Linux shows the first 15 bytes |
//! | socket options | a value must be one that every system takes: [`net::KeepAlive`], [`net::TcpStream::set_linger`] |
//! | `SO_REUSEADDR` | on by default, except on Windows, where it would let others take the port |
//! | `SO_REUSEPORT` | on unix, without Solaris and illumos |
//! | [`net::TcpListener::bind_per_worker`] | Linux, Android, FreeBSD and DragonFly BSD |
//! | [`net::UnixListener`](net), `UnixStream`, `UnixDatagram`, pipes; `process`; [`signal`] | on unix |
//! | [`fs`] | attempts on the worker on Linux; blocking threads do everything elsewhere |
//! | keep-alive | no interval on OpenBSD; no count of probes on OpenBSD and Windows |

#![cfg_attr(docsrs, feature(doc_cfg))]
// The front page shows the attributes, which are a default feature.
#![cfg_attr(not(feature = "macros"), allow(rustdoc::broken_intra_doc_links))]

#[cfg(feature = "stage")]
pub mod admission;
#[cfg(feature = "macros")]
mod attributes;
mod block_on;
mod blocking;
mod budget;
pub mod cell;
mod chance;
mod color_local;
mod device;
#[cfg(feature = "diagnose")]
pub mod diagnose;
#[cfg(not(feature = "diagnose"))]
#[path = "diagnose/absent.rs"]
mod diagnose;
mod drain;
mod driver;
mod environment;
mod error_context;
pub mod fs;
pub mod io;
pub mod limit;
mod long_poll;
pub mod metrics;
mod missing_tokio;
pub mod net;
pub mod pinned;
mod pool;
#[cfg(unix)]
pub mod process;
mod ready;
mod registration;
pub mod runtime;
mod select;
mod services;
pub mod signal;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(feature = "stage")]
pub mod stage;
pub mod sync;
pub mod task;
mod thread_settings;
pub mod time;
#[cfg(feature = "tokio-context")]
mod tokio_context;
mod wait_reason;
mod wall;

#[doc(inline)]
pub use colored_core::{
    AccessError, CallError, Color, ColorCell, ColorLocal, ColorLocalError, Deadlock, Priority,
    checked_when, exclusive, shared, when,
};

#[doc(inline)]
pub use self::limit::{Limit, LimitedCell};
#[doc(inline)]
pub use self::pinned::{PinnedCell, spawn_pinned};
#[doc(inline)]
pub use self::runtime::{Builder, Handle, Runtime, block_on};
#[doc(inline)]
pub use self::task::{
    AbortHandle, JoinError, JoinHandle, block_in_place, hop, lazy, spawn, spawn_blocking,
    spawn_colored, spawn_here, spawn_local, spawn_unique, yield_now,
};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use self::attributes::{main, test};
pub use tokio::{join, pin, try_join};

#[doc(hidden)]
pub mod __private;
// The macros use this name. If a program renames the runtime and has another crate called
// `colored`, the compiler does not find the name there, and its error message shows the name.
#[doc(hidden)]
pub use __private as __private_of_colored_rt_a_renamed_runtime_needs_the_crate_option;

// Runs the code of the package's page.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
