//! One word per task: where it is in its life, who is interested in it, and how many hold it.
//!
//! | flag | set by | cleared by | meaning |
//! |---|---|---|---|
//! | `NOTIFIED` | a wake, an abort, the spawn | the poll it causes | it is to be polled (again) |
//! | `RUNNING` | the lane's holder | the lane's holder | it is being polled |
//! | `COMPLETE` | the lane's holder, once | nobody | the future is gone, the output is there |
//! | `ABORTED` | an abort | nobody | instead of the next poll the future is dropped |
//! | `INTEREST` | the spawn | the handle's drop | somebody wants the output |
//! | `JOINER` | the handle | the handle | the joiner's waker is set, and is the task's to read |
//! | `KEPT` | the lane's holder | the lane's holder | while it waits, its lane waits with it |
//! | sections | the task's own polls | anybody | how many sections of it are open: it keeps its lane |
//!
//! | `NOTIFIED` | `RUNNING` | `KEPT` | the task's node is | the next wake |
//! |---|---|---|---|---|
//! | 0 | 0 | 0 | in no chain | sets `NOTIFIED` and puts the node on the task's lane |
//! | 0 | 0 | 1 | at the head of its lane's chain, which nobody runs | sets `NOTIFIED` and dispatches the lane |
//! | 1 | 0 | | in its lane's chain | does nothing |
//! | 0 | 1 | | at the head of its lane's chain | sets `NOTIFIED` |
//! | 1 | 1 | | at the head of its lane's chain | does nothing |
//!
//! So at any time at most one party may move the node: whoever turned `00` into `10`, until the
//! poll; then the lane's holder, until it clears `RUNNING`. The same party, and no other, may read
//! or change the task's lane. That is what makes a hop exact: a wake that comes while the task
//! moves finds `RUNNING` or `NOTIFIED` and does not look at the lane.
//!
//! A task woken during its own poll is scheduled when that poll ends.
//!
//! A task that keeps its lane gives two rights away with the exchange that clears `RUNNING`: to move
//! the node, and to run the lane. Whoever turns `00` into `10` has both. Sections are counted here,
//! and not in the lane, so that one can end anywhere: the last one to end wakes a task that waits,
//! and the lane's holder finds that there is nothing left to keep it for.

mod outcome;

pub(crate) use self::outcome::{Begun, Completed, Ended, Joinable, Kept, Wants, Woken};

use crate::sync::{AtomicUsize, Ordering};

const NOTIFIED: usize = 1;
const RUNNING: usize = 1 << 1;
const COMPLETE: usize = 1 << 2;
const ABORTED: usize = 1 << 3;
const INTEREST: usize = 1 << 4;
const JOINER: usize = 1 << 5;
const KEPT: usize = 1 << 6;
const SECTION: usize = 1 << 7;
/// Sections of one task that can be open at once.
pub(crate) const MOST_SECTIONS: usize = 127;
const SECTIONS: usize = SECTION * MOST_SECTIONS;
const REF: usize = 1 << 14;

const PLACED: usize = NOTIFIED | RUNNING | COMPLETE;
const SPAWNED: usize = NOTIFIED | INTEREST | (2 * REF);

/// The state word.
#[derive(Debug)]
pub(crate) struct State(AtomicUsize);

impl State {
    /// A task that is ready, with a handle: two references.
    pub(crate) fn spawned() -> Self {
        Self(AtomicUsize::new(SPAWNED))
    }

    /// A waker fired and stays.
    #[inline]
    pub(crate) fn wake(&self) -> Woken {
        // Ordering: Release makes what the waker wrote visible to the poll it causes (`begin`
        // acquires), also when the flag was set already; Acquire lets the caller read the lane
        // that the last poll left (`end` releases).
        Self::woken(self.0.fetch_or(NOTIFIED, Ordering::AcqRel))
    }

    /// A waker fired and its reference goes.
    #[inline]
    pub(crate) fn wake_and_release(&self) -> Woken {
        // Ordering: hint only, the exchange decides.
        let mut before = self.0.load(Ordering::Relaxed);
        loop {
            let after = (before | NOTIFIED) - REF;
            // Ordering: as in `wake`; Release also orders this owner's use before the free.
            match self.0.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if before & PLACED == 0 => return Self::woken(before),
                Ok(_) if after / REF == 0 => {
                    self.acquire_last();
                    return Woken::Free;
                }
                Ok(_) => return Woken::Nothing,
                Err(now) => before = now,
            }
        }
    }

    /// Somebody aborts the task.
    pub(crate) fn abort(&self) -> Woken {
        // Ordering: as in `wake`.
        Self::woken(self.0.fetch_or(NOTIFIED | ABORTED, Ordering::AcqRel))
    }

    /// What a wake must do that found this word.
    #[inline]
    fn woken(before: usize) -> Woken {
        match (before & PLACED == 0, before & KEPT == 0) {
            (true, true) => Woken::Schedule,
            (true, false) => Woken::Resume,
            (false, _) => Woken::Nothing,
        }
    }

    /// Its turn has come. Holder only.
    #[inline]
    pub(crate) fn begin(&self) -> Begun {
        // One exclusive-or does both, for NOTIFIED is known to be set and RUNNING to be clear.
        // Ordering: Acquire pairs with the Release of every wake so far; Release is for the
        // wakers that find RUNNING and so do not read the lane.
        let before = self.0.fetch_xor(NOTIFIED | RUNNING, Ordering::AcqRel);
        debug_assert_eq!(before & PLACED, NOTIFIED, "a task at the head of its lane is notified");
        if before & ABORTED == 0 { Begun::Poll } else { Begun::Cancel }
    }

    /// What it wants after its poll. Holder only; may be out of date: it may have been woken, or
    /// its last section ended, meanwhile.
    #[inline]
    pub(crate) fn wants(&self) -> Wants {
        // Ordering: hint only, `end` and `end_keeping` decide.
        let word = self.0.load(Ordering::Relaxed);
        match (word & SECTIONS == 0, word & NOTIFIED == 0) {
            (true, true) => Wants::Wait,
            (true, false) => Wants::Again,
            (false, _) => Wants::Lane,
        }
    }

    /// Whether it waits and does not keep its lane, so that its node is in no chain. A wake that is not
    /// seen here comes after this.
    pub(crate) fn is_out(&self) -> bool {
        // Ordering: an exchange, for what it sees must not be out of date. Release pairs with the
        // Acquire of the wake that comes next: what was pushed before this is before that task.
        self.0.fetch_or(0, Ordering::AcqRel) & (PLACED | KEPT) == 0
    }

    /// Whether it has been woken since its poll began. Holder only; false may be out of date.
    pub(crate) fn is_notified(&self) -> bool {
        // Ordering: hint only.
        self.0.load(Ordering::Relaxed) & NOTIFIED != 0
    }

    /// The poll was not ready. Holder only; the node must be out of its chain or stay scheduled.
    #[inline]
    pub(crate) fn end(&self) -> Ended {
        // Ordering: Release hands the future and the lane to whoever schedules it next.
        let before = self.0.fetch_and(!(RUNNING | KEPT), Ordering::AcqRel);
        debug_assert_eq!(before & (RUNNING | COMPLETE), RUNNING, "only a running task ends a poll");
        if before & NOTIFIED == 0 { Ended::Waiting } else { Ended::Reschedule }
    }

    /// The poll was not ready and the task is to be polled again whatever happens. Holder only.
    #[inline]
    pub(crate) fn end_notified(&self) {
        // Ordering: hint only, the exchange decides.
        let mut before = self.0.load(Ordering::Relaxed);
        loop {
            let after = (before | NOTIFIED) & !(RUNNING | KEPT);
            // Ordering: as in `end`.
            match self.0.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    /// The poll was not ready and the task keeps its lane. Holder only; the node stays at the head.
    pub(crate) fn end_keeping(&self) -> Kept {
        // Ordering: hint only, the exchange decides.
        let mut before = self.0.load(Ordering::Relaxed);
        loop {
            if before & SECTIONS == 0 {
                return Kept::Over;
            }
            let (after, kept) = match before & NOTIFIED == 0 {
                true => ((before | KEPT) & !RUNNING, Kept::Waiting),
                false => (before & !RUNNING, Kept::Again),
            };
            // Ordering: Release hands the future and the lane to whoever wakes the task.
            match self.0.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return kept,
                Err(now) => before = now,
            }
        }
    }

    /// A section of the task begins, with a reference. From within its poll only; false if there
    /// are too many.
    pub(crate) fn enter_section(&self) -> bool {
        // Ordering: only this thread adds sections now, so there are no more than it sees.
        if self.0.load(Ordering::Relaxed) & SECTIONS == SECTIONS {
            return false;
        }
        // Ordering: the end of this poll releases it; a reference as in `retain`.
        self.0.fetch_add(SECTION + REF, Ordering::Relaxed);
        true
    }

    /// A section ends, and its reference goes. From anywhere.
    pub(crate) fn leave_section(&self) -> Woken {
        // Ordering: hint only, the exchange decides.
        let mut before = self.0.load(Ordering::Relaxed);
        loop {
            let left = before - SECTION - REF;
            let resumes = left & SECTIONS == 0 && before & (PLACED | KEPT) == KEPT;
            let after = if resumes { left | NOTIFIED } else { left };
            // Ordering: as in `wake_and_release`.
            match self.0.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if resumes => return Woken::Resume,
                Ok(_) if after / REF == 0 => {
                    self.acquire_last();
                    return Woken::Free;
                }
                Ok(_) => return Woken::Nothing,
                Err(now) => before = now,
            }
        }
    }

    /// Whether a section is open. From within its poll.
    pub(crate) fn has_sections(&self) -> bool {
        // Ordering: sections are added by this thread; one that ends elsewhere meanwhile may be seen
        // late.
        self.0.load(Ordering::Relaxed) & SECTIONS != 0
    }

    /// The output is stored. Holder only.
    #[inline]
    pub(crate) fn complete(&self) -> Completed {
        // Ordering: Release publishes the output to the handle's Acquire; Acquire makes the
        // joiner's waker visible (`set_joiner` releases).
        let before = self.0.fetch_xor(RUNNING | COMPLETE, Ordering::AcqRel);
        debug_assert_eq!(before & (RUNNING | COMPLETE), RUNNING, "only a running task completes");
        match (before & INTEREST != 0, before & JOINER != 0) {
            (false, _) => Completed::DropOutput,
            (true, false) => Completed::Keep,
            (true, true) => Completed::WakeJoiner,
        }
    }

    /// Whether the future is gone.
    pub(crate) fn is_complete(&self) -> bool {
        // Ordering: pairs with the Release of `complete`.
        self.0.load(Ordering::Acquire) & COMPLETE != 0
    }

    /// The handle looks.
    pub(crate) fn joinable(&self) -> Joinable {
        // Ordering: pairs with the Release of `complete`.
        Self::joinable_of(self.0.load(Ordering::Acquire))
    }

    /// The handle has written the joiner's waker and hands it over, unless the task is complete.
    pub(crate) fn set_joiner(&self) -> Joinable {
        self.change_joiner(|before| before | JOINER)
    }

    /// The handle takes the joiner's waker back to change it, unless the task is complete.
    pub(crate) fn unset_joiner(&self) -> Joinable {
        self.change_joiner(|before| before & !JOINER)
    }

    fn change_joiner(&self, change: impl Fn(usize) -> usize) -> Joinable {
        // Ordering: as in `joinable`.
        let mut before = self.0.load(Ordering::Acquire);
        loop {
            if before & COMPLETE != 0 {
                return Joinable::Complete;
            }
            let after = change(before);
            // Ordering: Release publishes the waker to `complete`; Acquire pairs with `complete`.
            match self.0.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Self::joinable_of(after),
                Err(now) => before = now,
            }
        }
    }

    fn joinable_of(word: usize) -> Joinable {
        match (word & COMPLETE != 0, word & JOINER != 0) {
            (true, _) => Joinable::Complete,
            (false, false) => Joinable::NoWaker,
            (false, true) => Joinable::HasWaker,
        }
    }

    /// The handle goes before the task was ever touched: one exchange, the reference included.
    #[inline]
    pub(crate) fn detach_fast(&self) -> bool {
        // Ordering: Release orders the handle's use before the free.
        self.0
            .compare_exchange(
                SPAWNED,
                SPAWNED - REF - INTEREST,
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// The handle goes. `Complete`: the output is its to drop. Otherwise the joiner's waker is.
    /// The handle's reference stays.
    pub(crate) fn drop_interest(&self) -> Joinable {
        self.change_joiner(|before| before & !(JOINER | INTEREST))
    }

    /// One more reference.
    #[inline]
    pub(crate) fn retain(&self) {
        // Ordering: a new reference comes from an existing one, which orders it.
        let before = self.0.fetch_add(REF, Ordering::Relaxed);
        assert!(before < usize::MAX / 2, "too many references to one task");
    }

    /// One reference less; true if it was the last and the caller must free the task.
    #[inline]
    pub(crate) fn release(&self) -> bool {
        // Ordering: Release orders this owner's use before the free.
        let before = self.0.fetch_sub(REF, Ordering::Release);
        debug_assert!(before >= REF, "a reference that nobody held was released");
        let last = before / REF == 1;
        if last {
            self.acquire_last();
        }
        last
    }

    fn acquire_last(&self) {
        // Ordering: pairs with the Release of all other owners: the free comes after their use. A
        // load, not a fence, because ThreadSanitizer does not see fences.
        self.0.load(Ordering::Acquire);
    }
}
