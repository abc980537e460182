//! The same servers under [wrk](https://github.com/wg/wrk), a load generator that is not ours, where it is installed.
//!
//! It differs from [`Load`](super::load::Load) in three ways: it opens its connections anew for each sample, the system
//! places its threads, and it looks at nothing but the status of a response.

use super::child::Server;
use super::server::Kind;
use super::wire::{Address, Family};
use crate::measure::{Mode, median};
use crate::ratio::line;
use crate::rivals::workers;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The name to filter by.
pub const NAME: &str = "http_wrk";

/// Keep-alive connections, all busy.
const CONNECTIONS: [usize; 2] = [64, 512];

/// The first is compared with each of the others.
const KINDS: [Kind; 3] = [Kind::Colored, Kind::TokioMt, Kind::TokioNCopy];

/// wrk takes whole seconds.
const SECONDS: &str = "1";

const fn rounds(mode: Mode) -> usize {
    match mode {
        Mode::Full => 15,
        Mode::Quick => 5,
        Mode::Smoke => 1,
    }
}

/// Alternates servers, each started anew for every sample. Prints a `RATIO` line for each peer and number of connections,
/// of the CPU time of the server for each request; or one line if wrk is missing.
///
/// Returns the errors of all rounds, as wrk counts them.
///
/// # Errors
///
/// If a server does not start, or wrk fails.
pub fn run(program: &Path, mode: Mode) -> io::Result<u64> {
    if Command::new("wrk").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        println!("SKIP {NAME}: wrk is not installed");
        return Ok(0);
    }
    let mut errors = 0;
    for connections in CONNECTIONS {
        let mut costs = KINDS.map(|_| Vec::new());
        for round in 0..rounds(mode) {
            for place in 0..KINDS.len() {
                let next = (round + place) % KINDS.len();
                let mut server = Server::start(program, KINDS[next], workers(), Family::Tcp)?;
                let before = server.cpu_time()?;
                let done = load(&server.address, connections)?;
                let cost = (server.cpu_time()? - before).as_secs_f64() * 1e6;
                costs[next].push(cost / done.requests as f64);
                errors += done.errors;
            }
        }
        let [ours, peers @ ..] = costs.map(|of_one| median(of_one.into_iter()));
        for (kind, peer) in KINDS[1..].iter().zip(peers) {
            let name = format!("{NAME}_{connections}_vs_{}", kind.name());
            line(&name, ours, kind.name(), peer, "us-cpu/request");
        }
    }
    Ok(errors)
}

/// What wrk says it has done.
#[derive(Debug, PartialEq, Eq)]
struct Done {
    requests: u64,
    errors: u64,
}

fn load(address: &Address, connections: usize) -> io::Result<Done> {
    let Address::Tcp(address) = address else {
        return Err(io::Error::other("wrk speaks TCP"));
    };
    let arguments = ["-t", "1", "-d", SECONDS, "-c", &connections.to_string()];
    let url = format!("http://{address}/");
    let output = Command::new("wrk").args(arguments).arg(url).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let done = output.status.success().then(|| read(&text)).flatten();
    done.ok_or_else(|| io::Error::other(format!("wrk: {}: {text}", output.status)))
}

/// Reads the report of wrk.
fn read(report: &str) -> Option<Done> {
    let number = |word: &str| word.trim_end_matches(',').parse::<u64>().ok();
    let mut done = Done { requests: 0, errors: 0 };
    for line in report.lines().map(str::trim) {
        if let Some((requests, _)) = line.split_once(" requests in ") {
            done.requests = number(requests)?;
        } else if line.starts_with("Socket errors:") || line.starts_with("Non-2xx") {
            done.errors += line.split_whitespace().filter_map(number).sum::<u64>();
        }
    }
    (done.requests > 0).then_some(done)
}

#[cfg(test)]
mod tests {
    use super::{Done, read};

    #[test]
    fn requests_and_all_kinds_of_errors_are_read() {
        let report = "Running 1s test @ http://127.0.0.1:1/\n  1 threads and 64 connections\n  \
                      141723 requests in 1.10s, 11.35MB read\n  \
                      Socket errors: connect 1, read 2, write 3, timeout 4\n  \
                      Non-2xx or 3xx responses: 5\nRequests/sec: 128906.11\n";
        assert_eq!(read(report), Some(Done { requests: 141_723, errors: 15 }));
        assert_eq!(read("unable to connect to 127.0.0.1:1 Connection refused\n"), None);
    }
}
