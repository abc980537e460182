//! The source of sequences, which all clients share: [`Source`].

use super::report::{End, Stop};
use super::settings::{Arrivals, Settings};
use crate::format::{ParseError, Reader};
use crate::summary::Summary;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Hands out the sequences of a trace in order, until a limit is reached.
pub(super) struct Source<R> {
    start: Instant,
    arrivals: Arrivals,
    max_time: Duration,
    max_sequences: u64,
    is_stopped: AtomicBool,
    state: Mutex<State<R>>,
}

struct State<R> {
    reader: Reader<R>,
    taken: u64,
    summary: Summary,
    has_ended: bool,
    error: Option<ParseError>,
}

impl<R: BufRead> Source<R> {
    /// The time of the run starts now.
    pub(super) fn new(reader: Reader<R>, settings: &Settings) -> Self {
        let summary = Summary::new(reader.files());
        Self {
            start: Instant::now(),
            arrivals: settings.arrivals,
            max_time: settings.max_time,
            max_sequences: settings.max_sequences.unwrap_or(u64::MAX),
            is_stopped: AtomicBool::new(false),
            state: Mutex::new(State { reader, taken: 0, summary, has_ended: false, error: None }),
        }
    }

    /// Reads the next sequence into `sequence`, and returns the time of its scheduled arrival, which may be to come.
    /// In the closed loop this is the present. None if no sequence may start any more.
    pub(super) fn take(&self, sequence: &mut Vec<u32>) -> Option<Instant> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_over() || state.taken >= self.max_sequences {
            return None;
        }
        let arrival = self.arrival(state.taken)?;
        if !state.read(sequence) {
            return None;
        }
        state.summary.add(sequence);
        Some(arrival)
    }

    /// When the sequence with this number arrives; none if that is after the end of the time.
    fn arrival(&self, number: u64) -> Option<Instant> {
        let Arrivals::Open { rate } = self.arrivals else {
            return Some(Instant::now());
        };
        let after = number as f64 / rate;
        (after < self.max_time.as_secs_f64()).then(|| self.start + Duration::from_secs_f64(after))
    }

    /// Lets no more requests start.
    pub(super) fn stop(&self) {
        // Ordering: a hint that no client needs at a certain time; no other memory depends on it.
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether no request may start any more.
    pub(super) fn is_over(&self) -> bool {
        // Ordering: as in `stop`.
        self.is_stopped.load(Ordering::Relaxed) || self.start.elapsed() >= self.max_time
    }

    /// Why the run has ended, and the number of sequences that had arrived and were not started. All clients must
    /// have ended.
    pub(super) fn end(self, too_many_faults: bool) -> Result<End, ParseError> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (taken, has_ended) = (state.taken, state.has_ended);
        let mut ignored = Vec::new();
        if let Arrivals::Open { rate } = self.arrivals {
            let time = self.start.elapsed().min(self.max_time).as_secs_f64();
            let arrived = ((time * rate).ceil() as u64).min(self.max_sequences);
            while state.taken < arrived && state.read(&mut ignored) {}
        }
        if let Some(error) = state.error {
            return Err(error);
        }
        let stop = if too_many_faults {
            Stop::Faults
        } else if has_ended {
            Stop::TraceEnd
        } else if taken >= self.max_sequences {
            Stop::Sequences
        } else {
            Stop::Time
        };
        Ok(End { stop, not_started: state.taken - taken, summary: state.summary })
    }
}

impl<R: BufRead> State<R> {
    /// Reads a sequence. False at the end of the trace, or if it has an error.
    fn read(&mut self, sequence: &mut Vec<u32>) -> bool {
        if self.has_ended || self.error.is_some() {
            return false;
        }
        match self.reader.read(sequence) {
            Ok(true) => self.taken += 1,
            Ok(false) => self.has_ended = true,
            Err(error) => self.error = Some(error),
        }
        !self.has_ended && self.error.is_none()
    }
}
