//! A consumer of a log of keyed messages, as of a message broker. It handles the messages of one key in order, those of
//! different keys at the same time, and has at most as many in flight as its `Limit` admits. The color is the key, so
//! the program has no lock and no queue for each key.
//!
//! Beside it are the same consumer with a mutex for each key, which excludes but does not order, and with one color for
//! all keys, which handles one message at a time. The three differ in `Way::spawn`, by a line each.
//!
//! Delivery is at least once: the consumer commits the place in the log before which all messages are handled, and the
//! next consumer begins there. At the end the program stops a consumer half way, and shows what the next one does.
//!
//! It ends by itself after some seconds.
//!
//! ```text
//! cargo run --release --example keyed-consumer
//! cargo run --release --example keyed-consumer -- --messages 500 --keys 20 --in-flight 16
//! ```

mod consumer;
mod log;
mod store;

use self::consumer::{Consumer, Way};
use self::log::Log;
use self::store::Store;
use colored::Runtime;
use colored_examples::{Args, Failure};
use std::sync::Arc;
use std::time::Instant;

/// How often the two fast ways are tried. The best time counts: other programs only lengthen it.
const ROUNDS: usize = 5;

const USAGE: &str = "keyed-consumer [--messages N] [--keys N] [--in-flight N]";

#[derive(Clone, Copy)]
struct Plan {
    messages: usize,
    keys: usize,
    in_flight: usize,
}

struct Run {
    /// In messages a second.
    rate: f64,
    most_in_flight: usize,
    most_at_once: usize,
    disorder: usize,
}

fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let plan = Plan {
        messages: args.number("--messages", 1..=10_000_000)?.unwrap_or(2_000),
        keys: args.number("--keys", 1..=1_000_000)?.unwrap_or(200),
        in_flight: args.number("--in-flight", 1..=100_000)?.unwrap_or(64),
    };
    args.end()?;
    let Plan { messages, keys, in_flight } = plan;
    println!("{messages} messages with {keys} keys, at most {in_flight} in flight");

    let one = plan.fastest(1, "one at a time", Way::OneColor)?;
    let mutex = plan.fastest(ROUNDS, "mutex per key", Way::mutexes(keys))?;
    let color = plan.fastest(ROUNDS, "color per key", Way::ColorPerKey)?;
    println!(
        "color per key: {:.1} times as fast as one at a time, {:.2} times as fast as mutex per key",
        color / one,
        color / mutex
    );
    plan.stop_and_go_on()
}

impl Plan {
    fn consumer(self, way: Way) -> Consumer {
        let log = Arc::new(Log::new(self.messages, self.keys));
        Consumer { log, store: Arc::new(Store::new(self.keys)), way, in_flight: self.in_flight }
    }

    /// The messages a second of the fastest of some runs, which it prints.
    fn fastest(self, rounds: usize, name: &str, way: Way) -> Result<f64, Failure> {
        let mut fastest = self.run(&way)?;
        for _ in 1..rounds {
            let run = self.run(&way)?;
            fastest = if run.rate > fastest.rate { run } else { fastest };
        }
        let Run { rate, most_in_flight, most_at_once, disorder } = fastest;
        println!(
            "{name}: {rate:.0} messages/s; at most {most_in_flight} in flight, {most_at_once} handled at a time; \
             {disorder} out of order"
        );
        Ok(rate)
    }

    /// Handles the whole log in this way.
    fn run(self, way: &Way) -> Result<Run, Failure> {
        let consumer = self.consumer(way.clone());
        let (log, store) = (Arc::clone(&consumer.log), Arc::clone(&consumer.store));
        let start = Instant::now();
        let most_in_flight = Runtime::new()?.run(consumer.consume(self.messages))?;
        let rate = self.messages as f64 / start.elapsed().as_secs_f64();

        let counts = store.counts();
        let disorder = counts.early + counts.again;
        if log.committed() != self.messages {
            return Err(Failure::new(format!("{} are committed", log.committed())));
        }
        if disorder > 0 && !matches!(way, Way::MutexPerKey(_)) {
            return Err(Failure::new(format!("{disorder} messages came out of order")));
        }
        Ok(Run { rate, most_in_flight, most_at_once: counts.most_at_once, disorder })
    }

    /// Stops half way without waiting for anything, as a crash does, and begins again.
    fn stop_and_go_on(self) -> Result<(), Failure> {
        let (first, half) = (self.consumer(Way::ColorPerKey), self.messages / 2);
        let (log, store) = (Arc::clone(&first.log), Arc::clone(&first.store));
        // The end of the runtime drops what is in flight.
        Runtime::new()?.run(first.clone().consume(half))?;
        let committed = log.committed();
        Runtime::new()?.run(first.consume(self.messages))?;

        let counts = store.counts();
        println!(
            "stopped after {half} messages with {committed} committed: {} came again, and {} of {} are stored",
            counts.again, counts.stored, self.messages
        );
        if counts.stored != self.messages || counts.early > 0 {
            return Err(Failure::new("messages were lost, or stored twice or out of order"));
        }
        Ok(())
    }
}
