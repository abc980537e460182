//! What a row is made from.

use colored::runtime::Tuning;
use colored_benches::Runtimes;
use colored_benches::measure::{Mode, Pace};
use colored_benches::rivals::{Serial, Unique};
use std::cell::OnceCell;
use std::time::Duration;

pub(crate) use colored_benches::rivals::workers;

/// The mode of the run, and the runtimes, which start when a row wants them.
pub(crate) struct Setup {
    pub(crate) mode: Mode,
    runtimes: OnceCell<Runtimes>,
    fine: OnceCell<Unique>,
}

impl Setup {
    pub(crate) const fn new(mode: Mode) -> Self {
        Self { mode, runtimes: OnceCell::new(), fine: OnceCell::new() }
    }

    /// `colored` and tokio.
    pub(crate) fn runtimes(&self) -> Runtimes {
        *self.runtimes.get_or_init(Runtimes::start)
    }

    /// `colored` with timers that wake a worker five times as often as by default.
    pub(crate) fn fine(&self) -> Unique {
        let start = || {
            let fine = Tuning::new().timer_resolution(Duration::from_micros(200));
            Serial::start(colored::Runtime::builder().workers(workers()).tuning(fine)).unique()
        };
        *self.fine.get_or_init(start)
    }

    /// Rounds of a case whose samples take milliseconds.
    pub(crate) const fn pace(&self) -> Pace {
        Pace::Within(Duration::from_millis(1_200))
    }

    /// Rounds of a case whose samples take longer.
    pub(crate) const fn rounds(&self, count: usize) -> Pace {
        match self.mode {
            Mode::Full | Mode::Quick => Pace::Rounds(count),
            Mode::Smoke => Pace::Rounds(1),
        }
    }

    /// A count, or a small one that only shows that the row works.
    pub(crate) fn count(&self, measured: u64, smoke: u64) -> u64 {
        if self.mode == Mode::Smoke { smoke } else { measured }
    }
}
