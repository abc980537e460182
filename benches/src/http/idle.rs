//! A server with many connections that say nothing: what do they cost the few that do?

use super::child::Server;
use super::load::{Load, Script};
use super::rows::sample;
use super::server::Kind;
use super::wire::Family;
use crate::measure::{Mode, Sample, median};
use crate::ratio::line;
use crate::rivals::workers;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The name to filter by.
pub const NAME: &str = "http_idle";

/// Connections with a request under way at all times.
const ACTIVE: usize = 100;

/// Connections without.
const IDLE: usize = 10_000;

/// Rounds, and how long each loads a server.
const fn windows(mode: Mode) -> (usize, Duration) {
    match mode {
        Mode::Full => (41, Duration::from_millis(250)),
        Mode::Quick => (11, Duration::from_millis(120)),
        Mode::Smoke => (1, Duration::from_millis(20)),
    }
}

/// Alternates two servers of one kind, one of which has the idle connections too. Prints a `RATIO` line of the CPU time of a
/// request.
///
/// Returns no errors: a wrong response ends the run.
///
/// # Errors
///
/// If a server does not start, a connection is refused, or a response is wrong.
pub fn run(program: &Path, mode: Mode) -> io::Result<u64> {
    let start = || Server::start(program, Kind::Colored, workers(), Family::Tcp);
    let mut servers = [start()?, start()?];
    let _idle = Load::connect(&servers[0].address, IDLE, Script::HELLO)?;
    let mut loads = Vec::new();
    for server in &servers {
        loads.push(Load::connect(&server.address, ACTIVE, Script::HELLO)?);
    }
    let (rounds, window) = windows(mode);
    let mut pairs: Vec<[Sample; 2]> = Vec::new();
    for round in 0..rounds {
        let mut pair = [None; 2];
        for turn in 0..2 {
            let of = (round + turn) % 2;
            pair[of] = Some(sample(&mut servers[of], &mut loads[of], window)?);
        }
        pairs.extend(pair[0].zip(pair[1]).map(|(with, without)| [with, without]));
    }
    let cost = |of: usize| median(pairs.iter().map(|pair| pair[of].per_op() * 1e6));
    line(NAME, cost(0), "without", cost(1), "us-cpu/request");
    let paired = median(pairs.iter().map(|[with, without]| with.per_op() / without.per_op()));
    println!("INFO {NAME} paired={paired:.3} (median of the rounds' ratios)");
    Ok(0)
}
