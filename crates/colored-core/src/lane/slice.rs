//! One turn of a lane: a bounded number of polls, then it goes back.

use crate::lane::behavior;
use crate::lane::current::{self, Hold};
use crate::lane::held::{Head, Held};
use crate::lane::readers::admit::{self, LetIn};
use crate::lane::record::Recorder;
use crate::lane::turn_end::after::After;
use crate::lane::{LanePtr, LaneRef, ReadyLane, callback};
use crate::queue::{Kind, Unlinked};
use crate::task::{Named, TaskRef, Wants};

/// The thread that runs a slice.
pub(crate) trait Runner {
    /// Whether it may run a node that is pinned to `pin` (0: pinned to no thread).
    fn may_run(&self, pin: u32) -> bool;
    /// Whether everything is to be cancelled.
    fn is_closing(&self) -> bool;
    /// A turn begins, of this task or of something else.
    fn begin_turn(&self, _task: Option<Named>) {}
    /// One turn is over; returns whether the slice goes on.
    fn count_turn(&mut self, turn: Turn) -> bool;
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

/// What has run in a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    /// A poll of a task, or whatever else takes as long.
    Poll,
    /// The closure of a post or a call: it takes less time than the poll of a task that has posted many.
    Closure,
}

impl Turn {
    #[inline]
    fn of(after: After) -> Self {
        match after {
            After::Free | After::FreeUncounted => Self::Closure,
            _ => Self::Poll,
        }
    }

    /// Its share of a slice. A task that posts in each of its polls fills the time of a slice, and 4,096 short closures, the
    /// weight of 64 polls, fill it too. If a closure had the weight of a poll, a line of posts would have turns of a few
    /// microseconds, the task that posts would have turns of 200, and the line would grow.
    pub(crate) const fn weight(self) -> i64 {
        match self {
            Self::Poll => 64,
            Self::Closure => 1,
        }
    }
}

/// How a slice ended.
#[must_use]
#[derive(Debug)]
pub(crate) enum Slice {
    /// The lane is idle, or its task waits and keeps it. The lane may be freed.
    Idle,
    /// There is more to run.
    More(ReadyLane),
    /// The next node is pinned to another thread.
    Elsewhere(ReadyLane, u32),
    /// A behavior, or readers, have the lane now.
    Taken,
}

/// The result of the head's turn.
enum Turned {
    /// The turn is over, and this remains to be done.
    Over(ReadyLane, After),
    /// The head is where it was.
    NotYet(ReadyLane),
    /// A behavior, or readers, have the lane now.
    Taken,
}

impl ReadyLane {
    /// Runs the lane until it is idle, `runner` says stop, or the next turn is another thread's.
    pub(crate) fn run(mut self, runner: &mut impl Runner) -> Slice {
        let hold = Hold::begin(self.0);
        // SAFETY: `self` is the right to run the lane, so this thread holds it, and the chain has a node, which keeps
        // the lane alive. The lane is not used after the right is gone.
        let lane = unsafe { Held::new(self.0) };
        runner.observe(|recorder| lane.record_begin(recorder));
        lane.show_if_asked();
        loop {
            let stalled = lane.take_stalled();
            // The turn of a stalled head has been recorded.
            let ends = stalled.is_none();
            let after = match stalled {
                Some(after) => after,
                None => {
                    let head = lane.head();
                    // A closure that is only to be dropped is dropped on any thread: the thread
                    // that it is pinned to may have gone.
                    let dropped = || head.kind == Kind::Callback && runner.is_closing();
                    if !runner.may_run(head.pin) && !dropped() {
                        runner.observe(|recorder| lane.record_queued_at(recorder.last()));
                        self.count_owed(&hold);
                        return Slice::Elsewhere(self, head.pin);
                    }
                    if lane.was_counted(&head) {
                        lane.record_turn(match runner.recorder() {
                            Some(recorder) => recorder.last().now,
                            None => lane.port.now(),
                        });
                    }
                    let closing = runner.is_closing();
                    match head.kind {
                        Kind::Claim | Kind::Read => {
                            runner.begin_turn(None);
                            runner.observe(|recorder| lane.record_taken(recorder.last()));
                            // SAFETY: this thread holds the lane, by `hold`, and has just found a
                            // claim or a reader at its head.
                            match unsafe { self.share(head, &hold, closing) } {
                                Turned::Over(ready, after) => {
                                    runner.observe(|recorder| lane.record_running(recorder.look()));
                                    self = ready;
                                    after
                                }
                                Turned::NotYet(ready) => {
                                    runner
                                        .observe(|recorder| lane.record_queued_at(recorder.look()));
                                    ready.count_owed(&hold);
                                    return Slice::More(ready);
                                }
                                Turned::Taken => return Slice::Taken,
                            }
                        }
                        // SAFETY: this thread holds the lane, and was found to be one that may run
                        // its head.
                        _ => unsafe { lane.turn(head, closing, runner) },
                    }
                }
            };
            if ends {
                runner.observe(|recorder| lane.record_end(after, recorder));
            }
            // SAFETY: this thread holds the lane, and the turn of its head is over.
            match unsafe { self.0.unlink(after, &hold, Some(runner.is_closing())) } {
                Unlinked::Idle => return Slice::Idle,
                Unlinked::More if runner.count_turn(Turn::of(after)) => {
                    runner.observe(|recorder| lane.record_running(recorder.last()));
                }
                Unlinked::More | Unlinked::Stalled => {
                    runner.observe(|recorder| lane.record_queued_at(recorder.last()));
                    self.count_owed(&hold);
                    return Slice::More(self);
                }
            }
        }
    }

    /// The turn of a head that takes the lane itself: a claim or a reader.
    ///
    /// # Safety
    ///
    /// This thread holds the lane, by `hold`, and `head`, a claim or a reader, is at its head.
    #[cold]
    unsafe fn share(self, head: Head, hold: &Hold, closing: bool) -> Turned {
        if head.kind == Kind::Claim {
            self.count_owed(hold);
            // SAFETY: the caller promises that the lane is held, and a claim is at its head; the
            // hold is settled.
            return match unsafe { behavior::grant(self, head.node, closing) } {
                Some(lane) => Turned::Over(lane, After::Claim),
                None => Turned::Taken,
            };
        }
        // SAFETY: the caller promises that the lane is held, by `hold`, and that a reader is at its
        // head.
        match unsafe { admit::let_in(self, hold, closing) } {
            LetIn::Open => Turned::Taken,
            LetIn::Stalled(lane) => Turned::NotYet(lane),
        }
    }

    /// Counts the references that were taken and given back meanwhile. The nodes in the chain own
    /// references, so this never gives the last one back.
    fn count_owed(&self, hold: &Hold) {
        // SAFETY: the hold is of this lane, which the node at the head keeps.
        unsafe { self.0.settle(hold) };
    }
}

impl Held<'_> {
    /// The turn of the head: runs it, and returns the remaining work.
    ///
    /// # Safety
    ///
    /// `head` is the head of the lane, and this thread may run it.
    #[inline]
    unsafe fn turn(self, head: Head, closing: bool, runner: &impl Runner) -> After {
        let Head { node, kind, .. } = head;
        if kind != Kind::Task {
            runner.begin_turn(None);
        }
        match kind {
            Kind::Task => {
                // SAFETY: the node is of `Kind::Task`, and the task is alive until the node has
                // been unlinked.
                let task: TaskRef<LanePtr> = unsafe { TaskRef::from_node(node) };
                runner.begin_turn(Some(task.named()));
                // SAFETY: the caller promises that the lane is held, the task at its head, and this
                // the thread that may run it.
                unsafe { self.turn_of_task(task, closing) }
            }
            Kind::Callback => {
                // SAFETY: a node of `Kind::Callback` begins a callback, and the caller holds the
                // lane.
                unsafe { callback::run(node, closing) };
                After::Free
            }
            Kind::Uncounted => {
                // SAFETY: a node of `Kind::Uncounted` begins a callback, and the caller holds the
                // lane.
                unsafe { callback::run(node, closing) };
                After::FreeUncounted
            }
            Kind::Close => {
                self.abort_waiting();
                // The values are dropped behind these tasks.
                self.end_locals();
                After::Free
            }
            Kind::Inline => unreachable!("an inline call is over before its lane is queued"),
            Kind::Claim | Kind::Read => unreachable!("they take the lane itself"),
        }
    }

    /// # Safety
    ///
    /// As for [`Held::turn`].
    #[inline]
    unsafe fn turn_of_task(self, task: TaskRef<LanePtr>, closing: bool) -> After {
        // SAFETY: the caller promises that it holds the lane, at whose head the task is, and that this thread may run
        // it.
        let (done, asked) = current::polling(task, || unsafe { task.run(closing) });
        // SAFETY: the task's hop left a reference with the lane, and this is the only use of it.
        let hop = asked.hop.map(|lane| unsafe { LaneRef::from_counted(lane) });
        let list = |inner: &mut super::Inner| {
            if done || hop.is_some() {
                // SAFETY: the caller holds the task's lane, and the task is alive until `unlink`
                // takes its node out.
                unsafe { inner.live.remove(task) };
            } else {
                // SAFETY: the caller holds the task's lane. The task is not complete, so the
                // runtime's reference keeps it in the list.
                unsafe { inner.live.insert(task) };
            }
            inner.holds.is_on()
        };
        let has_held = self.inner(list);
        let wants = if done { Wants::Wait } else { task.wants() };
        if has_held && wants != Wants::Lane {
            // The task at the head does not want to keep the lane any longer.
            self.forget_section();
        }
        if done {
            // SAFETY: the caller holds the lane, and `poll` or `cancel` has stored the output.
            current::completing(task, || unsafe { task.complete() });
            return After::Release;
        }
        if let Some(lane) = hop {
            // SAFETY: the owner that polled may move the task, which takes the hop's reference
            // along.
            unsafe { task.set_lane(lane.into_counted()) };
            return After::Hop;
        }
        match wants {
            Wants::Lane => {
                if asked.yielded {
                    task.wake();
                }
                After::Keep
            }
            Wants::Wait if !asked.yielded => After::End,
            Wants::Wait | Wants::Again => After::Rotate,
        }
    }
}
