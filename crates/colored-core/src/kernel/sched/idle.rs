//! The workers that sleep, that search, and that pause their thefts; and the choice of a worker to wake.
//!
//! A worker is *busy*, *searching* (looks for lanes in the injector and in other workers' deques) or
//! *parked*. One word counts the searching and the parked workers. So a producer learns in one load
//! whether it must wake a worker: it wakes none if a worker is searching, because that worker will
//! find the lane or wake the next.
//!
//! # No lane is left behind (G6)
//!
//! A producer *publishes* the lane (P1), then *looks* at the word (P2). A worker that goes to sleep
//! *announces* it in the word (W1), then *looks* at all queues once more (W2). Between P1 and P2,
//! and between W1 and W2, stands a sequentially consistent fence; of two such fences one comes
//! first. If the producer's fence comes first, W2 sees the lane. If the worker's fence comes first,
//! P2 sees the worker parked, or a searcher.
//!
//! A searcher that P2 saw has four ways to go on. It finds a lane, and wakes another worker if it
//! was the last searcher: where workers steal, in any case; where they do not, if it sees a lane in the queues that all
//! share, at which it looks behind a fence that follows the end of its search. That fence comes behind the producer's, or
//! P2 would not have seen the searcher; so the look sees the lane. It parks, looks again (W2), and is a searcher again if it finds something.
//! It goes on searching. Or it pauses ([`StealPause`]): it wakes another worker as if it had found a
//! lane, is busy for a bounded time, and then looks again.
//!
//! A spare worker (`worker/spare.rs`) that has not joined is in no state. It joins, and leaves, as a busy worker.
//!
//! # The pause of a thief after thefts that were not worth it
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
//! A pause loses no wake-up (G6). //! For the other workers a pausing worker is not parked. It counts as busy: its pause ends
//! by itself after a bounded time, as a slice does, and then it looks at all queues. So no thread wakes it, and no wake-up
//! can be lost. Meanwhile it sleeps, and runs only its own events and timers, its pinned lanes, and lanes that other threads
//! have left in the injector. If it was searching when its pause began, a producer may have relied on that. So it then acts
//! as a searcher that has found a lane: the last searcher wakes another worker.
//!
//! With priorities, and with a [`Policy`](crate::Policy), no worker pauses.
//!
//! What it is worth (2026-11-28, two cores, medians of three, the bench `papers`, rows `bank`): without it a transfer costs
//! 1,034 ns in place of 71 between two accounts, 264 in place of 104 among ten, and the same among a hundred or more.

use crate::sync::{AtomicUsize, Mutex, Ordering, fence};
use crossbeam_utils::CachePadded;

const SEARCHING: usize = 1;
const PARKED: usize = 1 << 16;

/// How many workers search.
fn searching(word: usize) -> usize {
    word % PARKED
}

/// The word has a line of its own: each dispatch reads it, and a thread that takes the lock takes the lock's line.
pub(crate) struct Idle {
    /// `searching + 2¹⁶ · parked`.
    word: CachePadded<AtomicUsize>,
    /// The parked workers change together with the word.
    sleepers: CachePadded<Mutex<Sleepers>>,
    workers: usize,
    /// Spare workers that have joined. Changes under the lock.
    joined: AtomicUsize,
    /// How often the parked workers were others. Changes under the lock.
    changes: AtomicUsize,
}

struct Sleepers {
    parked: Vec<usize>,
    /// How often a worker has parked, or a spare one left.
    ends: u64,
}

impl Idle {
    pub(super) fn new(workers: usize) -> Self {
        assert!(workers < PARKED, "at most {} workers, not {workers}", PARKED - 1);
        Self {
            word: CachePadded::new(AtomicUsize::new(0)),
            sleepers: CachePadded::new(Mutex::new(Sleepers {
                parked: Vec::with_capacity(workers),
                ends: 0,
            })),
            workers,
            joined: AtomicUsize::new(0),
            changes: AtomicUsize::new(0),
        }
    }

    /// How many workers are parked.
    pub(super) fn parked(&self) -> usize {
        // Ordering: hint only.
        self.word.load(Ordering::Relaxed) / PARKED
    }

    /// Whether a worker is parked.
    pub(super) fn is_parked(&self, worker: usize) -> bool {
        self.sleepers.lock().parked.contains(&worker)
    }

    /// A number that is another one if other workers are parked. For simulations.
    pub(super) fn changes(&self) -> usize {
        // Ordering: a thread that asks has the changes that count for it from the hand-over of the simulation.
        self.changes.load(Ordering::Relaxed)
    }

    /// Other workers are parked from now on. To be called under the lock.
    fn note_change(&self) {
        // Ordering: the lock orders all changes of the number.
        self.changes.store(self.changes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Appends the workers, of so many, that are not parked; `first` is added to each. For simulations, which ask before each
    /// turn: there are no more than 64 workers, and no spare ones.
    pub(super) fn append_unparked(&self, workers: usize, first: usize, to: &mut Vec<usize>) {
        let all = u64::MAX >> (64 - workers);
        let without = |left, worker: &usize| left & !(1 << worker);
        let mut left = self.sleepers.lock().parked.iter().fold(all, without);
        while left != 0 {
            to.push(first + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }

    /// Looks for a worker to wake, after a lane was published. The worker that it returns must be unparked, and counts as
    /// searching from now on.
    ///
    /// A searcher that has [stopped](Self::stop_searching) asks whether there is a lane that the worker might find: a
    /// producer whose lane `has_lanes` does not see, sees no searcher.
    #[inline]
    pub(super) fn notify(&self, has_lanes: impl FnOnce() -> bool) -> Option<usize> {
        // Ordering: the fence stands between P1 and P2, and pairs with the one in `park`.
        fence(Ordering::SeqCst);
        // Ordering: ordered by the fence.
        let word = self.word.load(Ordering::Relaxed);
        if searching(word) != 0 || word / PARKED == 0 || !has_lanes() {
            return None;
        }
        self.pop_sleeper()
    }

    #[cold]
    fn pop_sleeper(&self) -> Option<usize> {
        let mut sleepers = self.sleepers.lock();
        // Ordering: the lock orders all changes of the parked count, and the fence in `notify`
        // orders the rest.
        if searching(self.word.load(Ordering::Relaxed)) != 0 {
            return None;
        }
        let worker = sleepers.parked.pop()?;
        self.note_change();
        // Ordering: as above.
        self.word.fetch_sub(PARKED - SEARCHING, Ordering::Relaxed);
        Some(worker)
    }

    /// A busy worker wants to search; false if enough others do.
    pub(super) fn start_searching(&self) -> bool {
        // Ordering: hint only; too many searchers are a waste, not an error.
        let word = self.word.load(Ordering::Relaxed);
        if 2 * searching(word) >= self.workers {
            return false;
        }
        // Ordering: a producer that sees this count relies on the actions of `stop_searching` and
        // `park`.
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
        true
    }

    /// A searcher has found something; true if it was the last one, and must notify.
    pub(super) fn stop_searching(&self) -> bool {
        // Ordering: Release pairs with the Acquire in `park`: the searcher that is left relies on
        // this one to have looked, and sees the lanes that it put into its deque. `notify`, which
        // fences, finds the worker to wake.
        searching(self.word.fetch_sub(SEARCHING, Ordering::Release)) == 1
    }

    /// A worker goes to sleep. It must look at all queues afterwards, and may park if they are
    /// empty.
    pub(super) fn park(&self, worker: usize, searching: bool) {
        let change = PARKED - if searching { SEARCHING } else { 0 };
        let mut sleepers = self.sleepers.lock();
        sleepers.parked.push(worker);
        self.note_change();
        sleepers.ends += 1;
        // Ordering: W1 is ordered by the fence; Acquire pairs with the Release in `stop_searching`.
        self.word.fetch_add(change, Ordering::Acquire);
        drop(sleepers);
        // Ordering: the fence stands between W1 and W2, and pairs with the one in `notify`.
        fence(Ordering::SeqCst);
    }

    /// Whether all workers are parked, and all spare ones that have joined. A hint.
    pub(super) fn all_parked(&self) -> bool {
        // Ordering: hint only.
        self.parked() == self.workers + self.joined.load(Ordering::Relaxed)
    }

    /// Whether all workers are parked but the caller, which is not. A hint.
    pub(super) fn others_parked(&self) -> bool {
        // Ordering: hint only.
        self.parked() + 1 >= self.workers + self.joined.load(Ordering::Relaxed)
    }

    /// A spare worker joins. It is busy.
    pub(super) fn join(&self) {
        let _sleepers = self.sleepers.lock();
        // Ordering: the lock orders all changes of the number.
        self.joined.fetch_add(1, Ordering::Relaxed);
    }

    /// A spare worker that is busy leaves. It has no lanes.
    pub(super) fn leave(&self) {
        let mut sleepers = self.sleepers.lock();
        sleepers.ends += 1;
        // Ordering: the lock orders all changes of the number.
        self.joined.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether all workers are parked and `empty` says that nothing is queued, at one moment: a
    /// worker leaves the parked ones, under this lock, before it takes a lane. Of two such moments, the later one has
    /// another number if a worker has left the parked ones in between.
    pub(super) fn all_parked_and(&self, empty: impl FnOnce() -> bool) -> Option<u64> {
        let sleepers = self.sleepers.lock();
        // Ordering: the lock orders all changes of the number.
        let all = self.workers + self.joined.load(Ordering::Relaxed);
        (sleepers.parked.len() == all && empty()).then_some(sleepers.ends)
    }

    /// A worker that has announced its sleep has found the queues not empty, or was sent a lane that
    /// only it may run: it searches again. It must not just be busy, because a producer that saw it
    /// search relies on the wake-up that a searcher gives when it finds a lane. False if it was not
    /// parked.
    pub(super) fn search_again(&self, worker: usize) -> bool {
        self.take_out(worker, PARKED - SEARCHING)
    }

    /// Takes a worker out of the parked ones, and `change` from the word. False if it was not parked.
    fn take_out(&self, worker: usize, change: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let place = sleepers.parked.iter().position(|sleeper| *sleeper == worker);
        if let Some(place) = place {
            sleepers.parked.swap_remove(place);
            self.note_change();
            // Ordering: the lock orders all changes of the parked count.
            self.word.fetch_sub(change, Ordering::Relaxed);
        }
        place.is_some()
    }

    /// Calls one worker, after a lane was published for it alone, or for it first. True if the worker was
    /// parked and must be unparked: it counts as searching from now on. A worker that was not parked
    /// looks before it parks.
    pub(super) fn call(&self, worker: usize) -> bool {
        // Ordering: the fence stands between P1 and P2, as in `notify`.
        fence(Ordering::SeqCst);
        // Ordering: ordered by the fence.
        self.word.load(Ordering::Relaxed) / PARKED != 0 && self.search_again(worker)
    }

    /// A worker wakes up. True if it was chosen by [`Idle::notify`], and so counts as searching;
    /// false if it woke for another reason, and is busy now.
    pub(super) fn unpark(&self, worker: usize) -> bool {
        !self.take_out(worker, PARKED)
    }
}

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
pub(crate) struct StealPause {
    /// The last theft, until the worker has run dry.
    pub(crate) theft: Option<Spent>,
    /// Bad thefts in a row.
    bad: u32,
    /// When the pause is over; 0 if there is none.
    pub(crate) until: u64,
}

/// The counters of a worker at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) polls: u64,
    pub(crate) waits: u64,
    pub(crate) nanos: u64,
}

impl Spent {
    /// Whether there were many waits since `theft`, so that the time decides.
    pub(crate) fn may_be_bad(self, theft: Self) -> bool {
        (self.waits - theft.waits) * POLLS_PER_WAIT >= self.polls - theft.polls
    }

    pub(crate) fn is_bad(self, theft: Self) -> bool {
        self.may_be_bad(theft)
            && self.nanos - theft.nanos < (self.polls - theft.polls) * WORTH_NANOS
    }
}

impl StealPause {
    /// The worker has run dry after a theft.
    pub(crate) fn judge(&mut self, bad: bool, now: u64) {
        self.bad = if bad { self.bad.saturating_add(1) } else { 0 };
        if let Some(over) = self.bad.checked_sub(PATIENCE + 1) {
            self.until = now + (FIRST_PAUSE << over.min(DOUBLINGS));
        }
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Idle, Spent, StealPause};

    #[test]
    fn workers_that_are_not_parked_are_listed() {
        let idle = Idle::new(64);
        let mut listed = Vec::new();
        idle.park(1, false);
        idle.park(3, false);
        idle.append_unparked(5, 10, &mut listed);
        assert_eq!(listed, [10, 12, 14]);
        listed.clear();
        idle.append_unparked(64, 0, &mut listed);
        assert_eq!(listed.len(), 62);
    }

    #[test]
    fn a_worker_is_alone_beside_parked_ones_until_a_spare_one_joins() {
        let idle = Idle::new(3);
        idle.park(0, false);
        assert!(!idle.others_parked() && !idle.all_parked());
        idle.park(1, false);
        assert!(idle.others_parked() && !idle.all_parked());
        idle.join();
        assert!(!idle.others_parked());
        idle.leave();
        idle.park(2, false);
        assert!(idle.others_parked() && idle.all_parked());
    }

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
