//! Admission to a color: [`Limit`] limits what one color is given.
//!
//! Colors take whatever is spawned under them, and a color that is given more than it can do grows
//! without limit. A [`Limit`] stands in front of one: who comes through it waits for room, or, by a
//! `try_` function, learns that there is none and sheds. What does not come in is given back:
//! nothing is lost.
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
//! To limit how long admitted work waits, rather than how much there is of it, see
//! [`admission`](crate::admission).

#[doc(inline)]
pub use colored_core::{
    Closed, Limit, LimitedCell, Permit, Post, Reserve, RoomError, Spawn, TrySendError,
    TrySpawnError, TryWait,
};
