//! [`Measured`]: what one play against a server has shown.

use super::Server;
use crate::format::Reader;
use crate::play::{Report, Settings, play};
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

/// What one play against a server has shown.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The client's report.
    pub report: Report,
    /// The CPU time of the server's processes meanwhile.
    pub cpu: Duration,
}

impl Measured {
    /// Plays a trace for some time.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read or played, or the system does not tell the CPU time.
    pub fn play(
        server: &Server,
        trace: &Path,
        settings: &Settings,
    ) -> Result<Self, Box<dyn Error>> {
        let reader = Reader::new(BufReader::new(File::open(trace)?))?;
        let before = server.cpu()?;
        let report = play(reader, &Settings { address: server.address, ..settings.clone() })?;
        Ok(Self { report, cpu: server.cpu()?.saturating_sub(before) })
    }

    /// The megabytes of bodies per second.
    #[must_use]
    pub fn megabytes(&self) -> f64 {
        self.report.bytes as f64 / 1e6 / self.report.wall.as_secs_f64()
    }

    /// The CPU time of a request, in microseconds.
    #[must_use]
    pub fn micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.report.requests.max(1) as f64
    }
}

/// The middle one of some values.
///
/// # Panics
///
/// If there are none.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
