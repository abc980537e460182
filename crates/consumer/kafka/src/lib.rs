//! Kafka as the engine of a keyed consumer.
//!
//! ```no_run
//! use colored_consumer::Consumer;
//! use colored_consumer_kafka::Engine;
//!
//! # async fn book(_: &colored_consumer::Record) -> std::io::Result<()> { Ok(()) }
//! # #[colored::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new("127.0.0.1:9092");
//! let member = engine.member("booking", ["orders"]).join().await?;
//! let consumer = Consumer::builder(member).start(|record, _| async move {
//!     book(&record).await?;
//!     Ok(())
//! })?;
//! consumer.wait().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # How a member uses Kafka
//!
//! * The client is librdkafka. Its queue of events, and a queue for each partition, are polled by the task that polls the
//!   member. Of a partition at its bounds nothing is taken, and the client fetches nothing of a partition while its queue has
//!   more than two records. A pause would throw away what was fetched: the client hears of one only when the consumer has
//!   wanted nothing of the partition for a third of the session.
//! * The group has the classic protocol with the assignor `cooperative-sticky`: a rebalance revokes only the partitions
//!   that move. `group.protocol=consumer` may be set. Assignors that revoke everything are refused.
//! * A revoked partition stays with the member until it is released, as long as the member is polled. The client reads
//!   nothing from the member's other partitions in that time; their records that were read before go on.
//! * Calls that wait for the broker run on a blocking thread, one at a time: commits, the end of a hand-over, and the
//!   look-up of what was committed. So a commit never comes after a later one, or after a hand-over.
//! * The generation of a partition is the time at which it was assigned, in milliseconds, by the clock of its member, and
//!   below it the low bits of the group's generation. That one alone falls: it begins near 1 again when a group is deleted or
//!   expires, or changes its protocol while it has no members. So the clocks of two owners must differ by less than the time
//!   that the first one has had the partition.
//! * A commit says where the client goes on when nothing is in flight: that passes the markers of transactions.
//! * What lies before the last stable offset can be read, and `lag` ends there. A group may stand up to the high watermark.
//! * Every 3 s a member looks whether its topics are still the same, by their ids: the client goes on at the old offset in a
//!   topic that was made again.
//!
//! # What Kafka does not promise
//!
//! A commit is refused if the member is no longer in the group. Whether it still owns the partition only the client
//! knows, which learns it when it is polled. If a whole group has gone, Kafka takes commits from anybody.
//!
//! # How it is built
//!
//! | module | purpose |
//! |---|---|
//! | `engine` | [`Engine`] and [`MemberOptions`]: the configuration, and the join |
//! | `member` | [`Member`]: records and changes of the group, as events |
//! | `reader` | the records of a partition that were fetched and not returned yet |
//! | `ownership` | which partitions the member owns; no client and no task |
//! | `calls` | [`KafkaControl`], and the calls that wait, one at a time |
//! | `lookups` | what the brokers know of partitions |
//! | `token` | the fencing token |
//! | `context` | what the client calls when the group changes |
//! | `sys` | what the safe interface of the client lacks |

#![deny(unsafe_code)]

mod calls;
mod context;
mod engine;
mod lookups;
mod member;
mod ownership;
mod reader;
#[expect(unsafe_code, reason = "it calls the C library")]
mod sys;
mod token;

pub use self::calls::KafkaControl;
pub use self::engine::{Engine, MemberOptions};
pub use self::member::Member;
