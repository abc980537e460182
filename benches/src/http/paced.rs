//! The load of the papers: more and more clients, with the same number of requests a second in all.
//!
//! There the servers stayed below the limits of the machines: the clients had machines of their own, or
//! the server was held back. So here a fixed number of requests a second is spread over all
//! connections, less than half of the throughput with 8,000 busy connections. Each connection pauses in
//! between. Throughput must be that number at every step, without an error, and delays must not grow
//! with the connections.

use super::child::Server;
use super::load::{Load, Script};
use super::server::Kind;
use super::wire::Family;
use crate::measure::Mode;
use crate::ratio::line;
use crate::rivals::workers;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The name to filter by.
pub const NAME: &str = "http_paced";

/// Connections, step by step. One connection alone has no time for so many requests.
const STEPS: [usize; 4] = [64, 512, 2_048, 8_000];

/// Requests a second over all connections.
const RATE: u32 = 40_000;

const KINDS: [Kind; 3] = [Kind::Colored, Kind::TokioMt, Kind::Floor];

/// The percentile of the delays that is compared at the last step.
const SHARE: f64 = 0.99;

const fn window(mode: Mode) -> Duration {
    match mode {
        Mode::Full => Duration::from_secs(3),
        Mode::Quick => Duration::from_millis(500),
        Mode::Smoke => Duration::from_millis(20),
    }
}

/// Paces servers, prints a `STABILITY` line for each step with the rate over the one asked for, delays,
/// and CPU time; and a `RATIO` line for the delay at the last one.
///
/// Returns the errors of all steps.
///
/// # Errors
///
/// If a server does not start or a connection is refused.
pub fn run(program: &Path, mode: Mode) -> io::Result<u64> {
    let mut servers = Vec::new();
    for kind in KINDS {
        servers.push((kind, Server::start(program, kind, workers(), Family::Tcp)?));
    }
    let mut errors = 0;
    let mut last = [0.0; KINDS.len()];
    for connections in STEPS {
        for ((kind, server), last) in servers.iter_mut().zip(&mut last) {
            let mut load = Load::connect(&server.address, connections, Script::HELLO)?;
            let before = server.cpu_time()?;
            let paced = load.run_paced(RATE, window(mode))?;
            let cpu = server.cpu_time()? - before;
            errors += paced.tally.errors;
            let millis = |share: f64| paced.delay(share).as_secs_f64() * 1e3;
            println!(
                "STABILITY {} paced connections={connections} rate/asked={:.3} p50={:.2} \
                 p99={:.2} max={:.2} ms us-cpu/request={:.2} errors={}",
                kind.name(),
                paced.tally.rate / f64::from(RATE),
                millis(0.5),
                millis(SHARE),
                millis(1.0),
                cpu.as_secs_f64() * 1e6 / paced.tally.requests as f64,
                paced.tally.errors
            );
            *last = millis(SHARE);
        }
    }
    line(NAME, last[0], KINDS[1].name(), last[1], "ms, p99 at the last step");
    Ok(errors)
}
