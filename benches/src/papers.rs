//! The experiments of the papers and the peers, each beside the published figures.
//!
//! `cargo bench -p colored-benches --bench papers` runs them and writes `benches/results/papers.md`. Every experiment runs in
//! a process of its own. So it has no threads of another experiment, a failed count ends only that
//! experiment, and a process that hangs can be killed.
//!
//! | module | one idea |
//! |---|---|
//! | [`options`] | the command line |
//! | [`report`] | the result of an experiment: `RATIO` and `GOAL` lines, tables, plots |
//! | [`page`] | blocks of a page that a program writes |
//! | [`supervise`] | processes with a limit of time |
//! | `clients` | tasks that have one operation under way at any time |
//! | [`cardinality`] | serial work by key, one to many keys |
//! | [`sleeps`] | the lateness and the cost of sleeps |
//! | [`when_one`] | one cell by `when`, against a call |
//! | [`operations`] | single operations, for the page of costs |
//! | [`bank`] | two accounts at once |
//! | [`dining`] | two forks at once |
//! | [`kv`] | shared reading |
//! | [`table2`] | libasync-smp: the gain of each step of its scheduler |
//! | [`staged`] | staged middleware: batches, and how work reaches idle workers |
//! | [`queues`] | staged middleware: kinds of queues and locks |
//! | [`programs`] | the size of the programs, and their awaits |
//! | [`mely`] | Mely: is stealing worth its cost? |
//! | [`overload`] | more work than can be done |
//! | [`connections`] | 1,000 to 16,000 clients of one server, in six ways |
//! | [`stackful`] | tasks with a stack, beside futures and threads |
//! | [`scaling`] | more workers |
//! | [`files`] | lazy I/O, in memory and not; LAIO's pipe |

pub mod bank;
pub mod cardinality;
mod clients;
pub mod connections;
pub mod dining;
pub mod files;
pub mod kv;
pub mod mely;
pub mod operations;
pub mod options;
pub mod overload;
pub mod page;
pub mod programs;
pub mod queues;
pub mod report;
pub mod scaling;
pub mod sleeps;
pub mod stackful;
pub mod staged;
pub mod supervise;
pub mod table2;
pub mod when_one;

pub use options::Plan;
pub use report::{Goal, Report};

/// One experiment.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// The name to filter by, which is also the name of its block in the page.
    pub name: &'static str,
    /// Runs the experiment.
    pub run: fn(&Plan) -> Report,
}

/// All experiments, in the order of the page.
pub const ALL: &[Experiment] = &[
    Experiment { name: "cardinality", run: cardinality::run },
    Experiment { name: "sleeps", run: sleeps::run },
    Experiment { name: "when_one", run: when_one::run },
    Experiment { name: "operations", run: operations::run },
    Experiment { name: "stackful", run: stackful::run },
    Experiment { name: "bank", run: bank::run },
    Experiment { name: "dining", run: dining::run },
    Experiment { name: "kv", run: kv::run },
    Experiment { name: "table2", run: table2::run },
    Experiment { name: "staged", run: staged::run },
    Experiment { name: "queues", run: queues::run },
    Experiment { name: "programs", run: programs::run },
    Experiment { name: "mely", run: mely::run },
    Experiment { name: "overload", run: overload::run },
    Experiment { name: "connections", run: connections::run },
    Experiment { name: "scaling", run: scaling::run },
    Experiment { name: "files", run: files::run },
];
