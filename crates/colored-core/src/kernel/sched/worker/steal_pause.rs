//! The pause of a thief after thefts that were not worth it.
//!
//! A lane that is stolen may stop at once: its task wants colors that another worker has in use all the
//! time, and waits ([`when`](crate::when())). Then nothing has run in parallel, and both workers have
//! paid: the worker that had the colors in its cache now finds a line behind each of them. A thief that
//! runs dry after such a theft would steal again at once.
//!
//! So the thief judges its last theft. The theft was **bad** if, until the thief had run dry,
//!
//! * there was a `when` that had to wait for each four polls or less, and
//! * a poll took less than two microseconds on average: a task that works before it waits, or between two
//!   waits, does that work in parallel.
//!
//! After the second bad theft in a row, and each that follows, the thief **pauses**: it takes nothing from
//! other workers' queues for the length of one slice, then of two, up to eight. A good theft ends the
//! row.
//!
//! # Why a pause loses no wake-up (G6)
//!
//! For the other workers a pausing worker is not parked. It counts as busy: its pause ends by itself after
//! a bounded time, as a slice does, and then it looks at all queues. So no thread wakes it, and no
//! wake-up can be lost. Meanwhile it sleeps, and runs only its own events and timers, its pinned lanes,
//! and lanes that other threads have left in the injector. If it was searching when its pause began, a
//! producer may have relied on that. So it then acts as a searcher that has found a lane (`idle.rs`): the
//! last searcher wakes another worker.
//!
//! With priorities, and with a [`Policy`](crate::Policy), no worker pauses.
//!
//! What it is worth (2026-11-28, two cores, medians of three, the bench `papers`, rows `bank`): without it a transfer costs 1,034 ns
//! in place of 71 between two accounts, 264 in place of 104 among ten, and the same among a hundred or more.

/// Polls for each `when` that had to wait, at most, of a bad theft. A client that does nothing else
/// has two: its own, and the turn that ends its wait. Of 2, 4 and 8 none was better than another.
const POLLS_PER_WAIT: u64 = 4;

/// Nanoseconds of a poll, on average, from which on a theft is good. To wait in a line costs some 400. Of
/// 1, 2 and 4 µs none was better than another for transfers that cost nothing.
const WORTH_NANOS: u64 = 2_000;

/// How many bad thefts in a row cause no pause. With three more, a transfer between two of 10 accounts
/// takes a tenth longer; with none there is no difference.
const PATIENCE: u32 = 1;

/// Nanoseconds of the first pause: a slice. 1 ms is the same for two workers.
const FIRST_PAUSE: u64 = 200_000;

/// How often the pause doubles: the more workers there are, the more come back.
const DOUBLINGS: u32 = 3;

/// What a worker knows of its thefts.
#[derive(Debug, Default)]
pub(super) struct StealPause {
    /// The last theft, until the worker has run dry.
    pub(super) theft: Option<Spent>,
    /// Bad thefts in a row.
    bad: u32,
    /// When the pause is over; 0 if there is none.
    pub(super) until: u64,
}

/// The counters of a worker at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    pub(super) polls: u64,
    pub(super) waits: u64,
    pub(super) nanos: u64,
}

impl Spent {
    /// Whether there were many waits since `theft`, so that the time decides.
    pub(super) fn may_be_bad(self, theft: Self) -> bool {
        (self.waits - theft.waits) * POLLS_PER_WAIT >= self.polls - theft.polls
    }

    pub(super) fn is_bad(self, theft: Self) -> bool {
        self.may_be_bad(theft)
            && self.nanos - theft.nanos < (self.polls - theft.polls) * WORTH_NANOS
    }
}

impl StealPause {
    /// The worker has run dry after a theft.
    pub(super) fn judge(&mut self, bad: bool, now: u64) {
        self.bad = if bad { self.bad.saturating_add(1) } else { 0 };
        if let Some(over) = self.bad.checked_sub(PATIENCE + 1) {
            self.until = now + (FIRST_PAUSE << over.min(DOUBLINGS));
        }
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Spent, StealPause};

    fn is_bad(polls: u64, waits: u64, nanos: u64) -> bool {
        let theft = Spent { polls: 10, waits: 5, nanos: 1_000 };
        Spent { polls: 10 + polls, waits: 5 + waits, nanos: 1_000 + nanos }.is_bad(theft)
    }

    #[test]
    fn a_theft_is_bad_if_it_brought_little_but_waits() {
        assert!(is_bad(40, 10, 79_999));
        assert!(!is_bad(41, 10, 79_999), "there is other work");
        assert!(!is_bad(40, 10, 80_000), "the polls are worth it");
        assert!(!is_bad(40, 0, 1), "nobody had to wait");
    }

    #[test]
    fn rests_begin_with_the_second_and_double_three_times() {
        let mut pause = StealPause::default();
        let mut pause = |bad| {
            pause.until = 0;
            pause.judge(bad, 1);
            pause.until.saturating_sub(1) / 1_000
        };
        let pauses = [true; 7].map(&mut pause);
        assert_eq!(pauses, [0, 200, 400, 800, 1_600, 1_600, 1_600]);
        // A good theft ends the row.
        assert_eq!([false, true, true].map(pause), [0, 0, 200]);
    }
}
