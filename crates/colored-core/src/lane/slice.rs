//! A slice of a lane: a bounded number of turns, then the lane goes back to its worker.

use crate::lane::ReadyLane;
use crate::lane::current::Hold;
use crate::lane::held::Head;
use crate::lane::node::{Then, Turn};
use crate::lane::record::Recorder;
use crate::queue::Unlinked;
use crate::task::{Named, TaskRef};

/// The thread that runs a slice.
pub(crate) trait Runner {
    /// Whether it may run a node that is pinned to `pin` (0: pinned to no thread).
    fn may_run(&self, pin: u32) -> bool;
    /// Whether everything is to be cancelled.
    fn is_closing(&self) -> bool;
    /// A turn begins, of this task or of something else.
    fn begin_turn(&self, _task: Option<Named>) {}
    /// One turn of that weight is over; returns whether the slice goes on.
    fn count_turn(&mut self, weight: i64) -> bool;
    /// The recorder of the slice: the same for the whole slice. Without one the compiler leaves out all that records.
    #[inline(always)]
    fn recorder(&mut self) -> Option<&mut dyn Recorder> {
        None
    }
    /// Runs `record` with the recorder, if there is one.
    #[inline(always)]
    fn observe(&mut self, record: impl FnOnce(&mut dyn Recorder)) {
        if let Some(recorder) = self.recorder() {
            record(recorder);
        }
    }
}

/// The share of a slice that a poll takes, or whatever else takes as long.
pub(crate) const POLL_WEIGHT: i64 = 64;

/// The share of a slice that the closure of a post or a call takes. A task that posts in each of its polls fills the time
/// of a slice, and 4,096 short closures, the weight of 64 polls, fill it too. If a closure had the weight of a poll, a
/// line of posts would have turns of a few microseconds, the task that posts would have turns of 200, and the line would
/// grow.
pub(crate) const CLOSURE_WEIGHT: i64 = 1;

/// How a slice ended.
#[must_use]
#[derive(Debug)]
pub(crate) enum Slice {
    /// The lane is idle, or something has it: a task that waits, a behavior, or readers. The lane may be freed.
    Over,
    /// There is more to run.
    More(ReadyLane),
    /// The next node is pinned to another thread.
    Elsewhere(ReadyLane, u32),
}

impl ReadyLane {
    /// Runs the lane until it is idle, `runner` says stop, or the next turn is another thread's.
    pub(crate) fn run(self, runner: &mut impl Runner) -> Slice {
        // SAFETY: `self` is the right to run the lane, so this thread holds it, and the chain has a node, which keeps the
        // lane alive. The hold ends with that right.
        let hold = unsafe { Hold::begin(self.0) };
        let lane = hold.lane();
        runner.observe(|recorder| lane.record_begin(recorder));
        lane.show_if_asked();
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
        runner.observe(|recorder| lane.record_queued_at(recorder.last()));
        hold.settle();
        match elsewhere {
            Some(pin) => Slice::Elsewhere(self, pin),
            None => Slice::More(self),
        }
    }
}

/// One turn of `head`, which this thread may run.
#[inline(always)]
fn turn(hold: &Hold, head: Head, runner: &mut impl Runner) -> Then {
    runner.begin_turn(head.task().map(TaskRef::named));
    hold.lane().record_turn_begin(&head, runner.recorder());
    let closing = hold.lane().begin_turn(&head, runner.is_closing());
    let then = Turn { hold, head, closing }.run();
    if !matches!(then, Then::Took | Then::Stalled) {
        runner.observe(|recorder| hold.lane().record_end(&head, then, recorder));
    }
    then
}
