//! A lane: the live queue of one color, and the right to run it.
//!
//! # Kinds of reference
//!
//! | type | is | counted |
//! |---|---|---|
//! | [`LaneRef`] | an owner: a cell, a cache, a look-up that is about to push | yes |
//! | [`LanePtr`] | a task's pointer to its lane; the task counts as an owner until it completes | no |
//! | [`ReadyLane`] | **the right to run the lane**, a value that cannot be copied | no |
//!
//! Everything in a lane's chain owns one reference, or relies on a cell's reference, which is given back only after
//! something that is scheduled later: so a lane that is held or queued is alive. Only the lane's holder gives a task's
//! reference back, and only after it has given the right away: while it runs a slice, the holder counts in a
//! thread-local ([`current`]), and adds the sum once ([`Hold::count_refs`](current::Hold::count_refs)).
//!
//! # The count of references
//!
//! One word counts the references to a lane, and says whether the table has it:
//!
//! | bits | meaning | changed by |
//! |---|---|---|
//! | 0 | published: the table has the lane, or gets it before the hold ends | the holder sets it once |
//! | above | references | their owners |
//!
//! Where the last reference goes depends on the other bit. The last reference to a published lane is given back under
//! the lock of its table shard, under which look-ups add references. The last reference to any other lane needs no
//! lock. Both are in one word, so that the exchange that takes the last reference also decides this. A thread that
//! reads the bit before the exchange may read an old value: the holder may publish the lane in between. Then the
//! exchange fails, because the bit has changed.
//! An owner that finds its own references only, and no bit, needs no exchange: nobody else has the lane.
//!
//! # Exclusion (G1)
//!
//! A `ReadyLane` is made in four places: by the push that found the chain idle ([`LanePtr::push`]); by the wake of a task
//! that has kept the lane ([`Schedule::resume`](crate::kernel::task::Schedule::resume)); by the last reader that leaves a
//! lane in which something waits ([`readers::leave`]); and by the end of an inline call, or of a behavior, behind whose node
//! something waits ([`Hold::hand_on`](current::Hold::hand_on)). It is consumed by [`ReadyLane::run`], which gives it back, or
//! ends with the chain idle, or leaves it to the task at the head: that task keeps the lane while it waits
//! (`lane/turn.rs`), and its state says which thread gets the right. So there is at most one for a lane at any time, and
//! only its owner polls. A lane in a deque is a `ReadyLane` in a deque: a thief takes the lane idle and whole.
//!
//! # States
//!
//! One table over all words of a lane. The state follows from the chain, the kind of its head, and the word `readers`.
//!
//! | state | head of the chain | `readers` | the right to run | transitions |
//! |---|---|---|---|---|
//! | **idle** | none | 0 | belongs to no thread | a push: queued. The own node is pushed: inline. A reader enters: shared |
//! | **queued** | any | 0 | a [`ReadyLane`] in a queue | a worker takes it: running |
//! | **running** | any but the own node | 0 | the thread's that runs the slice | the slice ends: queued, or idle. A task waits in a section: parked. A claim has its turn: taken. A reader has its turn: shared, or awaited |
//! | **stalled** | has had its turn; a producer behind it is half done (`stalled`) | 0 | as queued | as queued; the next slice begins with what remains |
//! | **parked** | a task with an open section, which waits | 0 | in the state word of that task | the wake of the task: queued |
//! | **taken** | a claim that has had its turn | 0 | the behavior's | its closure is over: running |
//! | **inline** | the own node | 0 | the thread's that has put the node there | the call is over: idle, or queued |
//! | **shared** | none; the tail counts the readers | 0 | belongs to no thread | the last reader leaves: idle. A push: awaited |
//! | **awaited** | any | n > 0 | belongs to no thread | the last reader leaves: queued |
//!
//! The other words do not depend on the state, with two exceptions: `refs` is not 0 unless the lane is idle, and `inner` and
//! `stalled` are touched only with the right to run. `refs` also tells whether the table has the lane ([`Count`]); the
//! priority word counts urgent nodes and says whether the queue is one by class (`ext/priority.rs`); `home` and `wished`
//! are hints. `slot` is the listeners' ([`LaneSlot`](crate::hooks::slots::LaneSlot)).
//!
//! # A turn
//!
//! [`ReadyLane::run`] gives one turn after the other to the node at the head. The turn of a node is code of the node's own
//! kind (`lane/turn.rs`): it answers what becomes of the node ([`AfterTurn`](base::AfterTurn)), and does what remains when
//! the node is out of the chain.
//!
//! # Order (G2)
//!
//! The chain is first-in first-out in the order of the swaps on its tail, and it belongs to the
//! lane, not to a worker: stealing the lane moves it unchanged.

pub(crate) mod base;
pub(crate) mod behavior;
pub(crate) mod current;
pub(crate) mod push;
pub(crate) mod readers;
pub(crate) mod refs;
pub(crate) mod turn;

pub(crate) use self::base::{Common, Dispatch, Held, Lane, LanePtr, Owner, ReadyLane, Tenure};
pub(crate) use self::behavior::BehaviorRef;
pub(crate) use self::current::{current_color, noted_time};
pub(crate) use self::refs::LaneRef;
pub(crate) use self::turn::{POLL_WEIGHT, Runner, Slice};

pub use self::refs::Address;

use crate::sync::{AtomicUsize, Ordering};

const PUBLISHED: usize = 1;
const ONE: usize = 2;

#[derive(Debug)]
pub(crate) struct Count(AtomicUsize);

/// The result of giving back references that may have been the last ones of a lane that is not published.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenBack {
    /// None is left, and no thread can add one.
    Last,
    /// Others are left.
    NotLast,
    /// The lane is published: none has been given back.
    Published,
}

impl Count {
    /// One reference.
    pub(crate) fn new(published: bool) -> Self {
        Self(AtomicUsize::new(ONE | usize::from(published)))
    }

    pub(crate) fn is_published(&self) -> bool {
        // Ordering: the holder sets it; others learn it through the table's lock, and the last owner by the exchange
        // that gives the last reference back.
        self.0.load(Ordering::Relaxed) & PUBLISHED != 0
    }

    /// Marks the lane as published; false if it was. Holder only.
    pub(crate) fn publish(&self) -> bool {
        // Ordering: see `is_published`. The holder keeps a reference, so the last one is not given back meanwhile.
        self.0.fetch_or(PUBLISHED, Ordering::Relaxed) & PUBLISHED == 0
    }

    /// How many references there are; may be out of date.
    pub(crate) fn get(&self) -> usize {
        // Ordering: the caller says why an old value will do.
        self.0.load(Ordering::Relaxed) / ONE
    }

    /// Adds references to one that exists, or under the lock of the table that has the lane.
    #[inline]
    pub(crate) fn retain(&self, refs: usize) {
        // Ordering: as for any reference count.
        self.0.fetch_add(refs * ONE, Ordering::Relaxed);
    }

    /// Gives references back if others are left; false if these are the last ones.
    #[inline]
    pub(crate) fn release_some(&self, refs: usize) -> bool {
        // Ordering: hint only, the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        while word / ONE > refs {
            // Ordering: Release orders this owner's use before the Acquire of the owner that takes the last one.
            match self.0.compare_exchange_weak(
                word,
                word - refs * ONE,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Gives references back unless the lane is published.
    pub(crate) fn release_unpublished(&self, refs: usize) -> GivenBack {
        // Ordering: Acquire pairs with the Release of all other owners.
        let mut word = self.0.load(Ordering::Acquire);
        if word == refs * ONE {
            // Ordering: no other owner is left that could add a reference, and only a holder publishes.
            self.0.store(0, Ordering::Relaxed);
            return GivenBack::Last;
        }
        loop {
            if word & PUBLISHED != 0 {
                return GivenBack::Published;
            }
            // Ordering: Release orders this owner's use before the free, Acquire the others'.
            match self.0.compare_exchange_weak(
                word,
                word - refs * ONE,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) if word / ONE == refs => return GivenBack::Last,
                Ok(_) => return GivenBack::NotLast,
                Err(now) => word = now,
            }
        }
    }

    /// Gives references to a published lane back, under the lock of its table shard; true if none is
    /// left.
    pub(crate) fn release_published(&self, refs: usize) -> bool {
        // Ordering: as in `release_unpublished`.
        self.0.fetch_sub(refs * ONE, Ordering::AcqRel) / ONE == refs
    }

    /// Makes the first reference to a lane that has none. No other thread can add one meanwhile.
    pub(crate) fn revive(&self) {
        // Ordering: a thread that finds the lane next does so through a lock that the caller has, or by a node that is
        // scheduled on it.
        self.0.fetch_add(ONE, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::base::ClaimLocks;
    use super::{Count, GivenBack};
    use std::collections::HashSet;

    /// Behaviors of other lanes do not wait for one lock.
    #[test]
    fn lanes_in_a_row_have_many_locks() {
        let locks = ClaimLocks::default();
        let distinct: HashSet<_> = (0..64).map(|lane| std::ptr::from_ref(locks.of(lane))).collect();
        assert!(distinct.len() > 16, "{} locks", distinct.len());
    }

    #[test]
    fn a_release_takes_the_last_reference_only_where_it_may() {
        let count = Count::new(false);
        count.retain(2);
        assert_eq!(count.release_unpublished(1), GivenBack::NotLast);
        assert!(count.release_some(1));
        assert!(!count.release_some(1), "the last one is not given back in passing");
        assert!(count.publish());
        assert!(!count.publish());
        assert_eq!(count.release_unpublished(1), GivenBack::Published);
        assert_eq!(count.get(), 1);
        assert!(count.release_published(1));
        assert_eq!(count.get(), 0);
        count.revive();
        assert!(count.is_published());
        assert_eq!(count.get(), 1);
    }

    #[test]
    fn an_unpublished_lane_loses_its_last_reference_once() {
        let count = Count::new(false);
        assert_eq!(count.release_unpublished(1), GivenBack::Last);
        assert_eq!(count.get(), 0);
    }
}
