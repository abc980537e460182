//! A server that is idle most of the time: what does a request cost then?
//!
//! A thousand connections send a few requests each millisecond, in one burst. A worker that wakes another one for work that it
//! would have done in microseconds pays for the wake-up, and the other one for waking up, looking around and going to sleep
//! again. The switches of the server's threads that wait show it: a process without any such wake-up has about one a burst.

use super::child::Server;
use super::load::{Load, Script};
use super::server::Kind;
use super::wire::Family;
use crate::measure::{Mode, median};
use crate::ratio::line;
use crate::rivals::workers;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The name to filter by.
pub const NAME: &str = "http_low_rate";

/// Connections.
const CONNECTIONS: usize = 1_000;

/// Requests a second over all connections: one, or four, each millisecond.
const RATES: [u32; 4] = [1_000, 4_000, 16_000, 50_000];

const KINDS: [Kind; 2] = [Kind::Colored, Kind::TokioMt];

/// Rounds, and how long a round of one server lasts.
const fn windows(mode: Mode) -> (usize, Duration) {
    match mode {
        Mode::Full => (9, Duration::from_secs(1)),
        Mode::Quick => (3, Duration::from_millis(500)),
        Mode::Smoke => (1, Duration::from_millis(20)),
    }
}

/// Alternates servers at low rates. Prints a `RATIO` line for each rate, of the CPU time of the server for each request, and an
/// `INFO` line with the voluntary switches of its threads.
///
/// Returns the errors of all rounds.
///
/// # Errors
///
/// If a server does not start or a connection is refused.
pub fn run(program: &Path, mode: Mode) -> io::Result<u64> {
    let mut servers = Vec::new();
    for kind in KINDS {
        servers.push(Server::start(program, kind, workers(), Family::Tcp)?);
    }
    let mut errors = 0;
    let (rounds, window) = windows(mode);
    for rate in RATES {
        let mut figures = KINDS.map(|_| (Vec::new(), Vec::new()));
        for _ in 0..rounds {
            for (server, (costs, switches)) in servers.iter_mut().zip(&mut figures) {
                let mut load = Load::connect(&server.address, CONNECTIONS, Script::HELLO)?;
                // The first requests make the connections.
                errors += load.run_paced(rate, window / 4)?.tally.errors;
                let before = (server.cpu_time()?, server.switches()?);
                let paced = load.run_paced(rate, window)?;
                let requests = paced.tally.requests as f64;
                costs.push((server.cpu_time()? - before.0).as_secs_f64() * 1e6 / requests);
                switches.push((server.switches()? - before.1) as f64 / requests);
                errors += paced.tally.errors;
            }
        }
        let [(ours, our_switches), (tokio, its_switches)] = figures
            .map(|(costs, switches)| (median(costs.into_iter()), median(switches.into_iter())));
        line(&format!("{NAME}_{rate}"), ours, KINDS[1].name(), tokio, "us-cpu/request");
        println!(
            "INFO {NAME}_{rate} switches/request colored={our_switches:.2} {}={its_switches:.2}",
            KINDS[1].name()
        );
    }
    Ok(errors)
}
