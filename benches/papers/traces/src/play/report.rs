//! The result of a run: [`Report`].

use super::fault::FaultKind;
use super::latency::Latency;
use super::tally::Tally;
use crate::summary::Summary;
use std::fmt;
use std::time::Duration;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The trace has no more sequences.
    TraceEnd,
    /// The time limit.
    Time,
    /// The limit of the number of sequences.
    Sequences,
    /// The limit of the number of faults.
    Faults,
}

/// The end of a run, as the source sees it.
pub(super) struct End {
    pub(super) stop: Stop,
    /// Sequences that had arrived, and that no client has taken.
    pub(super) not_started: u64,
    /// Of the sequences that clients have taken.
    pub(super) summary: Summary,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// Why the run ended.
    pub stop: Stop,
    /// The time from the start of the first client to the end of the last.
    pub wall: Duration,
    /// The number of requests with a right response.
    pub requests: u64,
    /// The bytes of the bodies of these responses.
    pub bytes: u64,
    /// The number of sequences with right responses only.
    pub sequences: u64,
    /// The number of sequences with at least one fault.
    pub failed_sequences: u64,
    /// The number of sequences without a fault that a limit cut short.
    pub cut_sequences: u64,
    /// The number of sequences that had arrived in the open loop, and were not started.
    pub not_started: u64,
    /// The number of files in the sequences that were taken.
    pub files: u64,
    /// The bytes of these files, each counted once.
    pub footprint: u64,
    /// The number of connections opened.
    pub connections: u64,
    /// The latencies of the requests with a right response.
    pub request_latency: Latency,
    /// The latencies of the sequences with right responses only.
    pub sequence_latency: Latency,
    /// One of the first faults, with its request.
    pub first_fault: Option<String>,
    faults: [u64; FaultKind::ALL.len()],
}

impl Report {
    pub(super) fn new(tallies: Vec<Tally>, wall: Duration, end: &End) -> Self {
        let mut all = Tally::default();
        tallies.into_iter().for_each(|tally| all.add(tally));
        let (request_latency, sequence_latency) =
            (Latency::of(all.requests), Latency::of(all.sequences));
        Self {
            stop: end.stop,
            wall,
            requests: request_latency.count,
            bytes: all.bytes,
            sequences: sequence_latency.count,
            failed_sequences: all.failed,
            cut_sequences: all.cut,
            not_started: end.not_started + all.not_started,
            files: end.summary.files(),
            footprint: end.summary.footprint(),
            connections: all.connections,
            request_latency,
            sequence_latency,
            first_fault: all.first_fault,
            faults: all.faults,
        }
    }

    /// The number of faults of a kind. Every request that was sent has a right response or one fault.
    #[must_use]
    pub const fn faults(&self, kind: FaultKind) -> u64 {
        self.faults[kind as usize]
    }

    /// The number of faults of all kinds.
    #[must_use]
    pub fn all_faults(&self) -> u64 {
        self.faults.iter().sum()
    }

    /// Right responses per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.wall.as_secs_f64()
    }

    /// Bytes of bodies per second, in units of 10⁶.
    #[must_use]
    pub fn megabytes_per_second(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.wall.as_secs_f64()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.stop {
            Stop::TraceEnd => "the end of the trace",
            Stop::Time => "the time limit",
            Stop::Sequences => "the limit of sequences",
            Stop::Faults => "too many faults",
        };
        writeln!(f, "ended by      {end}, after {:.3} s", self.wall.as_secs_f64())?;
        writeln!(f, "requests      {:>10} {:>12.1} /s", self.requests, self.rate())?;
        let mega = self.bytes as f64 / 1e6;
        writeln!(f, "MB            {mega:>10.1} {:>12.1} /s", self.megabytes_per_second())?;
        writeln!(f, "files         {:>10} {:>12.1} MB", self.files, self.footprint as f64 / 1e6)?;
        writeln!(f, "connections   {:>10}", self.connections)?;
        write!(f, "sequences     {:>10}", self.sequences)?;
        for (count, name) in [
            (self.failed_sequences, "failed"),
            (self.cut_sequences, "cut short"),
            (self.not_started, "not started"),
        ] {
            if count > 0 {
                write!(f, ", {count} {name}")?;
            }
        }
        write!(f, "\nfaults        {:>10}", self.all_faults())?;
        for kind in FaultKind::ALL.into_iter().filter(|&kind| self.faults(kind) > 0) {
            write!(f, ", {} {}", self.faults(kind), kind.name())?;
        }
        if let Some(fault) = &self.first_fault {
            write!(f, "\nfirst fault   {fault}")?;
        }
        let heads = ["mean", "p50", "p99", "p99.9", "max"];
        write!(f, "\n\nlatency, ms  ")?;
        heads.iter().try_for_each(|head| write!(f, "{head:>11}"))?;
        for (name, latency) in
            [("request", self.request_latency), ("sequence", self.sequence_latency)]
        {
            write!(f, "\n{name:<13}")?;
            for time in [latency.mean, latency.p50, latency.p99, latency.p999, latency.max] {
                write!(f, "{:>11.3}", time.as_secs_f64() * 1e3)?;
            }
        }
        writeln!(f)
    }
}
