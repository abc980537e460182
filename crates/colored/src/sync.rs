//! Channels, locks and signals between tasks: tokio's, which need no runtime.
//!
//! They work under every color and between colors. They do not use our cooperative budget: a loop over
//! a channel that is never empty returns from its poll only if it calls
//! [`consume_budget`](crate::task::consume_budget) now and then.
//!
//! State of one color needs no lock: see [`ColorCell`](crate::ColorCell).
//!
//! # Methods that block
//!
//! These types have methods for threads outside of any runtime. Their names begin with `blocking_`, and
//! they block the calling thread. tokio panics where such a method is called inside a task of its own
//! runtime. **tokio does not recognize our tasks: inside a task these methods block the worker and its
//! color**, for ever if they wait for work of the same color. Other colors, timers and sockets go on:
//! on other workers, or after some milliseconds on a spare thread, while there is one
//! ([`Builder::spare_workers`](crate::Builder::spare_workers)). After a second, a line on the standard error names the
//! task and the place of its spawn, or before by [`Builder::on_long_poll`](crate::Builder::on_long_poll). Await the method of the same name without
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
//! These are tokio's own types and not wrappers, so that they fit the types of other crates. So no code
//! of ours runs in these methods, and the runtime cannot report a call. Clippy reports each call if the
//! `clippy.toml` of the program has the following list; `#[expect(clippy::disallowed_methods)]` permits
//! a correct call:
//!
//! ```toml
//! disallowed-methods = [
//!     "tokio::sync::Mutex::blocking_lock",
//!     "tokio::sync::Mutex::blocking_lock_owned",
//!     "tokio::sync::RwLock::blocking_read",
//!     "tokio::sync::RwLock::blocking_write",
//!     "tokio::sync::Semaphore::blocking_acquire",
//!     "tokio::sync::Semaphore::blocking_acquire_many",
//!     "tokio::sync::Semaphore::blocking_acquire_owned",
//!     "tokio::sync::Semaphore::blocking_acquire_many_owned",
//!     "tokio::sync::broadcast::Receiver::blocking_recv",
//!     "tokio::sync::mpsc::Receiver::blocking_recv",
//!     "tokio::sync::mpsc::Receiver::blocking_recv_many",
//!     "tokio::sync::mpsc::Sender::blocking_send",
//!     "tokio::sync::mpsc::UnboundedReceiver::blocking_recv",
//!     "tokio::sync::mpsc::UnboundedReceiver::blocking_recv_many",
//!     "tokio::sync::oneshot::Receiver::blocking_recv",
//!     # Wants tokio's clock, and is there only if some crate enables it.
//!     { path = "tokio::sync::mpsc::Sender::send_timeout", allow-invalid = true },
//! ]
//! ```
//!
//! # Methods that need tokio's clock
//!
//! If some crate of the program enables tokio's feature `time`, `mpsc::Sender` has a method
//! `send_timeout`. The method uses the clock of a tokio runtime, and panics without one. A
//! [`timeout`](crate::time::timeout) around `reserve` does the same and keeps the value:
//!
//! ```
//! use colored::{sync::mpsc, time::{Duration, timeout}};
//!
//! # #[colored::main(workers = 1)]
//! # async fn main() {
//! let (sender, mut receiver) = mpsc::channel(1);
//! sender.send(String::from("first")).await.unwrap();
//! let second = String::from("second");
//! let room = timeout(Duration::from_millis(1), sender.reserve()).await;
//! assert!(room.is_err(), "there is none");
//! assert_eq!(receiver.recv().await.unwrap(), "first");
//! let room = timeout(Duration::from_millis(1), sender.reserve()).await.unwrap();
//! room.unwrap().send(second);
//! assert_eq!(receiver.recv().await.unwrap(), "second");
//! # }
//! ```

pub use tokio::sync::{
    AcquireError, Barrier, BarrierWaitResult, MappedMutexGuard, Mutex, MutexGuard, Notify,
    OnceCell, OwnedMappedMutexGuard, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    OwnedSemaphorePermit, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit,
    SetError, SetOnce, TryAcquireError, TryLockError, broadcast, mpsc, oneshot, watch,
};
