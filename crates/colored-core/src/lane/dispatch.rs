//! The port of lanes to the scheduler above them: [`Dispatch`] for what they need, [`Observe`] for what they tell.

use crate::color::Color;
use crate::lane::common::Common;
use crate::lane::held::Held;
use crate::lane::{Lane, LanePtr, Priority, ReadyLane};
use crate::meter::Level;
use crate::task::TaskPanic;
use crate::trace::Event;
use crate::usage::Usage;
use std::any::Any;

/// The operations of the scheduler that lanes need.
pub(crate) trait Dispatch: Observe + Any + Send + Sync {
    /// The state that all lanes of the scheduler share.
    fn common(&self) -> &Common;

    /// Takes a lane that has just become runnable. `pin` is the thread that must run it, 0 for any worker.
    ///
    /// Another thread may run and free the lane before this returns, and the lane may be the last owner of the
    /// scheduler. So nothing that the lane keeps alive may be touched after the lane is published. With
    /// [`Owner::Worker`] only a worker of the scheduler takes the lane; any other thread gives it back.
    fn accept(&self, lane: ReadyLane, pin: u32, owner: Owner) -> Result<(), ReadyLane>;

    /// Moves a lane that has become more urgent, and is queued in a lower class, to that class.
    fn raise(&self, lane: &Lane, to: Priority);

    /// Gives back `refs` references which were the last when the caller looked, and frees the lane if they still are.
    /// With [`Owner::Worker`], any thread that is no worker of the scheduler does nothing, and returns false.
    fn retire(&self, lane: LanePtr, refs: usize, owner: Owner) -> bool;

    /// Enters a lane into the table, where look-ups and a shutdown find it. The caller holds it.
    fn publish(&self, lane: LanePtr);

    /// An unused lane, made into one of that color, if this thread has one at hand.
    fn spare(&self, color: Color) -> Option<Box<Lane>>;
}

/// The owner that keeps the scheduler alive during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The worker that this thread is, if it is one of that scheduler.
    Worker,
    /// The caller.
    Caller,
}

/// The events that lanes tell their scheduler, and its clock.
pub(crate) trait Observe {
    /// Nanoseconds since some time. Costs a read of the clock.
    fn now(&self) -> u64;

    /// The time, for code that runs under a lane of the scheduler: on a worker, the time at which the slice began, or,
    /// while the slice is recorded, at which its last turn ended.
    fn noted_time(&self) -> u64;

    /// Records an event of this thread, if the scheduler records events of that level.
    fn record(&self, level: Level, event: Event);

    /// A lane that the table does not have has used so much.
    fn keep_usage(&self, color: Color, usage: Usage);

    /// A behavior that this thread polls has to wait, and not as a call does.
    fn count_wait(&self);

    /// A task has panicked, on this thread.
    fn panicked(&self, panic: &TaskPanic<'_>);

    /// The holder of a lane shows it, as a dump has asked.
    fn show(&self, lane: Held<'_>);
}
