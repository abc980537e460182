//! The time of closures that run at once, on the threads of their callers.

use super::lane::{call_begins, call_ends, lent, recorded_now};
use crate::ext::meter::{self, At};
use crate::kernel::lane::base::{Lane, LanePtr};
use crate::kernel::lane::current;
use std::ptr;

/// A closure that runs at once, while its scheduler records: its time counts for each of its lanes, and not for the lane
/// of its caller. Costs two reads of the clock.
///
/// While nothing is recorded it is one look at a word. A closure that panics is measured like any other: the caller catches
/// the panic.
pub(crate) struct InlineCall(Option<Recorded>);

struct Recorded {
    since: At,
    /// The lane that the thread holds, if it is none of the closure's.
    caller: Option<LanePtr>,
}

impl InlineCall {
    /// The closure is about to run, and no [`Hold`](current::Hold) of its lanes has begun for it. Lanes of another
    /// scheduler than the first one's are not measured.
    ///
    /// # Safety
    ///
    /// This thread has taken these lanes, which are alive.
    #[inline(always)]
    pub(crate) unsafe fn begin<L>(lanes: L) -> Self
    where
        L: Iterator<Item = LanePtr> + Clone,
    {
        // SAFETY: the caller promises that this thread has taken the lanes, which are alive.
        Self(if meter::is_on() { unsafe { Recorded::begin(lanes) } } else { None })
    }

    /// The closure has returned, or has panicked.
    ///
    /// # Safety
    ///
    /// These are the lanes of [`begin`](Self::begin), which this thread still has.
    #[inline(always)]
    pub(crate) unsafe fn end(self, lanes: impl Iterator<Item = LanePtr> + Clone) {
        if let Some(recorded) = self.0 {
            // SAFETY: the caller promises that these are the lanes of `begin`, which this thread still has.
            unsafe { recorded.end(lanes) };
        }
    }
}

impl Recorded {
    /// # Safety
    ///
    /// As for [`InlineCall::begin`].
    #[cold]
    unsafe fn begin<L>(lanes: L) -> Option<Self>
    where
        L: Iterator<Item = LanePtr> + Clone,
    {
        // SAFETY: the caller promises that the lane is alive.
        let first = unsafe { lanes.clone().next()?.get() };
        let since = recorded_now(first)?;
        // SAFETY: the caller promises that this thread has taken the lanes, which are alive.
        unsafe { each_beside(first, lanes.clone()) }.for_each(|lane| call_begins(lane, since));
        let caller = current::lane().filter(|caller| lanes.clone().all(|lane| lane != *caller));
        Some(Self { since, caller })
    }

    /// # Safety
    ///
    /// As for [`InlineCall::end`].
    #[cold]
    unsafe fn end(self, lanes: impl Iterator<Item = LanePtr> + Clone) {
        let Some(first) = lanes.clone().next() else { return };
        // SAFETY: the caller promises that this thread has the lanes, which are alive therefore.
        let first = unsafe { first.get() };
        let Some(at) = recorded_now(first) else { return };
        // SAFETY: as above.
        unsafe { each_beside(first, lanes) }.for_each(|lane| call_ends(lane, at));
        if let Some(caller) = self.caller {
            // SAFETY: this thread holds the lane up to the end of a turn that is further up the stack.
            let lane = unsafe { caller.get() };
            lent(lane, at.now.saturating_sub(self.since.now), at);
        }
    }
}

/// The lanes of the first one's scheduler.
///
/// # Safety
///
/// The lanes are alive.
unsafe fn each_beside<'l>(
    first: &'l Lane,
    lanes: impl Iterator<Item = LanePtr> + 'l,
) -> impl Iterator<Item = &'l Lane> {
    // SAFETY: the caller promises that the lanes are alive.
    let lanes = lanes.map(|lane| unsafe { lane.get() });
    lanes.filter(|lane| ptr::addr_eq(&raw const *lane.port, &raw const *first.port))
}
