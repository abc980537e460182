//! [`Dispatch`]: the lanes' interface to the scheduler above them.

use crate::color::Color;
use crate::contain::contain;
use crate::lane::{Lane, LanePtr, LaneRef, Order, Priority, ReadyLane, SectionKey, Track};
use crate::task::TaskRef;
use std::any::Any;
use std::task::Waker;

/// The operations of the scheduler that a lane needs.
pub(crate) trait Dispatch: Any + Send + Sync {
    /// Takes a lane that has just become runnable, if this thread is a worker of the scheduler.
    /// `pin` is the thread that must run it, 0 for any worker.
    ///
    /// Nothing that the lane keeps alive may be touched after the lane is published.
    fn dispatch_here(&self, lane: ReadyLane, pin: u32) -> Result<(), ReadyLane>;

    /// As `dispatch_here` from any other thread; the caller keeps `self` alive meanwhile.
    fn dispatch(&self, lane: ReadyLane, pin: u32);

    /// Wakes a task that has waited in a line: on a worker, the tasks that are runnable here come before it.
    fn wake_behind(&self, waker: Waker) {
        contain(|| waker.wake());
    }

    /// Gives back `refs` references which were the last when the caller looked, and frees the lane if they still are.
    /// Only if this thread is a worker of the scheduler, and so keeps it alive meanwhile; false if it is not.
    fn retire_here(&self, _lane: LanePtr, _refs: usize) -> bool {
        false
    }

    /// As `retire_here` from any other thread; the caller keeps `self` alive meanwhile.
    fn retire(&self, lane: LanePtr, refs: usize);

    /// Remembers a lane that has waiting tasks and is in no table; false if the scheduler is
    /// closing and the lane must be cancelled instead.
    fn track(&self, lane: LanePtr) -> Result<Track, Closing>;

    /// Makes a lane findable by its color. The caller holds it.
    fn publish(&self, lane: LanePtr);

    /// Remembers a task that is about to wait and keeps its lane, so that a shutdown can abort it: a node that is
    /// pushed on such a lane has no turn. Fails if the scheduler is closing.
    fn enter_section(&self, task: TaskRef<LanePtr>) -> Result<SectionKey, Closing>;

    /// Forgets the task again, before it leaves the lane.
    fn remove_section(&self, section: SectionKey);

    /// Nanoseconds since some time. Costs a read of the clock.
    fn now(&self) -> u64;

    /// How many lanes may run at once, if idle workers find the lanes that wait elsewhere; else any number.
    fn lanes_at_once(&self) -> usize;

    /// Whether everything is to be cancelled.
    fn is_closing(&self) -> bool;

    /// An unused lane, made into one of that color, if this thread has one at hand.
    fn spare(&self, color: Color) -> Option<Box<Lane>>;

    /// The locks that order the behaviors that want several lanes at once.
    fn order(&self) -> &Order;

    /// Whether any color has been given a priority.
    fn has_classes(&self) -> bool {
        false
    }

    /// A lane that waits in a queue has become more urgent than the queue's class.
    fn rise(&self, _lane: &LaneRef, _to: Priority) {}
}

/// The scheduler is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closing;
