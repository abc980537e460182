//! Channels, locks and signals between tasks: tokio's, which need no runtime, in thin wrappers.
//!
//! They work under every color and between colors. State of one color needs no lock: see
//! [`ColorCell`](crate::ColorCell).
//!
//! A wrapper adds two things to each method that waits. The method uses the cooperative budget
//! ([`consume_budget`](crate::task::consume_budget)), so a loop over a channel that is never empty ends its poll in time.
//! And a wait is in dumps and reports, with its place. All other methods are tokio's, by `Deref`. What waits in a line, for a
//! lock, a permit or room, has its place there from its first poll on, also if no unit is left for it. A simulation draws the
//! order of wakes of [`watch`] and [`Barrier`]. [`SetOnce`] is tokio's own type, and has none of this.
//!
//! # Types of other crates
//!
//! A crate that takes or returns tokio's type is met by `into()`, both ways:
//!
//! ```
//! use colored::sync::mpsc;
//!
//! # #[colored::main(workers = 1)]
//! # async fn main() {
//! let (sender, receiver) = mpsc::channel(1);
//! // As `tokio_stream::wrappers::ReceiverStream::new` wants it.
//! let theirs: tokio::sync::mpsc::Receiver<u8> = receiver.into();
//! let mut ours = mpsc::Receiver::from(theirs);
//! sender.send(7).await.unwrap();
//! assert_eq!(ours.recv().await, Some(7));
//! # }
//! ```
//!
//! # A lock inside a section
//!
//! A task that waits for a lock inside a section ([`exclusive`](crate::exclusive())) keeps its color. If a task of that color
//! has the lock and waits for a turn, both wait for ever: the search for deadlocks does not know who has a lock, so no
//! error ends this. A dump shows both. Take the lock before the section, or make its value a [`ColorCell`](crate::ColorCell).
//!
//! # Methods that block
//!
//! These types have methods for threads outside of any runtime. Their names begin with `blocking_`, and
//! they block the calling thread. tokio panics where such a method is called inside a task of its own
//! runtime. **tokio does not recognize our tasks: inside a task these methods block the worker and its
//! color**, for ever if they wait for work of the same color. Other colors, timers and sockets go on:
//! on other workers, or after some milliseconds on a spare thread, while there is one
//! ([`Tuning::spare_workers`](crate::runtime::Tuning::spare_workers)). After a second, a line on the standard error names the
//! task and the place of its spawn, or before by `diagnose::Options::on_long_poll`. Await the method of the same name without
//! `blocking_`, or, in code that cannot await, call the method in
//! [`spawn_blocking`](crate::spawn_blocking):
//!
//! ```
//! use colored::{spawn_blocking, sync::mpsc};
//!
//! # #[colored::main(workers = 1)]
//! # async fn main() {
//! let (numbers, mut wanted) = mpsc::channel(1);
//! let sum = spawn_blocking(move || {
//!     let mut sum = 0;
//!     while let Some(number) = wanted.blocking_recv() {
//!         sum += number;
//!     }
//!     sum
//! });
//! for number in 1..=3 {
//!     numbers.send(number).await.unwrap();
//! }
//! drop(numbers);
//! assert_eq!(sum.await.unwrap(), 6);
//! # }
//! ```
//!
//! Clippy reports each call if the `clippy.toml` of the program has the following list;
//! `#[expect(clippy::disallowed_methods)]` permits a correct call:
//!
//! ```toml
//! disallowed-methods = [
//!     "tokio::sync::Mutex::blocking_lock",
//!     "colored::sync::Mutex::blocking_lock_owned",
//!     "tokio::sync::RwLock::blocking_read",
//!     "tokio::sync::RwLock::blocking_write",
//!     "tokio::sync::Semaphore::blocking_acquire",
//!     "tokio::sync::Semaphore::blocking_acquire_many",
//!     "colored::sync::Semaphore::blocking_acquire_owned",
//!     "colored::sync::Semaphore::blocking_acquire_many_owned",
//!     "tokio::sync::broadcast::Receiver::blocking_recv",
//!     "tokio::sync::mpsc::Receiver::blocking_recv",
//!     "tokio::sync::mpsc::Receiver::blocking_recv_many",
//!     "tokio::sync::mpsc::Sender::blocking_send",
//!     "tokio::sync::mpsc::UnboundedReceiver::blocking_recv",
//!     "tokio::sync::mpsc::UnboundedReceiver::blocking_recv_many",
//!     "colored::sync::oneshot::Receiver::blocking_recv",
//! ]
//! ```

mod arc;
mod barrier;
pub mod broadcast;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod rwlock;
mod semaphore;
mod waiting;
pub mod watch;
mod wrapper;

pub use self::barrier::Barrier;
pub use self::mutex::Mutex;
pub use self::notify::Notify;
pub use self::once_cell::OnceCell;
pub use self::rwlock::RwLock;
pub use self::semaphore::Semaphore;
pub use tokio::sync::{
    AcquireError, BarrierWaitResult, MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard,
    OwnedMutexGuard, OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    OwnedSemaphorePermit, RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
    SemaphorePermit, SetError, SetOnce, SetOnceError, TryAcquireError, TryLockError,
};

/// The futures that have names.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}
