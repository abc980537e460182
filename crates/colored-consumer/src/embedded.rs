//! The embedded engine: a partitioned log in a directory, whose groups have their members in this process.
//!
//! It needs no server, and has the promises of [`Source`](crate::Source): it is the default engine for tests, for
//! programs of one process, and for the development of programs that use another engine later.
//!
//! ```
//! use colored_consumer::embedded::{Engine, NewRecord};
//!
//! # #[colored::main]
//! # async fn main() -> Result<(), colored_consumer::Error> {
//! # let directory = std::env::temp_dir().join(format!("colored-engine-{}", std::process::id()));
//! let engine = Engine::open(&directory).await?;
//! engine.create_topic("orders", 12).await?;
//! // On the device when this returns.
//! engine.send("orders", NewRecord::new("customer 7", "3 apples")).await?;
//! # drop(engine);
//! # std::fs::remove_dir_all(&directory).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! # What is on the device
//!
//! A folder for each partition, `topics/NAME/NUMBER`, with segments of 64 MiB; and `groups`, a log of the commits. Every
//! record has a checksum. A record is confirmed when `fdatasync` has returned; all appends of a partition that wait
//! share the next call. After a crash, what was not confirmed at the end of a segment is cut off.
//!
//! One process has the directory at a time, by a lock of the system.

mod engine;
mod folder;
mod group;
mod lock;
mod member;
mod offsets;
mod step;
mod topics;

pub use self::engine::{Damage, Engine, NewRecord, Options};
pub use self::member::{EmbeddedControl, Member, MemberOptions};
