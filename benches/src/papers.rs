//! The experiments of the papers and the peers, each beside the figures that they printed.
//!
//! `cargo bench --bench papers` runs them and writes `docs/benchmarks.md`. Every experiment runs in
//! a process of its own, so that no other's threads are there, a failed count ends that experiment
//! alone, and one that hangs is ended.
//!
//! | module | one idea |
//! |---|---|
//! | [`options`] | the command line |
//! | [`report`] | what an experiment found: `RATIO` and `GOAL` lines, tables, plots |
//! | [`page`] | blocks of a page that a program writes |
//! | [`supervise`] | processes with a limit of time |
//! | `clients` | tasks that have one operation under way at any time |
//! | [`cardinality`] | serial work by key, one to many keys |
//! | [`sleeps`] | how late sleeps end, and what they cost |
//! | [`when_one`] | one cell by `when`, against a call |
//! | [`bank`] | two accounts at once |
//! | [`dining`] | two forks at once |
//! | [`kv`] | shared reading |
//! | [`table2`] | libasync-smp: what each step of its scheduler is worth |
//! | [`staged`] | staged middleware: batches, and who hands work to whom |
//! | [`mely`] | Mely: is stealing worth its cost? |
//! | [`overload`] | more work than can be done |
//! | [`scaling`] | more workers |

pub mod bank;
pub mod cardinality;
mod clients;
pub mod dining;
pub mod kv;
pub mod mely;
pub mod options;
pub mod overload;
pub mod page;
pub mod report;
pub mod scaling;
pub mod sleeps;
pub mod staged;
pub mod supervise;
pub mod table2;
pub mod when_one;

pub use options::Plan;
pub use report::{Goal, Report};

/// One experiment.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// The name to filter by, and of its block in the page.
    pub name: &'static str,
    /// Does it.
    pub run: fn(&Plan) -> Report,
}

/// All of them, in the order of the page.
pub const ALL: &[Experiment] = &[
    Experiment { name: "cardinality", run: cardinality::run },
    Experiment { name: "sleeps", run: sleeps::run },
    Experiment { name: "when_one", run: when_one::run },
    Experiment { name: "bank", run: bank::run },
    Experiment { name: "dining", run: dining::run },
    Experiment { name: "kv", run: kv::run },
    Experiment { name: "table2", run: table2::run },
    Experiment { name: "staged", run: staged::run },
    Experiment { name: "mely", run: mely::run },
    Experiment { name: "overload", run: overload::run },
    Experiment { name: "scaling", run: scaling::run },
];
