//! The controller behind its lock, and the clock.

use super::control::Control;
use crate::wall;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest interval.
pub(super) const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// The state that clones and admitted requests share.
pub(super) struct Shared {
    control: Mutex<Control>,
    pub(super) running: AtomicU64,
    origin: Instant,
    pub(super) target: Duration,
    pub(super) interval: Duration,
}

impl Shared {
    pub(super) fn new(target: Duration, interval: Duration) -> Self {
        let control = Mutex::new(Control::new(nanos(target), nanos(interval)));
        let (running, origin) = (AtomicU64::new(0), wall::now());
        Self { control, running, origin, target, interval }
    }

    /// The controller, and the present time. The clock is read under the lock, so that the controller never sees it go
    /// back.
    pub(super) fn lock(&self) -> (MutexGuard<'_, Control>, u64) {
        let control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.time(wall::now());
        (control, now)
    }

    /// Time begins a year before this was made, so that earlier arrivals have a time, too.
    pub(super) fn time(&self, moment: Instant) -> u64 {
        let after = moment.saturating_duration_since(self.origin);
        let before = self.origin.saturating_duration_since(moment);
        nanos(YEAR.saturating_add(after).saturating_sub(before))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
