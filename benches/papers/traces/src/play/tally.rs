//! What one client has counted: [`Tally`].

use super::fault::{Fault, FaultKind};
use std::time::Duration;

/// Counts and latencies of one client, or of several.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The latencies of all requests with a right response, in ns.
    pub(super) requests: Vec<u64>,
    /// The latencies of all sequences with right responses only, in ns.
    pub(super) sequences: Vec<u64>,
    pub(super) bytes: u64,
    pub(super) connections: u64,
    /// By kind, in the order of [`FaultKind::ALL`].
    pub(super) faults: [u64; FaultKind::ALL.len()],
    pub(super) first_fault: Option<String>,
    /// Sequences with a fault.
    pub(super) failed: u64,
    /// Sequences without a fault that a limit cut short.
    pub(super) cut: u64,
    /// Sequences that were taken, and whose first request was never sent.
    pub(super) not_started: u64,
}

impl Tally {
    pub(super) fn right(&mut self, latency: Duration, bytes: u64) {
        self.requests.push(nanos(latency));
        self.bytes += bytes;
    }

    pub(super) fn whole(&mut self, latency: Duration) {
        self.sequences.push(nanos(latency));
    }

    pub(super) fn fault(&mut self, path: &str, fault: &Fault) {
        self.faults[fault.kind as usize] += 1;
        self.first_fault.get_or_insert_with(|| format!("GET /{path}: {fault}"));
    }

    /// Adds the counts of another client.
    pub(super) fn add(&mut self, mut other: Self) {
        self.requests.append(&mut other.requests);
        self.sequences.append(&mut other.sequences);
        self.bytes += other.bytes;
        self.connections += other.connections;
        self.faults.iter_mut().zip(other.faults).for_each(|(sum, count)| *sum += count);
        self.first_fault = self.first_fault.take().or(other.first_fault);
        self.failed += other.failed;
        self.cut += other.cut;
        self.not_started += other.not_started;
    }
}

/// 2⁶⁴ ns are more than 500 years.
fn nanos(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap_or(u64::MAX)
}
