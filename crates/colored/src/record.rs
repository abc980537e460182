//! Record a real run on real threads, and replay it on any number of workers.
//!
//! A bug that depends on the order in which colors were served is hard to see twice. [`Builder::record`] writes that order
//! into a file, for a run in production or in a test; [`Builder::replay`] runs the program again in the same order, under a
//! debugger or with more output, as often as wanted.
//!
//! ```
//! use colored::{ColorCell, Runtime, spawn_colored};
//!
//! /// Two colors append to the list of a third.
//! async fn append() -> Vec<u32> {
//!     let list = ColorCell::new(1, Vec::new());
//!     let writers = [2, 3].map(|color: u32| {
//!         let list = list.clone();
//!         spawn_colored(color, async move {
//!             for _ in 0..10 {
//!                 list.call(move |list| list.push(color)).await;
//!             }
//!         })
//!     });
//!     for writer in writers {
//!         writer.await.unwrap();
//!     }
//!     list.call(|list| list.clone()).await
//! }
//!
//! # fn main() -> std::io::Result<()> {
//! let file = std::env::temp_dir().join(format!("append-{}.colored", std::process::id()));
//! let recorded = Runtime::builder().workers(4).record(&file).build()?.run(append());
//! let replayed = Runtime::builder().workers(1).replay(&file).build()?.run(append());
//! assert_eq!(recorded, replayed);
//! # std::fs::remove_file(file)
//! # }
//! ```
//!
//! # What makes a run the same
//!
//! The state of a color changes in its turns only, and they run in the order in which they were scheduled. So a run is
//! determined by two things: for each color, whose work had each turn; and what the turns read from outside. A record has
//! both, in a fraction of a byte for a post or a message if turns are alike, and in a few bytes otherwise. It has no order
//! between colors, no worker and no time, and so a replay may use other workers, and takes no longer than its computations.
//!
//! # What a record covers
//!
//! | covered | how a replay treats it |
//! |---|---|
//! | spawns, posts, calls, hops, yields, aborts, joins | in the recorded order |
//! | [`mpsc`](crate::sync::mpsc) channels by `send` and `recv`, [`oneshot`](crate::sync::oneshot) channels | each value is received from the recorded sender |
//! | sleeps, timeouts, intervals | no time passes |
//! | [`Instant::now`](crate::time::Instant::now), [`system_time`](crate::time::system_time), [`random`], where [`select!`](macro@crate::select) begins | the recorded values |
//! | [`spawn_blocking`](crate::spawn_blocking()) | runs again; what it spawns and posts is covered |
//! | [`Color::unique`](crate::Color::unique), [task ids](crate::task::Id) | equal, by the color that makes them |
//! | the thread that made the runtime | spawns and sends again |
//!
//! | not covered | a replay that comes there |
//! |---|---|
//! | sockets, pipes, signals, child processes, files, limits, stages, pinned cells, other channels, locks and semaphores of [`sync`](crate::sync), other methods of channels; [`ColorCell::read`](crate::ColorCell::read), [`when`](crate::when()), sections, [`ColorLocal`](crate::ColorLocal), the clock inside a blocking call | ends, and names the operation, the color and the number of its turn |
//! | spawns and messages of other threads | ends, where their work has its turn |
//! | files that are read without waiting; the clock and the random numbers of `std`; locks, atomics and thread-locals that colors share; [`SetOnce`](crate::sync::SetOnce); the order of a `HashMap`; destructors of values that several colors share | is not seen. If the program behaves in another way then, the replay ends where that differs from the record |
//!
//! A recorded run that does the first kind of these goes on. It says so on the standard error, once for each place: the
//! operation, the color and the place, which is one of the library where an `async` function of it makes the call.
//!
//! # How a replay ends
//!
//! With the program's own end; or with a panic of `run` or `block_on`, and a line on the standard error, when the program
//! does something else than the record says. If nothing goes on for two seconds, the text names what the record has next,
//! and what waits, or says that the recorded run has ended here. A blocking call that has not returned is waited for as long as
//! it takes: after the two seconds, a line on the standard error names the place that made it, and what is missing beside.
//! What the recorded run did after its runtime began to shut down is not part of the record.
//!
//! A replay polls tasks a little early now and then, and keeps a thread waiting inside such a poll: it has up to 64 spare
//! workers for this.
//!
//! [`Builder::record`]: crate::runtime::Builder::record
//! [`Builder::replay`]: crate::runtime::Builder::replay

use colored_core::port::order::{Value, number};

/// A random number, which a record keeps. Outside of a recorded or replayed run, a number that nothing decides.
#[must_use]
pub fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    number(Value::Random, || RandomState::new().hash_one(0))
}
