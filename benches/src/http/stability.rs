//! Does throughput hold as connections grow a thousandfold?

use super::child::Server;
use super::load::{Limit, Load};
use super::server::Kind;
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

/// Rounds of all steps, and how long each step lasts.
const fn windows(mode: Mode) -> (usize, Duration) {
    match mode {
        Mode::Full => (3, Duration::from_millis(1_500)),
        Mode::Quick => (1, Duration::from_millis(500)),
        Mode::Smoke => (1, Duration::from_millis(20)),
    }
}

/// One step's figures in one round.
struct Step {
    rate: f64,
    cpu_micros: f64,
    errors: u64,
}

/// Loads a `colored` and a tokio server with more and more connections, prints a `STABILITY`
/// line for each step and one for the least throughput after the peak over the peak.
/// The `RATIO` line compares the inverse of that, the loss: at thousands of busy connections
/// the kernel's own costs grow, so tokio beside it says what the machine allows.
///
/// Returns the errors of all steps: wrong responses, and connections that broke.
///
/// # Errors
///
/// If a server does not start or a connection is refused.
pub fn run(program: &Path, mode: Mode) -> io::Result<u64> {
    let kinds = [Kind::Colored, Kind::TokioMt];
    let mut servers = Vec::new();
    for kind in kinds {
        servers.push(Server::start(program, kind, workers())?);
    }
    // By server, by step, by round: rounds outermost in time, so that slow noise meets all.
    let mut figures = kinds.map(|_| STEPS.map(|_| Vec::new()));
    let (rounds, window) = windows(mode);
    for _ in 0..rounds {
        for (index, connections) in STEPS.into_iter().enumerate() {
            for (server, steps) in servers.iter_mut().zip(&mut figures) {
                steps[index].push(step(server, connections, window)?);
            }
        }
    }
    let [ours, theirs] = [0, 1].map(|index| report(kinds[index], &figures[index]));
    line(NAME, 1.0 / ours.retained, kinds[1].name(), 1.0 / theirs.retained, "peak/least");
    Ok(ours.errors + theirs.errors)
}

/// What all steps of a server came to.
struct Report {
    retained: f64,
    errors: u64,
}

fn step(server: &mut Server, connections: usize, window: Duration) -> io::Result<Step> {
    let mut load = Load::connect(server.address, connections)?;
    let before = server.cpu_time()?;
    let tally = load.run(Limit::time(window))?;
    let cpu = server.cpu_time()? - before;
    Ok(Step {
        rate: tally.rate,
        cpu_micros: cpu.as_secs_f64() * 1e6 / tally.requests as f64,
        errors: tally.errors,
    })
}

fn report(kind: Kind, steps: &[Vec<Step>]) -> Report {
    let name = kind.name();
    let mut rates = Vec::new();
    let mut all_errors = 0;
    for (connections, rounds) in STEPS.into_iter().zip(steps) {
        let rate = median(rounds.iter().map(|step| step.rate));
        let cpu = median(rounds.iter().map(|step| step.cpu_micros));
        let errors: u64 = rounds.iter().map(|step| step.errors).sum();
        println!(
            "STABILITY {name} connections={connections} requests/s={rate:.0} \
             us-cpu/request={cpu:.2} errors={errors}"
        );
        rates.push(rate);
        all_errors += errors;
    }
    let report = Report { retained: retained(&rates), errors: all_errors };
    println!("STABILITY {name} least/peak={:.3} errors={all_errors}", report.retained);
    report
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
