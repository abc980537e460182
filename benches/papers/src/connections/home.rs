//! How often a request runs on the worker that ran the one before of its connection.

use super::start;
use crate::policies::HOME;
use crate::{Goal, Plan, Report};
use colored_benches::chart::number;
use colored_benches::http::numbered::{Load, Model};
use std::io;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Duration;

/// Connections, all of them busy.
const CONNECTIONS: usize = 1_000;

/// Asks the servers that count.
pub(super) fn run(plan: &Plan, report: &mut Report) {
    let share = |name| share(plan, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (usual, stays) = (share(Model::Watched.name()), share(HOME));
    report.text(&format!(
        "{} connections, a worker for each core: {} % of the polls of a connection ran on the worker that ran the one before. \
         Where no color is stolen, {} % did.",
        number(CONNECTIONS as f64),
        number(100.0 * usual),
        number(100.0 * stays)
    ));
    let what =
        "polls of a connection on the worker that ran the one before, where no color is stolen";
    report.goal(what, stays, Goal::AtLeast(0.99));
}

fn share(plan: &Plan, name: &str) -> io::Result<f64> {
    let mut command = Command::new(&plan.server);
    command.arg(name);
    let (mut server, address) = start(command, available_parallelism()?.get())?;
    let mut load = Load::new(address)?;
    load.open(plan.pick(CONNECTIONS, CONNECTIONS, 20))?;
    let before = [server.ask("POLLS")?, server.ask("MOVES")?];
    load.run(Duration::from_millis(plan.pick(2_000, 200, 50)))?;
    let [polls, moves] = [server.ask("POLLS")? - before[0], server.ask("MOVES")? - before[1]];
    Ok(1.0 - moves as f64 / polls as f64)
}
