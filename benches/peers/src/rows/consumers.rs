//! Consumers of the same log: the time over its bound, and the CPU time of a record.

use super::sleeps::cpu_time;
use crate::consumers::{self, Log, NAMES, Work};
use crate::setup::Setup;
use colored_benches::measure::{Case, Entry, Role, Sample, Unit};
use colored_benches::zipf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a handler sleeps.
const SLEEP: Duration = Duration::from_millis(2);

/// Handlers of records of `keys` keys sleep: a hundred handlers at a time, and the handlers of a key one after the other.
pub(super) fn sleep(setup: &Setup, keys: usize, count: u64) -> Case {
    let count = setup.count(count, 200) as usize;
    let log = Log::fill(setup.runtimes().unique(), (0..count).map(|number| number % keys));
    let bound = SLEEP * count as u32 / keys.min(100) as u32;
    let unit = Unit { text: "of the bound", per_second: 1.0 / bound.as_secs_f64() };
    case(setup, log, Work::Sleep { time: SLEEP, bound }, unit, 1, |spent, _| Sample {
        cost: spent.wall,
        wall: spent.wall,
        ops: 1,
    })
}

/// Handlers that compute 1 µs, and the keys of Zipf's law.
pub(super) fn cpu(setup: &Setup) -> Case {
    let count = setup.count(200_000, 500) as usize;
    let log = Log::fill(setup.runtimes().unique(), zipf::sequence(1_000, count).into_iter());
    let work = Work::Compute { micros: 1 };
    case(setup, log, work, Unit::us("us/record"), 3, |spent, count| Sample {
        cost: spent.cpu,
        wall: spent.wall,
        ops: count,
    })
}

struct Spent {
    wall: Duration,
    cpu: Duration,
}

fn case(
    setup: &Setup,
    log: Log,
    work: Work,
    unit: Unit,
    rounds: usize,
    figure: fn(&Spent, u64) -> Sample,
) -> Case {
    let log = Arc::new(log);
    let entry = |&name: &&'static str| {
        let mut consume = consumers::consume(setup, name, &log, work);
        let count = log.count;
        let sample = move || {
            let (start, before) = (Instant::now(), cpu_time());
            consume();
            figure(&Spent { wall: start.elapsed(), cpu: cpu_time() - before }, count)
        };
        let role = if name == NAMES[0] { Role::Subject } else { Role::Peer };
        Entry { name, role, sample: Box::new(sample) }
    };
    Case { unit, pace: setup.rounds(rounds), entries: NAMES.iter().map(entry).collect() }
}
