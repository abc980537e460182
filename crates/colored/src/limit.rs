//! Limits on the work of a color: [`Limit`], [`LimitedCell`], and the [`Permit`] to add one item.
//!
//! A color accepts everything that is spawned under it, and the queue of an overloaded color grows
//! without limit. A [`Limit`] in front of a color admits a number of items at a time: further
//! senders wait for room, and a `try_` function returns an error if there is none. A refused item
//! is given back to its sender, so nothing is lost.
//!
//! ```
//! use colored::limit::TrySendError;
//! use colored::{Color, Limit};
//!
//! # #[colored::main(workers = 2)]
//! # async fn main() {
//! let disk = Limit::new(Color::named("disk"), 64);
//!
//! // Waits while 64 tasks are queued or under way.
//! let read = disk.spawn(async { "a block" }).await.unwrap();
//! assert_eq!(read.await.unwrap(), "a block");
//!
//! // State behind the same limit.
//! let log = disk.cell(Vec::new());
//! log.call(|log| log.push("read")).await.unwrap();
//! match log.try_post(|log| log.push("again")) {
//!     Ok(()) => {}
//!     Err(TrySendError::Full(_entry)) => println!("too busy to log"),
//!     Err(TrySendError::Closed(_entry)) => println!("it is over"),
//! }
//!
//! disk.close();
//! assert!(disk.spawn(async {}).await.is_err());
//! # }
//! ```
//!
//! To limit how long work waits, in place of how much work there is, see
//! `admission` (feature `stage`).

#[doc(inline)]
pub use colored_limit::{
    Closed, Limit, LimitedCell, Permit, Post, Reserve, RoomError, Spawn, TrySendError,
    TrySpawnError, TryWait,
};
