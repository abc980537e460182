//! One client: [`Client`].

use super::http::Http;
use super::settings::Settings;
use super::source::Source;
use super::tally::Tally;
use crate::place;
use std::io::BufRead;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The longest sleep before a scheduled arrival, so that a client soon sees that the run is over.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Plays sequence after sequence.
pub(super) struct Client<'a, R> {
    settings: &'a Settings,
    files: &'a [u64],
    source: &'a Source<R>,
    /// The faults of all clients.
    faults: &'a AtomicU64,
    http: Http<'a>,
    tally: Tally,
}

impl<'a, R: BufRead> Client<'a, R> {
    pub(super) fn new(
        settings: &'a Settings,
        files: &'a [u64],
        source: &'a Source<R>,
        faults: &'a AtomicU64,
    ) -> Self {
        let http = Http::new(settings);
        Self { settings, files, source, faults, http, tally: Tally::default() }
    }

    /// Plays until the source has no more sequences.
    pub(super) fn run(mut self) -> Tally {
        let mut sequence = Vec::new();
        while let Some(arrival) = self.source.take(&mut sequence) {
            if self.wait_until(arrival) {
                self.play(arrival, &sequence);
            } else {
                // Faults may have ended the run before the arrival.
                self.tally.not_started += u64::from(arrival <= Instant::now());
            }
        }
        self.tally.connections = self.http.connections;
        self.tally
    }

    /// False if the run is over before.
    fn wait_until(&self, arrival: Instant) -> bool {
        loop {
            if self.source.is_over() {
                return false;
            }
            match arrival.saturating_duration_since(Instant::now()) {
                Duration::ZERO => return true,
                left => thread::sleep(left.min(LONGEST_SLEEP)),
            }
        }
    }

    fn play(&mut self, arrival: Instant, sequence: &[u32]) {
        let (mut start, mut has_failed) = (arrival, false);
        for (n, &file) in sequence.iter().enumerate() {
            if n > 0 && self.source.is_over() {
                self.http.close();
                self.tally.cut += u64::from(!has_failed);
                self.tally.failed += u64::from(has_failed);
                return;
            }
            // The parser lets only numbers of files pass.
            let size = self.files[file as usize];
            match self.http.get(file, size) {
                Ok(()) => self.tally.right(start.elapsed(), size),
                Err(fault) => {
                    has_failed = true;
                    self.tally.fault(&place::path(file), &fault);
                    // Ordering: only the count matters; no other memory depends on it.
                    if self.faults.fetch_add(1, Ordering::Relaxed) + 1 >= self.settings.max_faults {
                        self.source.stop();
                    }
                }
            }
            start = Instant::now();
        }
        self.http.close();
        if has_failed {
            self.tally.failed += 1;
        } else {
            self.tally.whole(arrival.elapsed());
        }
    }
}
