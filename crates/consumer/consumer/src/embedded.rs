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
//! A folder for each partition, `topics/NAME/NUMBER`, with segments of 64 MiB; and `groups`, a log of the commits. The name of
//! a topic's folder is its own in lower case, and an encoding of it otherwise, so that no two topics share one on a file system
//! that ignores case. Every record has a checksum. A record is confirmed when `fdatasync` has returned; all appends of a
//! partition that wait share the next call. At most 64 segments are open at a time ([`Options::open_files`]).
//!
//! A directory that was written before format 2 is refused by an error that says so.
//!
//! # What is in memory
//!
//! Short records that are read one after the other share an allocation of 960 bytes: a handler that keeps the key or the value of one
//! keeps up to 960 bytes. [`Bytes::copy_from_slice`](bytes::Bytes::copy_from_slice) makes a copy that keeps no more than itself; a
//! clone keeps what its original keeps.
//!
//! # What is cut off, and what is damage
//!
//! A write that a crash has interrupted was never confirmed, and is cut off at the next opening
//! ([`Engine::cut_bytes`]). Each write says that all before it was confirmed, and with `sync` a mark says the same behind the
//! last one. So whatever cannot be read, with something behind it that says that it was confirmed, is damage: a bad bit, a
//! hole, a missing segment. Nothing is changed then, and an error names file, place and offset, and what else can be read:
//! the engine does not open if the damage is in `groups` or in the segment of a partition that is written to; elsewhere the
//! partition is not read beyond that place, and the others go on. [`Damage::Skip`] opens and reads what is left.
//!
//! With `sync(false)` a power failure may leave a file that has its length and not its end: zeros from some place on. They are cut
//! off, too, also where a commit says that records were there; with `sync(true)` such zeros are damage.
//!
//! A log that is shorter than a commit says it was has lost its end: with `sync(false)` by a power failure, or by a copy of the
//! topics that is older than the commits. It goes on at the offset that it had reached, so no new record has the offset of a lost
//! one. A group that was there has missed nothing: its place is kept, it skips and repeats nothing, and
//! [`Reset`](crate::Reset) has nothing to decide. A group that was behind has missed the lost records, as if retention had deleted
//! them: [`Reset::Fail`](crate::Reset::Fail) ends its consumer when it comes there, and the others go on behind the gap, which
//! [`Metrics::resets`](crate::Metrics) counts. A line on the standard error and [`Engine::lost`] name the offsets. With
//! [`Damage::Skip`] no consumer ends for what is lost. A topic whose files were all deleted is another log
//! ([`Extent::identity`](crate::Extent::identity)), and begins where the commits say that it had ended.
//!
//! The generation of a group never falls, also if commits are damaged, deleted, or taken from an older copy, or the whole directory
//! is made anew: at each opening it is at least the time in microseconds since 1970.
//!
//! What cannot be told:
//!
//! * A bad bit in the last write of a partition, if there is no mark behind it: with `sync(false)`; or if the process was killed
//!   before it wrote the mark, which is when nothing waits to be written, or if a power failure came before the system wrote
//!   it. A commit made after that write tells, too.
//! * Whole writes that are missing at the end of a log, of which no commit says that they were there. Their offsets are given
//!   again.
//! * The last commits of `groups`, missing likewise: their records come again.
//! * A first segment that somebody has deleted: it looks like retention.
//! * Generations, if the commits are lost and the clock was set back.
//!
//! One process has the directory at a time, by a lock of the system.

mod control;
mod engine;
mod folder;
mod group;
mod lock;
mod member;
mod offsets;
mod options;
mod step;
mod topics;

pub use self::control::EmbeddedControl;
pub use self::engine::{Engine, NewRecord};
pub use self::member::{Member, MemberOptions};
pub use self::options::{Damage, Options};
