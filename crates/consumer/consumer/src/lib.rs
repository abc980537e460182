//! A keyed consumer of logs: parallel by key, in order within a key, at least once.
//!
//! ```
//! use colored_consumer::Consumer;
//! use colored_consumer::embedded::{Engine, NewRecord};
//!
//! # async fn book(_: &colored_consumer::Record) -> std::io::Result<()> { Ok(()) }
//! # #[colored::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::env::temp_dir().join(format!("colored-consumer-{}", std::process::id()));
//! let engine = Engine::open(&directory).await?;
//! engine.create_topic("orders", 12).await?;
//! engine.send("orders", NewRecord::new("customer 7", "3 apples")).await?;
//!
//! let member = engine.member("booking", ["orders"]).join().await?;
//! let consumer = Consumer::builder(member).concurrency(100).start(|record, _| async move {
//!     // Under the color of the key: nothing else of customer 7 runs here. An error is tried again.
//!     book(&record).await?;
//!     Ok(())
//! })?;
//! consumer.caught_up().await; // all is done that the log has now
//! consumer.stop().await?; // finishes, commits, leaves the group
//! # drop(engine);
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! | promise | kept by |
//! |---|---|
//! | The records of a key in a partition are handled one after the other, in order, across retries too | a lane for each key, which has one run at a time |
//! | A commit never passes an unfinished record | the tracker's low-water mark |
//! | What is done above it is in the commit's metadata, at most 4,096 bytes, and does not come again | the bytes are counted before a record starts |
//! | What is read and not done is bounded: records, bytes, distance | rooms and pauses; the source is polled all the time |
//! | After a planned hand-over nothing is handled twice: handlers finish, then the map is committed, then the partition is released | the driver |
//! | A handler that outlasts the drain, or whose partition is lost, is dropped under its color before a successor on the same engine can begin, or as soon as the loss is known | aborts, which are waited for |
//! | Every handler knows its fencing token: the generation of its partition | [`Context::generation`] |
//!
//! At least once means: after a crash, records come again that were done since the last commit, and the first of a key
//! comes after nothing that it had not followed before. A store makes effects exactly once if it keeps the offset in the
//! same transaction, or refuses what it has seen.
//!
//! Sentinels check the order at each hand-over, the contiguity of each commit, and that no effect follows the end of a
//! partition. [`Metrics::violations`] counts what they find, and a line on the standard error says it.
//!
//! With the feature `diagnose`, reports of the runtime ([`colored::diagnose`](https://docs.rs/colored-rt/latest/colored/diagnose))
//! name the key that holds a partition back, and what the task of its handler waits for; `colored-top` shows the same.
//!
//! # What else there is
//!
//! | for | see |
//! |---|---|
//! | several records of a key, or of a partition, in one call | [`Builder::start_batches`] |
//! | a limit of records of a key in a time | [`Builder::rate`] |
//! | a record that is to come again at a time | [`Failure::Later`], [`Failure::RetryAfter`] |
//! | a pause by hand | [`Consumer::pause`] |
//! | another place: an offset, a time, an end | [`Consumer::seek`] |
//! | a span of time once more | [`Builder::replay`] |
//! | all is done that the log has | [`Consumer::caught_up`] |
//! | metrics, and a dashboard | [`Metrics::open_metrics`] |
//! | hot keys, before there is a handler | [`Builder::dry_run`] |
//!
//! # Colors
//!
//! A handler runs under the color of topic, partition and key ([`color_of`]), so a [`ColorCell`](colored::ColorCell) of
//! that color is state of the key without a lock. Each partition has a color of its own too, under which the consumer puts its
//! records in line and hears what became of them: so several workers do that for several partitions. What reads, commits and answers
//! the group has one color.
//!
//! # How it is built
//!
//! | module | purpose |
//! |---|---|
//! | `source` | [`Source`]: what a consumer needs of an engine |
//! | `progress` | what is done, and what a commit says; no clock and no task |
//! | `consumer` | the driver, the lanes, the rebalance |
//! | `log` | a partitioned log in a directory |
//! | [`embedded`] | the engine above it: topics, groups, members |
//! | [`conformance`] | what every source has to pass |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod conformance;
mod consumer;
pub mod embedded;
mod log;
mod progress;
#[cfg(test)]
mod scratch;
mod source;

#[doc(hidden)]
pub use self::consumer::Broken;
pub use self::consumer::{
    Builder, Cause, Consumer, ConsumerError, Context, DeadLetter, Failure, FirstUnfinished,
    KeySurvey, Metrics, Order, PartitionMetrics, PartitionSurvey, Place, Reset, Survey, color_of,
};
pub use self::source::{
    Assignment, Commit, CommitError, Committed, Control, Error, Event, Extent, Owned, Record, Room,
    Source, TopicPartition,
};
