//! One word per behavior: how many lanes it lacks, and whether its wait is recorded.
//!
//! | bits | meaning | changed by |
//! |---|---|---|
//! | 0 | known to the recorder of waits (`sched/waits.rs`) | who records it; nobody clears it |
//! | above | lanes that are missing, and one for the thread that enqueues | who gets some for it |
//!
//! Who gets a lane notes it in the claim, and takes it off here then. Who records a behavior makes it
//! known here, and looks at its claims then. Both are exchanges of this one word. So a lane that a
//! behavior has got while it lacks others is either seen by who records it, or got by somebody who
//! finds that it is known: that one reports the lane, and takes it off afterwards, while the behavior
//! is sure to be there.

use crate::sync::{AtomicUsize, Ordering};

const KNOWN: usize = 1;
const LANE: usize = 1 << 1;

#[derive(Debug)]
pub(super) struct Missing(AtomicUsize);

/// What came of taking some off.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Nothing is missing any more.
    Last,
    /// Others are missing, and the behavior may be gone.
    NotYet,
    /// None has been taken off: the behavior is known, lacks others, and these are to be reported first.
    Unreported,
}

impl Missing {
    /// So many lanes, and one for the thread that enqueues.
    pub(super) fn new(lanes: usize) -> Self {
        Self(AtomicUsize::new((lanes + 1) * LANE))
    }

    /// Whether others are missing beside so many. May be out of date.
    pub(super) fn is_beside(&self, granted: usize) -> bool {
        // Ordering: hint only.
        self.0.load(Ordering::Relaxed) / LANE > granted
    }

    /// Takes so many off.
    pub(super) fn take(&self, granted: usize, are_reported: bool) -> Taken {
        // Ordering: hint only, the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let is_last = word / LANE == granted;
            if !is_last && !are_reported && word & KNOWN != 0 {
                return Taken::Unreported;
            }
            // Ordering: Release hands the lane, as its holder leaves it, to who takes the last one, and
            // what is noted in the claim to who makes the behavior known; Acquire takes the others.
            match self.0.compare_exchange_weak(
                word,
                word - granted * LANE,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) if is_last => return Taken::Last,
                Ok(_) => return Taken::NotYet,
                Err(now) => word = now,
            }
        }
    }

    /// Makes the behavior known.
    pub(super) fn make_known(&self) {
        // Ordering: Acquire pairs with the Release of `take`: what was got before is seen in the claims.
        self.0.fetch_or(KNOWN, Ordering::AcqRel);
    }

    /// Whether it is known. For who has all lanes.
    pub(super) fn is_known(&self) -> bool {
        // Ordering: it was made known before the last lane was taken off, or under the lock of the slot
        // that whoever asks has had since.
        self.0.load(Ordering::Relaxed) & KNOWN != 0
    }
}
