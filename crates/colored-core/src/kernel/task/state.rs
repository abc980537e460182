//! One word per task: its stage of life, the interest in it, and the number of references to it.
//!
//! | flag | set by | cleared by | meaning |
//! |---|---|---|---|
//! | `SCHEDULED` | the spawn; a wake or abort that finds it clear | the lane's holder, at the end of a poll | its node has a turn in its lane, or is in it |
//! | `NOTIFIED` | a wake or abort that finds `SCHEDULED` | the lane's holder, at the begin of a poll | it has been woken since |
//! | `COMPLETE` | the lane's holder, once | never | the future is gone, the output is there |
//! | `ABORTED` | an abort | never | instead of the next poll the future is dropped |
//! | `INTEREST` | the spawn | the handle's drop | the handle wants the output |
//! | `JOINER` | the handle | the handle | the joiner's waker is set, and is the task's to take |
//! | `KEPT` | the lane's holder | the lane's holder | while it waits, its lane waits with it |
//! | sections | the task's own polls | any thread | how many sections of it are open: it keeps its lane |
//!
//! | `SCHEDULED` | `NOTIFIED` | `KEPT` | the task's node is | the next wake |
//! |---|---|---|---|---|
//! | 0 | 0 | 0 | in no chain | sets `SCHEDULED` and puts the node on the task's lane |
//! | 0 | 0 | 1 | at the head of its lane's chain, which no thread runs | sets `SCHEDULED` and dispatches the lane |
//! | 1 | 0 | | in its lane's chain, or on the way there; at its head during the poll | sets `NOTIFIED` |
//! | 1 | 1 | | the same | changes nothing |
//!
//! So at any time at most one owner may move the node: the thread that has set `SCHEDULED`, until it has put the node
//! on the lane; then the lane's holder, until it clears `SCHEDULED`. The search for deadlocks sets it for a moment, and
//! clears it again unless the task has been woken meanwhile. Only that owner may read or change the task's lane. That
//! is what makes a hop exact: a wake that comes while the task moves finds `SCHEDULED` and does not look at the lane.
//!
//! # A turn
//!
//! While `SCHEDULED` is set only the holder clears it, and all that other threads wrote before the node came to the
//! lane comes with the chain. So a turn begins with a load, and a task that yields, or hops, ends one without writing
//! the word. The load looks for wakes since: one that it sees is taken by an exchange, which acquires what the waker
//! wrote. One that it misses is found at the end of the poll, by the exchange that would clear `SCHEDULED`; and then
//! the task stays scheduled. So after every wake a poll begins that sees what the waker wrote.
//!
//! # Sections
//!
//! A task that keeps its lane gives two rights away with the exchange that clears `SCHEDULED`: to move the node, and to
//! run the lane. The thread that sets it again has both. Sections are counted here, and not in the lane, so that one
//! can end on any thread: the last one to end wakes a task that waits, and the lane's holder finds that no section
//! needs the lane any more. `KEPT` says nothing while `SCHEDULED` is set.
//!
//! # The last reference
//!
//! If an owner has the only reference, no other thread can use the task: further references are made from one that
//! exists, or by the poll. So it needs no exchange to end.
//!
//! # Answers
//!
//! A transition answers with the action that its caller must take.

use crate::sync::{AtomicUsize, Ordering};

const SCHEDULED: usize = 1;
const NOTIFIED: usize = 1 << 1;
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

/// A wake that finds one of these does not move the node.
const PLACED: usize = SCHEDULED | COMPLETE;
const SPAWNED: usize = SCHEDULED | INTEREST | (2 * REF);

/// The state word.
#[derive(Debug)]
pub(crate) struct State(AtomicUsize);

impl State {
    /// A task that its maker schedules, with a handle: two references.
    pub(crate) fn spawned() -> Self {
        Self(AtomicUsize::new(SPAWNED))
    }

    /// A waker fired and stays.
    #[inline]
    pub(crate) fn wake(&self) -> Woken {
        self.wake_and(0)
    }

    /// An abort of the task.
    pub(crate) fn abort(&self) -> Woken {
        self.wake_and(ABORTED)
    }

    #[inline]
    fn wake_and(&self, flags: usize) -> Woken {
        // Ordering: Release makes what the waker wrote visible to the poll it causes, by the chain or by `begin`, which
        // acquires: so also if nothing changes. Acquire lets the caller read the lane that the last poll left (`end`
        // releases).
        self.change(Ordering::AcqRel, |before| {
            let (after, woken) = Self::woken(before);
            (Some(after | flags), woken)
        })
    }

    /// A waker fired and its reference goes.
    #[inline]
    pub(crate) fn wake_and_release(&self) -> Woken {
        // Ordering: as in `wake_and`; Release also orders this owner's use before the free.
        let woken = self.change(Ordering::AcqRel, |before| {
            let (after, woken) = Self::woken(before);
            let after = after - REF;
            (Some(after), if after / REF == 0 { Woken::Free } else { woken })
        });
        if woken == Woken::Free {
            self.acquire_last();
        }
        woken
    }

    /// Changes the word to what `next` makes of it, with that ordering, or not if it makes nothing of it. Returns the
    /// answer beside.
    #[inline(always)]
    fn change<R>(&self, changed: Ordering, next: impl Fn(usize) -> (Option<usize>, R)) -> R {
        // Ordering: hint only, the exchange decides; a `NOTIFIED` that it sees stays set.
        let mut before = self.0.load(Ordering::Relaxed);
        loop {
            let (after, answer) = next(before);
            let Some(after) = after else { return answer };
            // Ordering: the callers give the one of a change.
            match self.0.compare_exchange_weak(before, after, changed, Ordering::Relaxed) {
                Ok(_) => return answer,
                Err(now) => before = now,
            }
        }
    }

    /// The word after a wake that finds this one, and the action that the wake must take.
    #[inline]
    fn woken(before: usize) -> (usize, Woken) {
        match (before & PLACED == 0, before & KEPT == 0) {
            (true, true) => (before | SCHEDULED, Woken::Schedule),
            (true, false) => (before | SCHEDULED, Woken::Resume),
            (false, _) => (before | NOTIFIED, Woken::Nothing),
        }
    }

    /// Whether the handle exists. A hint.
    pub(crate) fn has_handle(&self) -> bool {
        // Ordering: hint only.
        self.0.load(Ordering::Relaxed) & INTEREST != 0
    }

    /// The task's turn has come. Only the holder calls this.
    #[inline]
    pub(crate) fn begin(&self) -> Begun {
        // Ordering: the chain brings what was before the task was scheduled. A wake that came
        // later and is missed here is found by `end`.
        let mut word = self.0.load(Ordering::Relaxed);
        debug_assert_eq!(word & PLACED, SCHEDULED, "a task at the head of its lane is scheduled");
        if word & NOTIFIED != 0 {
            // Ordering: Acquire pairs with the Release of every wake so far.
            word = self.0.fetch_and(!NOTIFIED, Ordering::Acquire);
        }
        if word & ABORTED == 0 { Begun::Poll } else { Begun::Cancel }
    }

    /// The action that the task needs after its poll. Only the holder calls this. The answer may be out of date: the
    /// task may have been woken, or its last section ended, meanwhile.
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

    /// Whether it has been woken since its poll began. Only the holder calls this; false may be out of date.
    pub(crate) fn is_notified(&self) -> bool {
        // Ordering: hint only.
        self.0.load(Ordering::Relaxed) & NOTIFIED != 0
    }

    /// The poll was not ready, and the task waits unless it has been woken. Only the holder calls this; the node must
    /// be out of its chain.
    #[inline]
    pub(crate) fn end(&self) -> Ended {
        // Ordering: Release hands the future and the lane to the thread that schedules the task next.
        self.change(Ordering::Release, |before| {
            debug_assert_eq!(before & PLACED, SCHEDULED, "only a scheduled task ends a poll");
            if before & NOTIFIED != 0 {
                return (None, Ended::Reschedule);
            }
            (Some(before & !(SCHEDULED | KEPT)), Ended::Waiting)
        })
    }

    /// The poll was not ready and the task keeps its lane. Only the holder calls this; the node stays at the head.
    pub(crate) fn end_keeping(&self) -> Kept {
        // Ordering: Release hands the future and the lane to the thread that wakes the task.
        self.change(Ordering::Release, |before| {
            if before & SECTIONS == 0 {
                return (None, Kept::Over);
            }
            if before & NOTIFIED != 0 {
                return (None, Kept::Again);
            }
            (Some((before | KEPT) & !SCHEDULED), Kept::Waiting)
        })
    }

    /// Takes the right to move a task that waits, as a wake does; returns whether it keeps its lane. `None` if the task
    /// does not wait: another owner has the right, or it is complete.
    pub(crate) fn pause(&self) -> Option<bool> {
        // Ordering: Acquire takes what the last poll left.
        self.change(Ordering::Acquire, |before| {
            if before & PLACED != 0 {
                return (None, None);
            }
            (Some(before | SCHEDULED), Some(before & KEPT != 0))
        })
    }

    /// Gives the right of [`pause`](Self::pause) back. Unless the task waits on, the caller still has it, and must act
    /// as the answer says.
    pub(crate) fn unpause(&self) -> Woken {
        // Ordering: Release orders the reads in the pause before the next poll.
        self.change(Ordering::Release, |before| {
            let keeps = before & KEPT != 0;
            if before & NOTIFIED != 0 || (keeps && before & SECTIONS == 0) {
                return (None, if keeps { Woken::Resume } else { Woken::Schedule });
            }
            (Some(before & !SCHEDULED), Woken::Nothing)
        })
    }

    /// A section of the task begins, with a reference. Only called from within its poll; false if there are too many.
    pub(crate) fn enter_section(&self) -> bool {
        // Ordering: only this thread adds sections now, so there are no more than it sees.
        if self.0.load(Ordering::Relaxed) & SECTIONS == SECTIONS {
            return false;
        }
        // Ordering: the end of this poll releases it; a reference as in `retain`.
        self.0.fetch_add(SECTION + REF, Ordering::Relaxed);
        true
    }

    /// A section ends, and its reference goes. Any thread may call this.
    pub(crate) fn leave_section(&self) -> Woken {
        // Ordering: as in `wake_and_release`.
        let woken = self.change(Ordering::AcqRel, |before| {
            let left = before - SECTION - REF;
            if left & SECTIONS == 0 && before & (PLACED | KEPT) == KEPT {
                return (Some(left | SCHEDULED), Woken::Resume);
            }
            (Some(left), if left / REF == 0 { Woken::Free } else { Woken::Nothing })
        });
        if woken == Woken::Free {
            self.acquire_last();
        }
        woken
    }

    /// Whether a section is open. Only called from within its poll.
    pub(crate) fn has_sections(&self) -> bool {
        // Ordering: sections are added by this thread; one that ends elsewhere meanwhile may be seen
        // late.
        self.0.load(Ordering::Relaxed) & SECTIONS != 0
    }

    /// The output is stored. Only the holder calls this.
    #[inline]
    pub(crate) fn complete(&self) -> Completed {
        // Ordering: Acquire pairs with the Release of every owner that has gone.
        let word = self.0.load(Ordering::Acquire);
        debug_assert_eq!(word & PLACED, SCHEDULED, "only a scheduled task completes");
        if word & INTEREST == 0 && word / REF == 1 {
            // Ordering: the runtime's reference is the only one.
            self.0.store(word ^ (SCHEDULED | COMPLETE), Ordering::Relaxed);
            return Completed::DropOutput;
        }
        // Ordering: Release publishes the output to the handle's Acquire; Acquire makes the
        // joiner's waker visible (`set_joiner` releases).
        let before = self.0.fetch_xor(SCHEDULED | COMPLETE, Ordering::AcqRel);
        match (before & INTEREST != 0, before & JOINER != 0) {
            (false, _) => Completed::DropOutput,
            (true, false) => Completed::Keep,
            (true, true) => Completed::WakeJoiner,
        }
    }

    /// Whether the future is gone.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        // Ordering: pairs with the Release of `complete`.
        self.0.load(Ordering::Acquire) & COMPLETE != 0
    }

    /// The handle looks.
    #[inline]
    pub(crate) fn joinable(&self) -> Joinable {
        // Ordering: pairs with the Release of `complete`.
        Self::joinable_of(self.0.load(Ordering::Acquire))
    }

    /// The handle has written the joiner's waker and hands it over, unless the task is complete.
    #[inline]
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

    #[inline]
    fn joinable_of(word: usize) -> Joinable {
        match (word & COMPLETE != 0, word & JOINER != 0) {
            (true, _) => Joinable::Complete,
            (false, false) => Joinable::NoWaker,
            (false, true) => Joinable::HasWaker,
        }
    }

    /// The handle goes before any thread has changed the word: one exchange, the reference included.
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

    /// The handle goes. `Complete`: the output is its to drop. Otherwise the joiner's waker is. The handle's reference
    /// stays.
    #[inline]
    pub(crate) fn drop_interest(&self) -> Joinable {
        self.change_joiner(|before| before & !(JOINER | INTEREST))
    }

    /// Whether no turn is coming, and the future is there. May be out of date.
    pub(crate) fn is_waiting(&self) -> bool {
        // Ordering: a hint, for texts.
        self.0.load(Ordering::Relaxed) & PLACED == 0
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

    /// As [`release`](Self::release), by an owner that is often the last.
    #[inline]
    pub(crate) fn release_late(&self) -> bool {
        // Ordering: Acquire pairs with the Release of all other owners.
        self.0.load(Ordering::Acquire) / REF == 1 || self.release()
    }

    #[inline]
    fn acquire_last(&self) {
        // Ordering: pairs with the Release of all other owners: the free comes after their use. A
        // load, not a fence, because ThreadSanitizer does not see fences.
        self.0.load(Ordering::Acquire);
    }
}

/// The action that a wake must take.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The caller has made the task ready and must put it on its lane.
    Schedule,
    /// As `Schedule`, but the task has kept its lane, at whose head it is: the caller must dispatch
    /// that lane.
    Resume,
    /// The owner that may move it will poll it, or no poll is needed.
    Nothing,
    /// As `Nothing`, and the reference given up was the last: the caller must free the task.
    Free,
}

/// The holder's action on a task whose turn has come.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    Poll,
    Cancel,
}

/// The holder's action after a poll that was not ready.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It waits for a wake; it may already run again elsewhere: do not touch it.
    Waiting,
    /// It was woken meanwhile: put it on its lane.
    Reschedule,
}

/// The intention of a task whose poll was not ready.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// To wait.
    Wait,
    /// To be polled again: it has been woken meanwhile.
    Again,
    /// To keep its lane, whether it waits or not.
    Lane,
}

/// The outcome for a task that keeps its lane.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It waits. Task and lane may already run elsewhere: touch neither.
    Waiting,
    /// It was woken meanwhile, and the lane is still the caller's: it has the next turn.
    Again,
    /// Its last section has ended meanwhile: end its poll as any other's. It is still scheduled.
    Over,
}

/// Whether the handle waits for the output that has just been stored.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// There is no handle any more: drop the output.
    DropOutput,
    /// The handle exists but has no waker set.
    Keep,
    /// Wake the joiner.
    WakeJoiner,
}

/// The handle's view of the state.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joinable {
    /// The output is there and is the handle's to take.
    Complete,
    /// Not yet, and the waker is the handle's to write.
    NoWaker,
    /// Not yet, and the waker is shared: it may be read only.
    HasWaker,
}
