//! NATS JetStream as the engine of a keyed consumer.
//!
//! ```no_run
//! use colored_consumer::Consumer;
//! use colored_consumer_jetstream::Engine;
//!
//! # async fn book(_: &colored_consumer::Record) -> std::io::Result<()> { Ok(()) }
//! # #[colored::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::connect("127.0.0.1:4222").await?;
//! engine.create_topic("orders", 12).await?;
//! engine.send("orders", Some(b"customer 7"), "3 apples").await?;
//!
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
//! # How a topic is a stream
//!
//! The topic `orders` is the stream `orders`. What is published to `orders.in.KEY` is stored as `orders.p.NUMBER.KEY`: the
//! server computes the partition from the key, by a subject transform. The number of partitions is fixed. A subject cannot
//! have every byte, so [`Engine::subject`] encodes the key. The offset of a record is its sequence number in the stream, so
//! the offsets of a partition have gaps.
//!
//! # How a group works
//!
//! NATS assigns no partitions. The members do, by a bucket with the name `colored-GROUP`:
//!
//! | entry | what |
//! |---|---|
//! | `member.NAME` | a member, which writes the entry again and again while it lives |
//! | `lease.TOPIC.NUMBER` | the owner of a partition, its generation, what the group has committed, and a message of the log |
//!
//! Every write names the revision that it replaces, so two members never own a partition in one generation, and the commit
//! of a member that has lost it fails. A member reads a partition by a consumer of its own that begins at a sequence number
//! and acknowledges nothing: the server never sends a record again behind a later one, and no acknowledgement can be lost.
//!
//! A stream that is made again, or brought back from an older copy, gives its sequence numbers again. The message in the lease
//! tells it from the one before. A generation is higher than the one before, and not lower than the time in milliseconds, so
//! it rises, too, if the bucket has lost the lease.
//!
//! # What JetStream does not promise
//!
//! Time decides who is dead: a member that is not heard of for its session has lost its partitions, and others take them a
//! quarter of a session later, when the server confirms that its entry is still the old one. A member whose server is slow
//! writes its entry beside whatever else it waits for, and is told when its session is over. A member that was stopped in that
//! time, or whose clock was, may have an effect before it notices. Its commits fail. The generation is for the effects.
//!
//! What is confirmed survives the death of the server's process. It survives a power cut only with `sync_interval: always`
//! or with replicas.
//!
//! # How it is built
//!
//! The client needs tokio, and gets a thread with it.
//!
//! | module | purpose |
//! |---|---|
//! | `engine` | [`Engine`] and [`MemberOptions`]: streams, and the join |
//! | `member` | [`Member`]: records and changes of the group, as events |
//! | `agent` | the task of a member that writes to the bucket |
//! | `reader` | the task that reads a partition |
//! | `table` | what the bucket says, and who is to have what; no client and no task |
//! | `log` | what a stream has of a partition, and whether it is the stream that it was |
//! | `lease`, `key` | the text of an entry, and of a key in a subject |

#![forbid(unsafe_code)]

mod agent;
mod engine;
mod key;
mod lease;
mod log;
mod member;
mod reader;
mod table;

pub use self::engine::{Engine, MemberOptions};
pub use self::member::{JetStreamControl, Member};
