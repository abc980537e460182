//! The bug suite: how many seeds a search needs until it finds a kernel's bug, and what shrinking
//! takes and leaves.

#[path = "../kernels.rs"]
mod suite;
mod table;

pub use self::table::{SEARCHES, Table};
pub use colored::sim::Strategy;
use colored::sim::{Builder, Failure};

/// The failure of a program that waits for ever.
const HANGS: &str = "nothing is runnable";

/// What a search has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The seeds until then.
    pub seeds: u64,
    /// The failure, shrunk.
    pub shrunk: Shrunk,
}

/// What the shrinking of a failure took, and left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The choices that are left: preemptions, draws and faults.
    pub choices: u64,
    /// The runs that it took.
    pub runs: u64,
    /// Its time in tenths of a second, as the report has it.
    pub tenths: u64,
}

impl Shrunk {
    fn of(failure: &Failure) -> Self {
        let report = failure.to_string();
        let (_, shrunk) = report.split_once("shrunk from ").expect("a seed has found it");
        let numbers = shrunk.split(|c: char| !c.is_ascii_digit());
        let mut numbers = numbers.filter_map(|text| text.parse().ok());
        let mut next = || numbers.next().expect("the report has five numbers");
        let (_before, choices, runs, seconds, tenths) = (next(), next(), next(), next(), next());
        assert_eq!(choices, failure.choices() as u64);
        Self { choices, runs, tenths: 10 * seconds + tenths }
    }
}

/// The names of all kernels, each behind that of its family.
pub fn kernels() -> impl Iterator<Item = (&'static str, &'static str)> {
    suite::all().map(|(family, kernel)| (family, kernel.name))
}

/// A search runs the kernel with up to a thousand seeds until it finds the bug. `number` chooses the seeds.
///
/// # Panics
///
/// If a run fails in another way, or there is no such kernel.
#[must_use]
pub fn search(kernel: &str, strategy: Strategy, number: u64) -> Option<Found> {
    let first = suite::first_seed(kernel, number);
    let kernel = suite::by_name(kernel);
    let program = kernel.program;
    let builder = Builder::new().strategy(strategy).seeds(first..first + 1000);
    let report = builder.run(move || program(true));
    let failure = report.failure()?;
    assert!(failure.message().contains(kernel.text), "another failure: {failure}");
    Some(Found { seeds: report.seeds(), shrunk: Shrunk::of(failure) })
}
