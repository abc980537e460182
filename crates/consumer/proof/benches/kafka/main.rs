//! Rows of a consumer on Kafka: `cargo bench -p colored-engines-proof [-- ROW ..]`, after `fetch-servers peers`. With the
//! word `quick`, few records and one round.
//!
//! | row | what |
//! |---|---|
//! | `cpu` | CPU time of a record with a handler of 1 µs and 1,000 Zipf keys; the floor is a bare stream of `rdkafka`, whose loop computes as long |
//! | `sleep` | 10,000 records of 10,000 and 100 keys, and 2,000 of one, whose handler sleeps 2 ms, 100 at a time: from the first record to the last, over the bound |
//! | `compute` | 50,000 records of 10,000 keys whose handler computes 20 µs: two workers over one |
//!
//! Beside the first two: Parallel Consumer, if it is there and there is a Java, and what is written by hand.

mod by_hand;
mod contestants;
mod measure;

use colored::time::Duration;
use colored_engines_proof::kafka::Kafka;
use contestants::{AT_ONCE, PARTITIONS, bare, ours, ours_by_default, parallel_consumer};
use measure::{Took, Work, median};

/// Makes a topic with records of 100 bytes with these keys.
fn fill(kafka: &Kafka, topic: &str, keys: impl Iterator<Item = usize>) {
    kafka.create_topic(topic, PARTITIONS);
    let record = |key| (Some(format!("k{key}")), "v".repeat(100), None);
    kafka.send(topic, &keys.map(record).collect::<Vec<_>>());
}

/// Keys by Zipf's law.
fn zipf(count: u64, keys: usize) -> impl Iterator<Item = usize> {
    let mut sums = Vec::new();
    for rank in 1..=keys {
        sums.push(sums.last().unwrap_or(&0.0) + 1.0 / rank as f64);
    }
    let mut chance = fastrand::Rng::with_seed(1);
    (0..count).map(move |_| {
        let at = chance.f64() * sums[keys - 1];
        sums.partition_point(|sum| *sum < at).min(keys - 1)
    })
}

/// Everybody who handles a topic, by name.
const NAMES: [&str; 6] =
    ["colored", "colored by default", "partitions", "queues", "actors", "Parallel Consumer"];

/// What each of them takes, round after round: `None` for who is not there.
fn measure(
    kafka: &Kafka,
    (topic, count, work): (&str, u64, Work),
    rounds: usize,
) -> Vec<(&'static str, Option<Vec<Took>>)> {
    let mut all: Vec<_> = NAMES.map(|name| (name, Some(Vec::new()))).into();
    for round in 0..rounds {
        for at in 0..NAMES.len() {
            let (name, tooks) = &mut all[(round + at) % NAMES.len()];
            let took = match *name {
                "colored" => Some(ours(kafka, topic, count, work, 2)),
                "colored by default" => Some(ours_by_default(kafka, topic, count, work)),
                // A Java takes long to start.
                "Parallel Consumer" if round > 2 => continue,
                "Parallel Consumer" => parallel_consumer(kafka, topic, count, work),
                by_hand => Some(by_hand::handle(kafka, by_hand, topic, count, work)),
            };
            match took {
                Some(took) => tooks.get_or_insert_default().push(took),
                None => *tooks = None,
            }
        }
    }
    all
}

fn cpu_row(kafka: &Kafka, is_quick: bool) {
    let (count, rounds) = if is_quick { (30_000, 1) } else { (300_000, 5) };
    let work = Work { sleep: Duration::ZERO, compute: Duration::from_micros(1) };
    fill(kafka, "cpu", zipf(count, 1_000));
    let each = |of: &Took| of.cpu.as_secs_f64() * 1e6 / count as f64;
    let floor = (0..rounds).map(|_| each(&bare(kafka, "cpu", count, work)));
    let floor = median(floor);
    println!("cpu: bare stream {floor:.2} us of a record");
    for (name, tooks) in measure(kafka, ("cpu", count, work), rounds) {
        let Some(tooks) = tooks else { continue };
        let (each, rate) = (
            median(tooks.iter().map(each)),
            median(tooks.iter().map(|took| count as f64 / took.time.as_secs_f64())),
        );
        println!(
            "cpu: {name} {each:.2} us, {:.2} of the stream; {rate:.0} records/s",
            each / floor
        );
    }
}

fn sleep_rows(kafka: &Kafka, is_quick: bool) {
    let work = Work { sleep: Duration::from_millis(2), compute: Duration::ZERO };
    for (topic, keys, count) in
        [("keys-10000", 10_000, 10_000), ("keys-100", 100, 10_000), ("keys-1", 1, 2_000)]
    {
        let count = if is_quick { count / 10 } else { count };
        fill(kafka, topic, (0..count as usize).map(|number| number % keys));
        // The records of a key one after the other.
        let bound = 2e-3 * count as f64 / keys.min(AT_ONCE) as f64;
        let rounds = if is_quick || keys == 1 { 1 } else { 5 };
        for (name, tooks) in measure(kafka, (topic, count, work), rounds) {
            let Some(tooks) = tooks else { continue };
            let time = median(tooks.iter().map(|took| took.time.as_secs_f64()));
            println!("sleep, {keys} keys: {name} {time:.3} s, {:.3} of the bound", time / bound);
        }
    }
}

fn compute_row(kafka: &Kafka, is_quick: bool) {
    let (count, rounds) = if is_quick { (5_000, 1) } else { (50_000, 5) };
    let work = Work { sleep: Duration::ZERO, compute: Duration::from_micros(20) };
    fill(kafka, "compute", (0..count as usize).map(|number| number % 10_000));
    let ratios = (0..rounds).map(|_| {
        let [one, two] =
            [1, 2].map(|workers| ours(kafka, "compute", count, work, workers).time.as_secs_f64());
        one / two
    });
    println!("compute: two workers over one {:.2}", median(ratios));
}

fn main() {
    let Some(kafka) = Kafka::start() else { return };
    let mut words: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_quick = words.iter().any(|word| word == "quick");
    words.retain(|word| word != "quick");
    let is_wanted = |name| words.is_empty() || words.iter().any(|word| word == name);
    if is_wanted("cpu") {
        cpu_row(&kafka, is_quick);
    }
    if is_wanted("sleep") {
        sleep_rows(&kafka, is_quick);
    }
    if is_wanted("compute") {
        compute_row(&kafka, is_quick);
    }
}
