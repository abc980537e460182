//! The lanes' interface to the scheduler above them: [`Dispatch`] for what every lane needs, [`Observe`] for what
//! records need, and one small trait for each optional feature, which the feature owns.

use crate::color::Color;
use crate::contain::contain;
use crate::lane::behavior::order::HasOrder;
use crate::lane::priority::classes::HasClasses;
use crate::lane::readers::workers::HasWorkers;
use crate::lane::section::key::HasSections;
use crate::lane::snapshot::asked::HasSnapshot;
use crate::lane::{Lane, LanePtr, ReadyLane};
use crate::meter::{At, Level};
use crate::task::TaskPanic;
use crate::trace::Event;
use crate::usage::Usage;
use std::any::Any;
use std::task::Waker;

/// The operations of the scheduler that every lane needs.
pub(crate) trait Dispatch:
    Observe + HasOrder + HasClasses + HasWorkers + HasSections + HasSnapshot + Any + Send + Sync
{
    /// Takes a lane that has just become runnable. `pin` is the thread that must run it, 0 for any worker.
    ///
    /// Another thread may run and free the lane before this returns, and the lane may be the last owner of the
    /// scheduler. So nothing that the lane keeps alive may be touched after the lane is published. With
    /// [`Owner::Worker`] only a worker of the scheduler takes the lane; any other thread gives it back.
    fn accept(&self, lane: ReadyLane, pin: u32, owner: Owner) -> Result<(), ReadyLane>;

    /// Gives back `refs` references which were the last when the caller looked, and frees the lane if they still are.
    /// With [`Owner::Worker`], any thread that is no worker of the scheduler does nothing, and returns false.
    fn retire(&self, lane: LanePtr, refs: usize, owner: Owner) -> bool;

    /// Enters a lane into the table, where look-ups and a shutdown find it. The caller holds it.
    fn publish(&self, lane: LanePtr);

    /// An unused lane, made into one of that color, if this thread has one at hand.
    fn spare(&self, color: Color) -> Option<Box<Lane>>;

    /// Whether everything is to be cancelled.
    fn is_closing(&self) -> bool;

    /// Wakes a task that has waited in a line: on a worker, the tasks that are runnable here come before it.
    fn wake_behind(&self, waker: Waker) {
        contain(|| waker.wake());
    }
}

/// The owner that keeps the scheduler alive during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The worker that this thread is, if it is one of that scheduler.
    Worker,
    /// The caller.
    Caller,
}

/// The operations of the scheduler that records need.
pub(crate) trait Observe {
    /// Nanoseconds since some time. Costs a read of the clock.
    fn now(&self) -> u64;

    /// The time, for code that runs under a lane of the scheduler: on a worker, the time at which the slice began, or,
    /// while the slice is recorded, at which its last turn ended.
    fn noted_time(&self) -> u64;

    /// The time at which something happens that is to be recorded; `None` if the scheduler records nothing. Below
    /// [`Level::Tasks`] it is the [`noted_time`](Self::noted_time).
    fn recorded(&self) -> Option<At>;

    /// As [`recorded`](Self::recorded), with the present time at every level.
    fn recorded_now(&self) -> Option<At>;

    /// A lane that the table does not have has used so much.
    fn keep_usage(&self, color: Color, usage: Usage);

    /// Records an event of this thread, if the scheduler records events of that level.
    fn record(&self, level: Level, event: Event);

    /// A task has panicked, on this thread.
    fn panicked(&self, panic: &TaskPanic<'_>);
}
