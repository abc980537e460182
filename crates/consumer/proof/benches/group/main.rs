//! Rows of groups on engines with a server: `cargo bench -p colored-engines-proof --bench group [-- ROW ..]`, after
//! `fetch-servers peers`. With the word `quick`, `rate` has few records and one round.
//!
//! | row | what |
//! |---|---|
//! | `lag` | 10,000 records a second: the time from the confirmation of a record to the commit that covers it |
//! | `memory` | a process that holds 100,000 records in flight, and then has a million keys pass; by handlers at a time |
//! | `rebalance` | 2,500 records a second: for how long a partition stands when a second member joins, and when it leaves; beside a bare cooperative client, and Parallel Consumer |
//! | `java` | the last part of `rebalance` |
//! | `kill` | the time from the kill of a member to the first record of a partition that it had, beyond its session; and from the start of a static member that was killed to its first record |
//! | `rate` | records a second on JetStream, with a handler of 1 µs and 1,000 Zipf keys, beside a bare pull consumer |

#[allow(dead_code, reason = "the proof uses the rest")]
#[path = "../../../consumer/tests/proof/process.rs"]
mod process;

#[path = "../../../consumer/benches/consumer/hold.rs"]
mod hold;
mod kill;
mod lag;
mod memory;
mod rate;
mod rebalance;
mod side;

use colored::Runtime;
use colored_engines_proof::kafka::Kafka;
use colored_engines_proof::nats::Nats;
use side::{JetStream, OnKafka};
use std::sync::Arc;

fn main() {
    let mut words: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.first().is_some_and(|word| word == memory::CHILD) {
        return memory::measure(&words[1..]);
    }
    let (Some(kafka), Some(nats)) = (Kafka::start(), Nats::start()) else { return };
    let kafka = Arc::new(kafka);
    let is_quick = words.iter().any(|word| word == "quick");
    words.retain(|word| word != "quick");
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    runtime.block_on(async {
        if is_wanted("lag") {
            lag::lag(&OnKafka::new(&kafka, "lag")).await;
            lag::lag(&JetStream::new(&nats, "lag").await).await;
        }
        if is_wanted("memory") {
            memory::memory(&OnKafka::new(&kafka, "memory")).await;
            memory::memory(&JetStream::new(&nats, "memory").await).await;
        }
        if is_wanted("rebalance") {
            rebalance::of_ours(&OnKafka::new(&kafka, "rebalance")).await;
            rebalance::of_ours(&JetStream::new(&nats, "rebalance").await).await;
            rebalance::of_a_bare_client(&OnKafka::new(&kafka, "bare")).await;
        }
        if is_wanted("rebalance") || is_wanted("java") {
            rebalance::of_parallel_consumer(&OnKafka::new(&kafka, "java")).await;
        }
        if is_wanted("kill") {
            kill::kill(&OnKafka::new(&kafka, "kill")).await;
            kill::kill(&JetStream::new(&nats, "kill").await).await;
        }
        if is_wanted("rate") {
            rate::rate(&nats, is_quick).await;
        }
    });
}
