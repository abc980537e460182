//! Connections that say nothing: what do they cost the few that do?

use super::{SERVERS, command, limits, start};
use crate::{Goal, Plan, Report};
use colored_benches::chart::number;
use colored_benches::http::numbered::Load;
use colored_benches::measure::median;
use std::io;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Duration;

/// Connections with a request under way at all times.
const ACTIVE: usize = 100;

/// The servers: ours and tokio's.
const PLACES: [usize; 2] = [super::OURS, super::TOKIO];

/// Requests a second, and seconds of CPU time of the server for a request.
type Figures = [f64; 2];

/// Loads two servers of a kind, one of which has the idle connections too, in turn.
pub(super) fn run(plan: &Plan, report: &mut Report) {
    let counts: Vec<usize> = plan.pick(vec![1_000, 10_000], vec![1_000], vec![20]);
    let mut rows = Vec::new();
    let mut most = 1.0_f64;
    for idle in counts.into_iter().filter(|idle| limits::check(idle + ACTIVE).is_ok()) {
        for server in PLACES {
            let commands = [(); 2].map(|()| command(plan, server).expect("it needs no peers"));
            let found = alternate(plan, commands, idle)
                .unwrap_or_else(|error| panic!("{} with {idle} idle: {error}", SERVERS[server].0));
            let [[rate, cpu], [rate_with, cpu_with]] = found;
            let ratio = cpu_with / cpu;
            if server == super::OURS {
                most = most.max(ratio);
            }
            let mut row = vec![SERVERS[server].0.to_owned(), number(idle as f64)];
            row.extend([rate, rate_with, cpu * 1e6, cpu_with * 1e6, ratio].map(number));
            rows.push(row);
        }
    }
    report.text(&format!(
        "{ACTIVE} active connections, alone and beside idle ones, without a limit of CPU time:"
    ));
    let head = [
        "server",
        "idle connections",
        "requests/s, alone",
        "beside them",
        "CPU a request, us, alone",
        "beside them",
        "ratio",
    ];
    report.table(&head, &rows);
    let what =
        "CPU time of a request beside idle connections, over that without; the most of all rows";
    report.goal(what, most, Goal::AtMost(1.05));
}

/// Medians without and with the idle connections.
fn alternate(plan: &Plan, commands: [Command; 2], idle: usize) -> io::Result<[Figures; 2]> {
    let cores = available_parallelism()?.get();
    let mut servers = Vec::new();
    for command in commands {
        let (server, address) = start(command, cores)?;
        let mut load = Load::new(address)?;
        load.open(ACTIVE)?;
        servers.push((server, load, address));
    }
    let mut silent = Load::new(servers[1].2)?;
    silent.open(idle)?;
    let time = Duration::from_millis(plan.pick(200, 60, 20));
    let mut found = [const { Vec::new() }; 2];
    for round in 0..plan.pick(11, 3, 1) {
        for turn in 0..2 {
            let of = (round + turn) % 2;
            let (server, load, _) = &mut servers[of];
            let before = server.cpu_time()?;
            let outcome = load.run(time)?;
            let cpu = (server.cpu_time()? - before).as_secs_f64() / outcome.delays.len() as f64;
            found[of].push([outcome.rate, cpu]);
        }
    }
    Ok(found.map(|all: Vec<Figures>| [0, 1].map(|of| median(all.iter().map(|one| one[of])))))
}
