//! A key-value store: Zipf keys, 5 % writes, one key or four at a time; and one hot cell.

mod hot;
mod ways;

use super::{Goal, Plan, Report};
use colored_benches::chart::number;
use colored_benches::measure::{Entry, Outcome};
use colored_benches::random::Random;
use colored_benches::rivals::Runtimes;
use colored_benches::zipf;
use std::time::Duration;

/// The number of keys, as in verona-rt's bench.
const KEYS: usize = 1_000;
/// Zipf's exponent, as in verona-rt's bench.
const EXPONENT: f64 = 0.99;
/// One operation in twenty writes, as in verona-rt's bench.
const WRITE_EVERY: usize = 20;

/// An operation: up to four keys, all different and in rising order, and whether it writes them.
#[derive(Clone, Copy)]
struct Operation<const N: usize> {
    keys: [usize; N],
    write: bool,
}

/// Operations with N keys each, the same in every run.
fn operations<const N: usize>(count: usize) -> &'static [Operation<N>] {
    let mut keys = zipf::with_exponent(KEYS, count * N * 4, EXPONENT).into_iter().cycle();
    let mut random = Random::new(3);
    let mut operation = || {
        let mut chosen = [usize::MAX; N];
        for index in 0..N {
            // The rivals lock in the order of rising keys; a key that occurs twice would deadlock
            // them.
            let fresh = keys.find(|key| !chosen[..index].contains(key));
            chosen[index] = fresh.expect("there are more keys than that");
        }
        chosen.sort_unstable();
        Operation { keys: chosen, write: random.below(WRITE_EVERY) == 0 }
    };
    Vec::leak((0..count).map(|_| operation()).collect())
}

/// Runs the store, then the hot cell.
///
/// # Panics
///
/// If a write is lost.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let on = Runtimes::start();
    let count = plan.pick(50_000, 10_000, 1_000);
    let time = Duration::from_secs(8);
    let one = operations::<1>(count);
    let singles = plan.alternate(
        time,
        vec![
            Entry::subject(ways::read_one(on, one)),
            Entry::peer(NAMES[1], ways::exclusive_one(on, one)),
            Entry::peer(NAMES[2], ways::tokio_locks(on.tokio(), one)),
            Entry::peer(NAMES[3], ways::std_locks(on.tokio(), one)),
        ],
    );
    let four = operations::<4>(count);
    let fours = plan.alternate(
        time,
        vec![
            Entry::subject(ways::read_four(on, four)),
            Entry::peer(NAMES[1], ways::exclusive_four(on, four)),
            Entry::peer(NAMES[2], ways::tokio_locks(on.tokio(), four)),
            Entry::peer(NAMES[3], ways::std_locks(on.tokio(), four)),
        ],
    );
    let mut rows = vec![vec![
        String::from("verona-rt, 10 cores of another machine"),
        String::from("3.05"),
        String::from("4.21"),
    ]];
    rows.extend(NAMES.iter().zip(singles.iter().zip(&fours)).map(|(name, (one, four))| {
        vec![(*name).to_owned(), number(one.rate / 1e6), number(four.rate / 1e6)]
    }));
    ratios(&mut report, "kv_get_1", "1 key", &singles);
    ratios(&mut report, "kv_get_4", "4 keys", &fours);
    report.text("Millions of operations a second, 64 clients in closed loops:");
    report.table(&["", "1 key", "4 keys"], &rows);
    hot::run(plan, on, &mut report);
    report
}

const NAMES: [&str; 4] = [
    "colored, shared reading",
    "colored, exclusive",
    "tokio, RwLock a key",
    "tokio, std RwLock a key",
];

fn ratios(report: &mut Report, name: &str, keys: &str, outcomes: &[Outcome]) {
    let ours = outcomes[0].cost * 1e9;
    for (peer, short) in outcomes[1..].iter().zip(["exclusive", "tokio_rwlock", "std_rwlock"]) {
        let peer = peer.cost * 1e9;
        report.ratio(&format!("{name}_vs_{short}"), ours, short, peer, "ns/op");
        let over = match short {
            "exclusive" => "exclusive access",
            "tokio_rwlock" => "tokio's RwLock",
            // It blocks the worker, so it gives another guarantee.
            _ => continue,
        };
        let what = format!("the store, {keys}: an operation by shared reading over one by {over}");
        report.goal(&what, ours / peer, Goal::AtMost(1.0));
    }
}
