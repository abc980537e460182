//! How many seeds each strategy needs until it finds a bug.

use super::{FAMILIES, Kernel};
use colored::sim::{Builder, Strategy};

const STRATEGIES: [(&str, Strategy); 5] = [
    ("random", Strategy::Random),
    ("pct 2", Strategy::Pct { depth: 2 }),
    ("pct 3", Strategy::Pct { depth: 3 }),
    ("starve", Strategy::Starve),
    ("portfolio", Strategy::Portfolio),
];

/// So many searches of a thousand seeds each.
const SEARCHES: u64 = 9;

/// What the searches of one strategy have found in one kernel.
struct Found {
    /// By search, the seeds that it took, or `None` if it found nothing.
    seeds: Vec<Option<u64>>,
    /// By failure, the choices that were left.
    choices: Vec<usize>,
}

impl Found {
    /// Kernels in other places of the suite have other seeds.
    fn search(kernel: &Kernel, place: u64, strategy: Strategy) -> Self {
        let mut found = Self { seeds: Vec::new(), choices: Vec::new() };
        for first in (0..SEARCHES).map(|search| (place * 1000 + search) * 1_000_000) {
            let builder = Builder::new().strategy(strategy).seeds(first..first + 1000);
            let report = kernel.run(builder, true);
            found.seeds.push(report.failure().map(|_| report.seeds()));
            found.choices.extend(report.failure().map(|failure| failure.choices()));
        }
        // A search that found nothing is the longest.
        found.seeds.sort_by_key(|seeds| seeds.unwrap_or(u64::MAX));
        found.choices.sort_unstable();
        found
    }

    fn median(&self) -> Option<u64> {
        self.seeds[self.seeds.len() / 2]
    }

    fn share(&self) -> f64 {
        self.seeds.iter().flatten().count() as f64 / self.seeds.len() as f64
    }
}

/// The median of what is not empty, as a text.
fn median<T: Ord + Copy + ToString>(mut of: Vec<T>) -> String {
    of.sort_unstable();
    of.get(of.len() / 2).map_or_else(|| "-".to_owned(), |median| median.to_string())
}

#[test]
#[ignore = "takes minutes in a debug build"]
fn the_table_of_the_suite() {
    let names: Vec<&str> = STRATEGIES.iter().map(|(name, _)| *name).collect();
    println!("| kernel | source | grain | {} | choices |", names.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(names.len() + 1));
    let mut medians = vec![Vec::new(); STRATEGIES.len()];
    let mut shares = [0.0; STRATEGIES.len()];
    let mut choices = Vec::new();
    let all = FAMILIES.iter().flat_map(|(_, kernels)| kernels.iter());
    let mut in_reach = 0_u32;
    for kernel in all.filter(|kernel| kernel.is_in_reach()) {
        let mut cells = Vec::new();
        let mut left = Vec::new();
        for (number, (_, strategy)) in STRATEGIES.into_iter().enumerate() {
            let found = Found::search(kernel, u64::from(in_reach), strategy);
            cells.push(found.median().map_or_else(|| "-".to_owned(), |seeds| seeds.to_string()));
            medians[number].push(found.median().unwrap_or(u64::MAX));
            shares[number] += found.share();
            left.extend(found.choices);
        }
        in_reach += 1;
        choices.extend(left.iter().copied());
        let Kernel { name, source, grain, .. } = kernel;
        println!("| {name} | {source} | {grain:?} | {} | {} |", cells.join(" | "), median(left));
    }
    let all_medians: Vec<String> = medians.into_iter().map(median).collect();
    let shares: Vec<String> = shares
        .iter()
        .map(|share| format!("{:.0} %", 100.0 * share / f64::from(in_reach)))
        .collect();
    println!("| median | | | {} | {} |", all_medians.join(" | "), median(choices));
    println!("| found | | | {} | |", shares.join(" | "));
}
