//! A task that waits and keeps its lane.
//!
//! The node stays at the head, and no worker and no queue has the lane. In the exchange that ends the poll, the right
//! to run the lane goes with the right to move the node, to the thread that wakes the task (table in `task/state.rs`).
//! That thread dispatches the lane, whose first turn is the task's again. A node that is pushed meanwhile finds the
//! chain held, and waits behind.
//!
//! A shutdown cannot reach such a lane from behind, for the node that it pushes has no turn. So the task is registered
//! with the scheduler before it waits with its lane for the first time in a section. If the scheduler is shutting down
//! already, the task is aborted here.
//!
//! # Taken again
//!
//! The task stays at the head from its first section on, for as long as its polls end with an open one. So it is still
//! there when it has given the color up, in a poll that goes on, and could take the color again before all others, again
//! and again. [`Holds`] says that it has had a section since it came to the head; such a task begins another one only if
//! nothing is scheduled behind it, and goes behind that work first otherwise ([`take`]). It leaves the head for that, and
//! so the next section begins in any case. A section beside, or inside, an open one takes nothing.

use crate::kernel::lane::base::{Held, Inner, LanePtr};
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::task::{Closing, Holds, Kept, TaskRef, TaskTurn, WaitRecord};
use crate::sync::thread_slot;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::NonNull;

/// A section of the task that this thread polls is about to begin. False if it may not begin in this turn, because the
/// task has given the color up since it came to the head, and other work is scheduled: the task has to go behind that.
///
/// `put_off` belongs to the section, and says when it was put off. So no section is put off in two turns, whatever the
/// other branches of its task do, and a branch that is polled twice in one turn gains nothing.
pub(crate) fn take(task: TaskRef<LanePtr>, put_off: &mut Option<Holds>) -> bool {
    if task.has_sections() {
        return true;
    }
    Held::with_current(|lane| {
        let Some(lane) = lane else { return true };
        let holds = lane.inner(|inner| inner.holds);
        let is_again = holds.is_on() && put_off.is_none_or(|before| before == holds);
        if is_again && !lane.chain.has_head_only() {
            *put_off = Some(holds);
            return false;
        }
        lane.inner(|inner| inner.holds.begin());
        true
    })
}

impl Hold {
    /// Ends the turn of the head, a task that has an open section and is not ready. After [`Kept::Waiting`] this thread does
    /// not hold the lane any more.
    #[cold]
    pub(in crate::kernel::lane) fn keep(&self, turn: TaskTurn<'_, LanePtr>) -> Kept {
        let lane = self.lane();
        self.count_taken();
        if !turn.is_notified() {
            lane.announce(turn.task());
        }
        let kept = turn.end_keeping();
        match kept {
            Kept::Again => {}
            // This thread still holds the lane, and the task, which has no section left, is about to leave it.
            Kept::Over => lane.forget_section(),
            Kept::Waiting => {
                self.end();
                self.count_refs();
            }
        }
        kept
    }
}

impl Held<'_> {
    /// Has the scheduler remember `task`, which is at the head of this lane and has been polled.
    fn announce(self, task: TaskRef<LanePtr>) {
        if self.inner(|inner| inner.section.is_some()) {
            return;
        }
        match self.port.common().sections.enter(self.home().unwrap_or(0), task) {
            Ok(section) => self.inner(|inner| inner.section = Some(section)),
            Err(Closing) => task.abort(),
        }
    }

    /// The task at the head leaves it, and has had a section there.
    #[cold]
    pub(in crate::kernel::lane) fn forget_section(self) {
        let end = |inner: &mut Inner| {
            inner.holds.end();
            inner.section.take()
        };
        if let Some(section) = self.inner(end) {
            self.port.common().sections.remove(section);
        }
    }
}

/// The innermost section that a wait is in.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    /// The task whose section it is.
    pub(crate) task: TaskRef<LanePtr>,
    /// Where the section was made.
    pub(crate) site: &'static Location<'static>,
    /// Its record in the task.
    pub(crate) record: Option<NonNull<WaitRecord>>,
}

thread_slot!(static INSIDE: Cell<Option<Inside>> = Cell::new(None));

/// The section whose future this thread polls; `None` outside the future of one. A task that is polled inside another task's section, for example by a worker
/// that is stepped there, is in none.
#[inline]
pub(crate) fn inside() -> Option<Inside> {
    let inside = INSIDE.with(Cell::get)?;
    (current::task() == Some(inside.task)).then_some(inside)
}

/// Sets the section that this thread is inside, and returns the one before.
pub(crate) fn replace_inside(inside: Option<Inside>) -> Option<Inside> {
    INSIDE.with(|place| place.replace(inside))
}
