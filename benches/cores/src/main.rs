//! The scheduler on 1 to 128 cores, in virtual time: where does it stop scaling?
//!
//! ```text
//! cargo run --release -p colored-cores --bin costs        what operations cost on this machine
//! cargo run --release -p colored-cores --bin cores        the loads on this machine's cores
//! RUSTFLAGS="--cfg colored_watched" CARGO_TARGET_DIR=target/watched \
//!     cargo run --release -p colored-cores --bin cores    the loads on virtual cores
//! ```
//!
//! Arguments: texts that the names of loads contain; `--counts=1,128` cores; `--line=50` nanoseconds for a line that comes
//! from another core; `--ops=300` operations a core; `--places` shows where the time went.

mod costs;
mod load;
mod machine;

use self::costs::{Costs, MEASURED};
use self::load::{Outside, Pairs, Requests, Storm, Zipf};
use self::machine::{Load, Outcome, Size, run};

/// A load by name, and operations of a core.
struct Named {
    name: &'static str,
    make: fn(&Size) -> Box<dyn Load>,
    /// The most workers that it can use.
    bound: fn() -> f64,
    is_simulated: bool,
}

fn no_bound() -> f64 {
    f64::INFINITY
}

const LOADS: [Named; 6] = [
    Named {
        name: "storm",
        make: |size| Box::new(Storm { workers: size.workers, ops: size.ops, nanos: 1_000 }),
        bound: no_bound,
        is_simulated: false,
    },
    Named {
        name: "empty storm",
        make: |size| Box::new(Storm { workers: size.workers, ops: size.ops, nanos: 0 }),
        bound: no_bound,
        is_simulated: false,
    },
    Named {
        name: "outside",
        make: |size| Box::new(Outside { workers: size.workers, ops: size.ops, nanos: 5_000 }),
        bound: no_bound,
        is_simulated: false,
    },
    Named {
        name: "zipf",
        make: |size| Box::new(Zipf { workers: size.workers, ops: size.ops, nanos: 1_000 }),
        bound: Zipf::most_at_once,
        is_simulated: false,
    },
    Named {
        name: "pairs",
        make: |size| Box::new(Pairs { workers: size.workers, ops: size.ops, nanos: 100 }),
        bound: no_bound,
        is_simulated: false,
    },
    Named {
        name: "requests",
        make: |size| Box::new(Requests::new(size.workers, size.ops, 5_000, size.costs)),
        bound: no_bound,
        is_simulated: true,
    },
];

/// What the arguments say.
struct Plan {
    names: Vec<String>,
    counts: Vec<usize>,
    ops: u64,
    costs: Costs,
    places: bool,
}

fn plan(arguments: impl Iterator<Item = String>) -> Plan {
    let simulated = cfg!(colored_watched);
    let counts = if simulated { vec![1, 2, 4, 8, 16, 32, 64, 128] } else { vec![1, 2] };
    let ops = if simulated { 300 } else { 300_000 };
    let mut plan = Plan { names: Vec::new(), counts, ops, costs: MEASURED, places: false };
    for argument in arguments {
        let number = |text: &str| -> u64 { text.parse().expect("a number") };
        match argument.split_once('=') {
            Some(("--counts", value)) => {
                plan.counts = value.split(',').map(|count| number(count) as usize).collect();
            }
            Some(("--line", value)) => plan.costs.line = number(value) * 1_000,
            Some(("--ops", value)) => plan.ops = number(value),
            None if argument == "--places" => plan.places = true,
            _ => plan.names.push(argument),
        }
    }
    plan
}

fn main() {
    let plan = plan(std::env::args().skip(1));
    let wanted = |named: &&Named| {
        let by_name = plan.names.is_empty() || plan.names.iter().any(|name| named.name == name);
        by_name && (cfg!(colored_watched) || !named.is_simulated)
    };
    for named in LOADS.iter().filter(wanted) {
        let mut first = None;
        for &workers in &plan.counts {
            let size = Size { workers, ops: plan.ops * workers as u64, costs: plan.costs };
            let outcome = run(size, &*(named.make)(&size));
            let first = *first.get_or_insert(outcome.nanos);
            let gain = first / outcome.nanos;
            let efficiency = gain / (workers as f64).min((named.bound)());
            println!(
                "{:<12} {workers:>4} workers {:>9.1} ns/op, gain {gain:>6.2}, efficiency {efficiency:.2}{}",
                named.name,
                outcome.nanos,
                shares(&outcome, plan.places)
            );
        }
    }
}

/// The shares of the cores' time.
fn shares(outcome: &Outcome, all: bool) -> String {
    let share = |picos: u64| 100.0 * picos as f64 / outcome.total as f64;
    let mut places: Vec<_> = outcome.places.iter().collect();
    places.sort_by_key(|(_, spent)| std::cmp::Reverse(spent.all()));
    let waits: u64 = places.iter().map(|(_, spent)| spent.all()).sum();
    let mut text =
        format!("; asleep {:.0} %, lines and locks {:.0} %", share(outcome.asleep), share(waits));
    for (place, spent) in places.into_iter().take(if all { 12 } else { 3 }) {
        let place = place.rsplit("src/").next().unwrap_or(place);
        if all {
            let rows = [spent.moving, spent.queued, spent.locked].map(share);
            text += &format!(
                "\n      {place:<28} {:>6} moves, moving {:.1} %, queued {:.1} %, locked {:.1} %",
                spent.moves, rows[0], rows[1], rows[2]
            );
        } else {
            text += &format!(", {place} {:.0} %", share(spent.all()));
        }
    }
    text
}
