//! Warnings: what a runtime says about itself unasked.
//!
//! The reactor thread observes a second of each minute, as `Handle::observe` does, while something runs: an idle
//! runtime is not looked at. What the report names first goes to the hook; see [`News`] for what is told again.

#[cfg(not(feature = "tracing"))]
#[path = "warnings/line.rs"]
mod tell;
#[cfg(feature = "tracing")]
#[path = "warnings/event.rs"]
mod tell;

use crate::dump::Patience;
use crate::observe::{Observation, PARTS};
use crate::report::{Finding, News, Report};
use crate::subject::Subject;
use crate::wall;
use colored_core::contain;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The function that hears of each warning.
pub type Hook = Arc<dyn Fn(&Finding) + Send + Sync>;

/// How often the runtime is observed, for how long, and when for the first time: a short program is not.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The time from the begin of the runtime to the first observation.
    pub first: Duration,
    /// The time from the end of one observation to the begin of the next one.
    pub every: Duration,
    /// The length of an observation.
    pub length: Duration,
}

impl Pace {
    /// One second of each minute, after the first ten seconds.
    pub const DEFAULT: Self = Self {
        first: Duration::from_secs(10),
        every: Duration::from_secs(60),
        length: Duration::from_secs(1),
    };
}

/// A snapshot looks at each color in use, and the reactor thread has other things to do: 5 ms for as many.
const MOST_COLORS: usize = 100_000;

/// The observation of a runtime by its reactor thread.
pub struct Warnings {
    hook: Option<Hook>,
    pace: Pace,
    begin: Instant,
    next: Duration,
    news: News,
    sample: Option<Observation>,
}

impl Warnings {
    /// The runtime begins now.
    #[must_use]
    pub fn new(hook: Option<Hook>, pace: Pace) -> Self {
        let (begin, news) = (wall::now(), News::default());
        Self { hook, pace, begin, next: pace.first, news, sample: None }
    }

    /// Looks at the clock, and at the runtime if it is time. Returns in which time the next look is due: none if that
    /// depends on whether the runtime does something.
    pub fn look(&mut self, subject: &Arc<dyn Subject>) -> Option<Duration> {
        let now = wall::since(self.begin);
        if let Some(sample) = &mut self.sample {
            sample.look();
        }
        if now < self.next {
            return self.sample.as_ref().map(|_| self.next - now);
        }
        let parts = match &mut self.sample {
            Some(sample) => sample.end_part(),
            None if subject.scheduler().lanes() > MOST_COLORS => PARTS,
            None => {
                self.sample = Some(Observation::begin(Arc::clone(subject), Patience::None));
                0
            }
        };
        if parts < PARTS {
            let part = self.pace.length / PARTS;
            self.next = now + part;
            return Some(part);
        }
        self.next = now + self.pace.every;
        if let Some(mut sample) = self.sample.take() {
            self.tell(&sample.report(), now);
        }
        None
    }

    fn tell(&mut self, report: &Report, now: Duration) {
        for finding in self.news.of(report, now) {
            match &self.hook {
                Some(hook) => contain(|| hook(finding)),
                None => tell::tell(finding),
            }
        }
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warnings").field("pace", &self.pace).finish_non_exhaustive()
    }
}
