//! Wanting several lanes, and taking them at once if they are idle.
//!
//! [`run_now`] takes each lane by its own node, as an inline call does, or enters it as a reader. It never waits: if one lane
//! cannot be taken, the lanes before it are given back, and nodes that were pushed meanwhile are handed on. So it can
//! neither be part of a cycle nor overtake another: a behavior that runs this way has found no other before it on any
//! of its lanes.

use crate::hooks::{Act, InlineCall};
use crate::kernel::lane::base::LanePtr;
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::lane::push::{try_take, try_take_soon};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::lane::{push, readers};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// How a lane is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Together with other readers.
    Shared,
    /// For the behavior alone.
    Exclusive,
}

/// A lane that is wanted. The owner of the request keeps the lane alive.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub(in crate::kernel::lane) lane: LanePtr,
    pub(in crate::kernel::lane) mode: Mode,
}

impl Request {
    pub(crate) fn new(lane: &LaneRef, mode: Mode) -> Self {
        Self { lane: lane.ptr(), mode }
    }

    /// Whether the request is for that lane.
    pub(crate) fn is_of(self, lane: LanePtr) -> bool {
        self.lane == lane
    }

    pub(crate) fn lane(self) -> LanePtr {
        self.lane
    }

    pub(crate) fn is_exclusive(self) -> bool {
        self.mode == Mode::Exclusive
    }
}

/// The most requests that are compared each with each: as many as a tuple has.
const FEW: usize = 8;

/// Leaves each lane once, and returns how many there are. A lane that is wanted exclusively for one cell is taken
/// exclusively for all.
///
/// A few requests keep their order, and the lanes are not read: they may be in another core's cache. The order in which
/// lanes are taken does not matter, for no thread waits for one of them alone.
///
/// # Safety
///
/// The lanes are alive.
#[inline]
pub(crate) unsafe fn gather(wants: &mut [Request]) -> usize {
    if wants.len() > FEW {
        // SAFETY: the caller promises that the lanes are alive.
        return unsafe { gather_many(wants) };
    }
    let mut kept = 0;
    for index in 0..wants.len() {
        let want = wants[index];
        match wants[..kept].iter_mut().find(|earlier| earlier.lane == want.lane) {
            Some(earlier) if want.is_exclusive() => earlier.mode = Mode::Exclusive,
            Some(_) => {}
            None => {
                wants[kept] = want;
                kept += 1;
            }
        }
    }
    kept
}

/// # Safety
///
/// As for [`gather`].
unsafe fn gather_many(wants: &mut [Request]) -> usize {
    wants.sort_unstable_by_key(|want| {
        // SAFETY: the caller promises that the lanes are alive.
        let rank = unsafe { want.lane.get() }.rank();
        (rank, want.mode == Mode::Shared)
    });
    let mut kept = 0;
    for index in 0..wants.len() {
        if kept == 0 || wants[kept - 1].lane != wants[index].lane {
            wants[kept] = wants[index];
            kept += 1;
        }
    }
    kept
}

/// Runs `run` now and on this thread, if all lanes are idle, this thread's own, or open for readers where that is
/// enough. `run` gets `given`, which comes back otherwise, and the lane that was this thread's own, if one was. `color`
/// is the lane under whose color it runs: one of the lanes, wanted exclusively.
///
/// # Safety
///
/// The lanes are alive up to the end of this call, and `wants` [names each once](gather).
///
/// # Panics
///
/// If `run` does; the lanes go on.
#[inline]
pub(crate) unsafe fn run_now<G, F, R>(
    wants: &[Request],
    color: Option<LanePtr>,
    given: G,
    run: F,
) -> Result<R, G>
where
    F: FnOnce(G, Option<LanePtr>) -> R,
{
    let own = current::lane().filter(|own| wants.iter().any(|want| want.is_of(*own)));
    if let Some(own) = own {
        // SAFETY: the caller promises that the lanes are alive, and this one is among them.
        let lane = unsafe { LaneRef::borrowed(own) };
        if !lane.is_free_here() {
            return Err(given);
        }
    }
    if let [want] = wants {
        if own.is_some() {
            return Ok(run(given, own));
        }
        if want.is_exclusive() {
            // SAFETY: the caller promises that the lanes are alive up to the end of this call.
            let lane = unsafe { LaneRef::borrowed(want.lane) };
            return push::run_inline_soon(&lane, given, |given| run(given, None));
        }
    }
    let wanted = || wants.iter().filter(|want| own != Some(want.lane));
    // SAFETY: the caller promises that the lanes are alive.
    let missed = wanted().position(|want| !unsafe { want.try_take() });
    if let Some(taken) = missed {
        // SAFETY: `try_take` has just taken these lanes, and each is given back once.
        wanted().take(taken).for_each(|want| unsafe { want.give_back() });
        return Err(given);
    }
    let color = color.filter(|color| own != Some(*color));
    let taken = || wanted().filter(|want| want.is_exclusive()).map(|want| want.lane);
    // SAFETY: `try_take` took the lanes, which the caller keeps alive.
    let call = unsafe { InlineCall::begin(taken()) };
    // SAFETY: `try_take` took the lane exclusively, for this thread; the caller keeps it alive.
    let hold = color.map(|color| unsafe { Hold::begin(color) });
    let result = catch_unwind(AssertUnwindSafe(|| run(given, own)));
    // SAFETY: as above.
    unsafe { call.end(taken()) };
    if let Some(hold) = hold {
        // SAFETY: `try_take` took the lane by its own node. No task has been polled, since the lane was idle; the caller
        // keeps the lane alive.
        unsafe { hold.end_inline() };
    }
    for want in wanted().filter(|want| color != Some(want.lane)) {
        // SAFETY: `try_take` took the lane above; each is given back once, and the caller keeps it alive.
        unsafe { want.give_back() };
    }
    Ok(result.unwrap_or_else(|payload| resume_unwind(payload)))
}

impl Request {
    /// # Safety
    ///
    /// The lane is alive.
    #[inline]
    unsafe fn try_take(&self) -> bool {
        // SAFETY: the caller promises that the lane is alive.
        let lane = unsafe { LaneRef::borrowed(self.lane) };
        let act = Act::take(&lane);
        let is_taken = match self.mode {
            Mode::Exclusive => try_take(&lane) || try_take_soon(&lane),
            Mode::Shared => readers::try_enter(&lane),
        };
        if is_taken {
            act.note();
        }
        is_taken
    }

    /// # Safety
    ///
    /// [`Request::try_take`] took the lane, which is given back once, and is alive up to the end of this call.
    #[inline]
    unsafe fn give_back(&self) {
        match self.mode {
            // The lane was idle, so no task has been polled.
            // SAFETY: this thread holds the lane, with its own node at the head.
            Mode::Exclusive => unsafe { self.lane.end_unused() },
            // SAFETY: `try_take` has entered, and this is the one leave.
            Mode::Shared => unsafe { readers::leave(self.lane) },
        }
    }
}
