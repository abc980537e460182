//! The cooperative budget: how many operations of one poll may succeed before the task has to let
//! others run.
//!
//! A task that always finds data would never return from its poll, and its color, its worker and
//! its worker's I/O would wait for it. So every leaf future of the runtime (sockets, timers, join
//! handles) takes one unit for each operation that succeeds; at zero it wakes the task and returns
//! `Pending`.

use crate::sync::thread_slot;
use std::cell::Cell;
use std::task::{Context, Poll};

/// Units a poll begins with.
///
/// tokio's value.
pub const PER_POLL: u32 = 128;

const UNCONSTRAINED: u32 = u32::MAX;

thread_slot!(static LEFT: Cell<u32> = Cell::new(UNCONSTRAINED));
#[cfg(feature = "sim")]
thread_slot!(static BEGIN: Cell<u32> = Cell::new(PER_POLL));

/// What is left of the budget of a poll, and with what polls begin.
#[cfg(feature = "sim")]
pub(crate) struct Budget {
    left: Cell<u32>,
    begin: Cell<u32>,
}

#[cfg(feature = "sim")]
impl Budget {
    /// That of a thread that polls nothing.
    pub(crate) const fn new() -> Self {
        Self { left: Cell::new(UNCONSTRAINED), begin: Cell::new(PER_POLL) }
    }

    /// Exchanges this thread's for this one.
    pub(crate) fn exchange(&self) {
        LEFT.with(|left| left.swap(&self.left));
        BEGIN.with(|begin| begin.swap(&self.begin));
    }
}

/// Takes one unit. At zero, wakes the task and returns `Pending`, which the caller must return.
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    LEFT.with(|left| match left.get() {
        UNCONSTRAINED => Poll::Ready(()),
        0 => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        some => {
            left.set(some - 1);
            Poll::Ready(())
        }
    })
}

/// Takes up to so many units, for an operation that took as long as so many.
#[inline]
pub fn spend(units: u32) {
    LEFT.with(|left| {
        if left.get() != UNCONSTRAINED {
            left.set(left.get().saturating_sub(units));
        }
    });
}

/// Gives a unit back, for an operation that made no progress.
#[inline]
pub fn give_back() {
    LEFT.with(|left| {
        if left.get() < PER_POLL {
            left.set(left.get() + 1);
        }
    });
}

/// Whether the current poll has budget left, so that the next operation would not have to wait for
/// it.
#[must_use]
pub fn has_remaining() -> bool {
    LEFT.with(Cell::get) != 0
}

/// As [`has_remaining`]. At zero, wakes the task and returns `Pending`, which the caller must return.
#[inline]
pub fn poll_remaining(cx: &mut Context<'_>) -> Poll<()> {
    if has_remaining() {
        return Poll::Ready(());
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// The units that the current poll has left, and more than [`PER_POLL`] without a limit: to see whether an operation took one.
#[inline]
#[must_use]
pub fn remaining() -> u32 {
    LEFT.with(Cell::get)
}

/// Runs `f` with no limit, and restores the rest afterwards, also when `f` panics.
pub fn unlimited<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore(LEFT.with(|left| left.replace(UNCONSTRAINED)));
    f()
}

/// Sets the rest of this thread's budget: for tests of leaves outside a runtime.
#[doc(hidden)]
pub fn set(units: u32) {
    LEFT.with(|left| left.set(units));
}

/// Sets the units with which polls of this thread begin from now on, in place of [`PER_POLL`]: for simulations, in which a
/// task lets others run after few operations, or before its first one. No more than `PER_POLL`.
#[cfg(feature = "sim")]
pub fn begin_polls_with(units: u32) {
    BEGIN.with(|begin| begin.set(units.min(PER_POLL)));
}

/// Runs one poll with a fresh budget.
#[inline]
pub(crate) fn fresh<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore(LEFT.with(|left| left.replace(units_of_a_poll())));
    f()
}

#[cfg(feature = "sim")]
fn units_of_a_poll() -> u32 {
    BEGIN.with(Cell::get)
}

#[cfg(not(feature = "sim"))]
fn units_of_a_poll() -> u32 {
    PER_POLL
}

struct Restore(u32);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        LEFT.with(|left| left.set(self.0));
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{
        PER_POLL, fresh, give_back, has_remaining, poll_proceed, poll_remaining, remaining, spend,
        unlimited,
    };
    use std::task::{Context, Waker};

    #[test]
    fn a_poll_has_so_many_units_and_a_unit_can_be_given_back() {
        let mut cx = Context::from_waker(Waker::noop());
        fresh(|| {
            for _ in 0..PER_POLL {
                assert!(poll_proceed(&mut cx).is_ready());
            }
            assert!(!has_remaining());
            assert!(poll_proceed(&mut cx).is_pending());
            assert!(poll_remaining(&mut cx).is_pending());
            assert!(unlimited(|| poll_remaining(&mut cx).is_ready() && remaining() > PER_POLL));
            assert!(unlimited(|| poll_proceed(&mut cx).is_ready()));
            give_back();
            assert!(poll_proceed(&mut cx).is_ready());
            assert!(poll_proceed(&mut cx).is_pending());
        });
        fresh(|| {
            spend(PER_POLL - 1);
            assert!(poll_proceed(&mut cx).is_ready());
            assert!(poll_proceed(&mut cx).is_pending());
            spend(1);
            assert!(!has_remaining(), "it does not go below zero");
        });
        spend(1);
        assert!(has_remaining(), "outside a poll there is no limit");
    }

    #[cfg(feature = "sim")]
    #[test]
    fn polls_of_a_simulation_begin_with_fewer_units() {
        use super::begin_polls_with;

        let mut cx = Context::from_waker(Waker::noop());
        begin_polls_with(1);
        fresh(|| {
            assert!(poll_proceed(&mut cx).is_ready());
            assert!(poll_proceed(&mut cx).is_pending());
        });
        begin_polls_with(0);
        fresh(|| assert!(poll_proceed(&mut cx).is_pending()));
        begin_polls_with(PER_POLL);
    }
}
