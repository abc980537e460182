//! [`CoarseClock`]: how often a worker or a guest looks at the clock.

use super::Scheduler;

/// Polls between two looks at the clock while polls are short: a look costs some 20 ns.
const POLLS_PER_LOOK: u32 = 8;

/// Nanoseconds between two looks above which the clock is read after every poll. With 100 µs the HTTP
/// rows of `benches/ratio.rs` are the same.
const SLOW_NANOS: u64 = 16_000;

/// The time, as a worker or a guest sees it: read now and then, more often while polls are slow.
#[derive(Debug)]
pub(crate) struct CoarseClock {
    pub(crate) now: u64,
    /// Up to this time the samples of run times are charged.
    pub(crate) charged: u64,
    until_look: u32,
    per_look: u32,
}

impl Default for CoarseClock {
    fn default() -> Self {
        Self { now: 0, charged: 0, until_look: 1, per_look: 1 }
    }
}

impl CoarseClock {
    /// A turn is over. True if this has read the time.
    #[inline]
    pub(crate) fn tick(&mut self, scheduler: &Scheduler) -> bool {
        self.until_look -= 1;
        let looks = self.until_look == 0;
        if looks {
            let before = self.now;
            self.look(scheduler);
            let slow = self.now - before > SLOW_NANOS;
            self.per_look = if slow { 1 } else { POLLS_PER_LOOK };
            self.until_look = self.per_look;
        }
        looks
    }

    pub(crate) fn look(&mut self, scheduler: &Scheduler) {
        self.now = scheduler.park.now().max(self.now);
    }
}
