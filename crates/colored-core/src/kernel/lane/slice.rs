//! A slice of a lane: a bounded number of turns, then the lane goes back to its worker.

use crate::hooks;
use crate::kernel::lane::base::{AfterTurn, ReadyLane};
use crate::kernel::lane::current::Hold;
use crate::kernel::lane::held::Head;
use crate::kernel::lane::node;
use crate::kernel::lane::runner::{Runner, Slice};
use crate::kernel::queue::Unlinked;
use crate::kernel::task::TaskRef;

impl ReadyLane {
    /// Runs the lane until it is idle, `runner` says stop, or the next turn is another thread's.
    pub(crate) fn run(self, runner: &mut impl Runner) -> Slice {
        // SAFETY: `self` is the right to run the lane, so this thread holds it, and the chain has a node, which keeps the
        // lane alive. The hold ends with that right.
        let hold = unsafe { Hold::begin(self.0) };
        let lane = hold.lane();
        hooks::slice_begins(lane, runner.listener());
        let mut stalled = lane.take_stalled();
        let elsewhere = loop {
            let head = lane.head();
            let then = match stalled.take() {
                Some(then) => then,
                None if head.may_run(runner) => turn(&hold, head, runner),
                None => break Some(head.pin),
            };
            // SAFETY: the head has had its turn, here or in the slice before.
            match unsafe { hold.end_turn(then, runner.is_closing()) } {
                Unlinked::Idle => return Slice::Over,
                Unlinked::More if runner.count_turn(head.weight()) => {}
                Unlinked::More | Unlinked::Stalled => break None,
            }
        };
        hooks::slice_ends(&lane, runner.listener());
        hold.count_refs();
        match elsewhere {
            Some(pin) => Slice::Elsewhere(self, pin),
            None => Slice::More(self),
        }
    }
}

/// One turn of `head`, which this thread may run.
#[inline(always)]
fn turn(hold: &Hold, head: Head, runner: &mut impl Runner) -> AfterTurn {
    runner.begin_turn(head.task().map(TaskRef::named));
    hooks::turn_begins(hold.lane(), &head, runner.listener());
    let then = node::run(hold, head, runner.is_closing());
    // The lane may be gone, and is not looked at then.
    hooks::turn_ends(hold, &head, then, runner.listener());
    then
}
