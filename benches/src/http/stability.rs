//! Does throughput hold as connections grow a thousandfold?
//!
//! The clients share the cores with the server, and thousands of busy connections fit in no cache: the
//! kernel's costs grow for every server, by some 10 us a request. [`Kind::Floor`], which only reads and
//! writes, shows the rest of the machine's throughput at each step. Requests with
//! [`WORK`](super::server::WORK) of their own show the rest for a server that does work.

use super::child::Server;
use super::load::{Limit, Load, Script, Tally};
use super::server::Kind;
use super::wire::Family;
use crate::measure::{Mode, median};
use crate::ratio::line;
use crate::rivals::workers;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The name to filter by.
pub const NAME: &str = "http_stability";

/// Connections, step by step.
const STEPS: [usize; 5] = [1, 64, 512, 2_048, 8_000];

/// `colored`, tokio, and the machine's limit; then both runtimes with work in each request.
const KINDS: [Kind; 5] =
    [Kind::Colored, Kind::TokioMt, Kind::Floor, Kind::ColoredWork, Kind::TokioWork];

/// Rounds of all steps, and how long each step lasts.
const fn windows(mode: Mode) -> (usize, Duration) {
    match mode {
        Mode::Full => (3, Duration::from_millis(1_500)),
        Mode::Quick => (1, Duration::from_millis(500)),
        Mode::Smoke => (1, Duration::from_millis(20)),
    }
}

/// One step's figures: of one round, or the medians of all.
#[derive(Clone, Copy)]
struct Step {
    rate: f64,
    /// Microseconds of CPU time a request.
    server: f64,
    client: f64,
    errors: u64,
}

/// Loads servers with more and more connections, each of them always busy. Prints a `STABILITY` line
/// for each step: throughput, its part of the floor's, and the CPU time of server and clients; and one
/// line for the least throughput after the peak over the peak. The `RATIO` lines compare the inverse of
/// that figure, the loss, with tokio's and with the floor's.
///
/// Returns the errors of all steps: wrong responses, and connections that broke.
///
/// # Errors
///
/// If a server does not start or a connection is refused.
pub fn run(program: &Path, mode: Mode) -> io::Result<u64> {
    let mut servers = Vec::new();
    for kind in KINDS {
        servers.push(Server::start(program, kind, workers(), Family::Tcp)?);
    }
    // By server, step and round. The rounds are outermost in time, so that slow noise affects all
    // servers.
    let mut figures = KINDS.map(|_| STEPS.map(|_| Vec::new()));
    let (rounds, window) = windows(mode);
    for _ in 0..rounds {
        for (index, connections) in STEPS.into_iter().enumerate() {
            for (server, steps) in servers.iter_mut().zip(&mut figures) {
                steps[index].push(step(server, connections, window)?);
            }
        }
    }
    let medians = figures.map(|steps| steps.map(|rounds| Step::median(&rounds)));
    let floor = medians[2].map(|step| step.rate);
    let mut retained = [0.0; KINDS.len()];
    for (index, retained) in retained.iter_mut().enumerate() {
        *retained = report(KINDS[index], &medians[index], &floor);
    }
    let [ours, tokio, least, ours_work, tokio_work] = retained.map(|retained| 1.0 / retained);
    line(NAME, ours, KINDS[1].name(), tokio, "peak/least");
    line(&format!("{NAME}_floor"), ours, KINDS[2].name(), least, "peak/least");
    line(&format!("{NAME}_work"), ours_work, KINDS[4].name(), tokio_work, "peak/least");
    Ok(medians.iter().flatten().map(|step| step.errors).sum())
}

fn step(server: &mut Server, connections: usize, window: Duration) -> io::Result<Step> {
    let mut load = Load::connect(&server.address, connections, Script::HELLO)?;
    let before = server.cpu_time()?;
    let tally = load.run(Limit::time(window))?;
    Ok(Step::of(&tally, server.cpu_time()? - before))
}

impl Step {
    fn of(tally: &Tally, server: Duration) -> Self {
        let a_request = |time: Duration| time.as_secs_f64() * 1e6 / tally.requests as f64;
        Self {
            rate: tally.rate,
            server: a_request(server),
            client: a_request(tally.cpu),
            errors: tally.errors,
        }
    }

    fn median(rounds: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| median(rounds.iter().map(figure));
        Self {
            rate: of(|step| step.rate),
            server: of(|step| step.server),
            client: of(|step| step.client),
            errors: rounds.iter().map(|step| step.errors).sum(),
        }
    }
}

/// Prints all steps of a server, and returns the part of the throughput that it retains.
fn report(kind: Kind, steps: &[Step], floor: &[f64]) -> f64 {
    let name = kind.name();
    for ((connections, step), floor) in STEPS.into_iter().zip(steps).zip(floor) {
        let Step { rate, server, client, errors } = step;
        println!(
            "STABILITY {name} connections={connections} requests/s={rate:.0} of-floor={:.2} \
             us-cpu/request={server:.2} client-us-cpu/request={client:.2} errors={errors}",
            rate / floor
        );
    }
    let rates: Vec<f64> = steps.iter().map(|step| step.rate).collect();
    let retained = retained(&rates);
    println!("STABILITY {name} least/peak={retained:.3}");
    retained
}

/// The least rate from the peak on, over the peak.
fn retained(rates: &[f64]) -> f64 {
    let peak = rates.iter().copied().fold(0.0, f64::max);
    let after = rates.iter().copied().skip_while(|&rate| rate < peak);
    after.fold(f64::INFINITY, f64::min) / peak
}

#[cfg(test)]
mod tests {
    use super::retained;

    #[test]
    fn what_comes_before_the_peak_does_not_count() {
        assert_eq!(retained(&[1.0, 10.0, 9.0, 9.5]), 0.9);
        assert_eq!(retained(&[1.0, 2.0, 4.0]), 1.0);
    }
}
