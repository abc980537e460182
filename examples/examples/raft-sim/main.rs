//! A replicated log (Raft, Ongaro and Ousterhout 2014) of three hosts, under a thousand schedules with datagrams that are
//! lost, late or doubled, partitions, pauses and crashes: `colored::sim` finds a planted bug, shrinks the run that shows it,
//! and prints it.
//!
//! A register is replicated, which two clients write and read. Each run checks that
//!
//! * a term has one leader, and hosts apply the same entries in the same order;
//! * the clients' history is linearizable;
//! * when all faults are healed, a write succeeds.
//!
//! ```text
//! cargo run --release -p colored-examples --example raft-sim -- [--bug NAME] [--seeds N]
//! ```
//!
//! Without `--bug`, the right program runs, and then each bug in turn.

mod clients;
mod cluster;
mod disk;
mod history;
mod message;
mod network;
mod node;
mod observer;
mod replication;
mod wire;

use colored_examples::{Args, Failure};
use std::time::Instant;

/// What is wrong with the program on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// A host answers before its log is on the disk, and forgets it in a crash.
    ForgetsLog,
    /// A host votes for candidates whose log is behind its own.
    VotesBlindly,
    /// A leader answers reads from its own register: another leader may have been elected.
    ReadsLocally,
}

const BUGS: [(&str, Bug); 4] = [
    ("none", Bug::None),
    ("forgets-log", Bug::ForgetsLog),
    ("votes-blindly", Bug::VotesBlindly),
    ("reads-locally", Bug::ReadsLocally),
];

const USAGE: &str = "raft-sim [--bug NAME] [--seeds N]
  NAME: none, forgets-log, votes-blindly, reads-locally";

fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let bug = args.choice("--bug", &BUGS)?;
    let seeds = args.number("--seeds", 1..=1_000_000)?.unwrap_or(1000);
    args.end()?;
    let mut is_right = true;
    for (name, of) in BUGS {
        if bug.is_none_or(|bug| bug == of) {
            let begin = Instant::now();
            let report = cluster::simulate(of, seeds);
            println!("bug {name}: {report}\n  {:.1} s\n", begin.elapsed().as_secs_f64());
            is_right &= report.failure().is_some() == (of != Bug::None);
        }
    }
    if is_right {
        Ok(())
    } else {
        Err(Failure::new("a bug is not found, or the right program fails"))
    }
}
