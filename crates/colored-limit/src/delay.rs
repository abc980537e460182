//! An estimate of how long items wait for their turn, without a list of the items.
//!
//! The estimate keeps the wait of the item that began last, and the time of the last move of the
//! queue: an item began, or was dropped before it began, or entered an empty queue. The items of
//! one limit begin in the order in which they were scheduled. So the age of the oldest item in the
//! queue is at least the time since the last move, and exceeds this time by at most the last wait.
//! The greater of the two is **at least half of its age**, and never more than the wait of some
//! item.
//!
//! An empty queue is not stuck, however long ago its last move is. Hence an item that enters an
//! empty queue first records the move, and then that the queue is not empty.

use colored_core::port::sync::{AtomicU64, AtomicUsize, Ordering};

/// All times are nanoseconds of one clock.
pub(crate) struct Delay {
    /// Items that are scheduled and have not begun.
    queued: AtomicUsize,
    last: AtomicU64,
    moved: AtomicU64,
}

impl Delay {
    pub(crate) fn new() -> Self {
        let (queued, last, moved) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Self { queued, last, moved }
    }

    /// An item is scheduled.
    #[inline]
    pub(crate) fn record_scheduled(&self, now: u64) {
        // Ordering: Acquire takes the move that emptied the queue, so that its time is not put
        // back.
        if self.queued.load(Ordering::Acquire) == 0 {
            // Ordering: the count publishes the value.
            self.moved.fetch_max(now, Ordering::Relaxed);
        }
        // Ordering: Release publishes the move, for the Acquire in `at`.
        self.queued.fetch_add(1, Ordering::Release);
    }

    /// An item that was scheduled at `since` begins, under the color.
    #[inline]
    pub(crate) fn record_begin(&self, since: u64, now: u64) {
        // Ordering: the count publishes the value. No two items begin at the same time.
        self.last.store(now.saturating_sub(since), Ordering::Relaxed);
        self.moved.store(now, Ordering::Relaxed);
        // Ordering: Release, as above.
        self.queued.fetch_sub(1, Ordering::Release);
    }

    /// An item that was never scheduled begins. This says nothing about the queue.
    #[inline]
    pub(crate) fn record_immediate(&self) {
        // Ordering: figures, not signals.
        if self.queued.load(Ordering::Relaxed) == 0 {
            self.last.store(0, Ordering::Relaxed);
        }
    }

    /// An item is dropped before it began.
    #[cold]
    pub(crate) fn record_drop(&self, now: u64) {
        // Ordering: as in `scheduled`.
        self.moved.fetch_max(now, Ordering::Relaxed);
        self.queued.fetch_sub(1, Ordering::Release);
    }

    pub(crate) fn queued(&self) -> usize {
        // Ordering: a figure, not a signal.
        self.queued.load(Ordering::Relaxed)
    }

    /// The wait of the last item, or the time since the last move of a non-empty queue, if that is
    /// longer. `now` was read before the call.
    pub(crate) fn at(&self, now: u64) -> u64 {
        // Ordering: Acquire takes the last move before the queue reached this state.
        let stands = self.queued.load(Ordering::Acquire) > 0;
        // Ordering: the count publishes the value.
        let last = self.last.load(Ordering::Relaxed);
        if !stands {
            return last;
        }
        last.max(now.saturating_sub(self.moved.load(Ordering::Relaxed)))
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::Delay;

    #[test]
    fn a_queue_that_stands_still_grows_old_and_an_empty_one_does_not() {
        let delay = Delay::new();
        assert_eq!((delay.queued(), delay.at(1_000)), (0, 0));
        delay.record_scheduled(1_000);
        delay.record_scheduled(1_030);
        assert_eq!((delay.queued(), delay.at(1_040)), (2, 40));
        delay.record_begin(1_000, 1_050);
        // The queued item is 25 old: the last one has waited longer.
        assert_eq!((delay.queued(), delay.at(1_055)), (1, 50));
        assert_eq!(delay.at(1_150), 100, "of 120");
        delay.record_begin(1_030, 1_150);
        assert_eq!((delay.queued(), delay.at(9_000)), (0, 120));
        delay.record_scheduled(9_000);
        assert_eq!(delay.at(9_200), 200, "since it came, not since the last one went");
    }

    #[test]
    fn what_goes_unbegun_and_what_begins_at_once() {
        let delay = Delay::new();
        delay.record_scheduled(10);
        delay.record_scheduled(49);
        delay.record_drop(50);
        assert_eq!((delay.queued(), delay.at(51)), (1, 1));
        delay.record_begin(49, 60);
        delay.record_scheduled(70);
        delay.record_immediate();
        assert_eq!(delay.at(71), 11, "it says nothing about the queue");
        delay.record_begin(70, 72);
        delay.record_immediate();
        assert_eq!(delay.at(80), 0);
    }

    /// Random queues against the exact delays: the estimate is at least half of the oldest item's
    /// age, and never more than the wait of some item.
    #[test]
    fn it_is_at_least_half_of_the_age_of_the_oldest() {
        let mut seed = 1_u64;
        let mut dice = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..100 {
            let (delay, mut queue) = (Delay::new(), std::collections::VecDeque::new());
            let (mut now, mut last) = (0, 0);
            for _ in 0..200 {
                now += 1 + dice(50);
                if dice(2) == 0 {
                    delay.record_scheduled(now);
                    queue.push_back(now);
                } else if let Some(since) = queue.pop_front() {
                    delay.record_begin(since, now);
                    last = now - since;
                }
                now += dice(50);
                let (said, oldest) = (delay.at(now), queue.front().map_or(0, |since| now - since));
                assert!(2 * said >= oldest, "{said} of {oldest}");
                assert!(said <= oldest.max(last), "{said} of {oldest}, {last}");
                assert_eq!(delay.queued(), queue.len());
            }
        }
    }
}
