//! The events of a lane that go into its meter and into the trace, while its scheduler records. See
//! [`meter`].
//!
//! A function that a caller may call at any time first asks [`is_on`](crate::meter::is_on), once, and is out of line
//! behind that. The others are for a slice that is recorded: a [`Recorder`] is their argument, or a time from one.
//!
//! | event | in | the lane's state becomes |
//! |---|---|---|
//! | a node is pushed | [`record_push`](Lane::record_push) | |
//! | the lane is given to a queue | [`record_queued`](Lane::record_queued) | queued |
//! | a slice begins | [`record_slice`](Lane::record_slice) | running |
//! | the turn of the head begins | [`record_turn_begin`](Held::record_turn_begin) | running |
//! | the turn is over, and the next exchange may end the hold | [`record_end`](Held::record_end) | idle, or kept |
//! | a closure begins at once, on its caller's thread | [`record_call_begin`](Lane::record_call_begin) | running |
//! | it is over | [`record_call_end`](Lane::record_call_end) | idle, unless something waits |
//! | it has run during a poll of another lane | that lane's [`record_lent`](Lane::record_lent) | |
//! | a behavior, or readers, are about to get the lane | [`record_taken`](Lane::record_taken) | kept |
//! | the behavior gives it back | [`record_idle`](Lane::record_idle), then perhaps `record_queued` | idle |
//! | a reader leaves | [`record_leave`](Lane::record_leave), then perhaps `record_queued` | idle, if it is the last one |
//!
//! Call each before the exchange that gives the right to run away: another thread may free the lane afterwards.

use crate::color::Color;
use crate::lane::held::{Head, Held};
use crate::lane::node::Then;
use crate::lane::{Lane, LanePtr, current};
use crate::meter::{self, At, Level, Meter};
use crate::queue::{Node, Tail};
use crate::task::{Id, Named, TaskRef};
use crate::trace::Event;
use crate::usage::Usage;

/// Runs `record` if some scheduler of the process records.
#[inline(always)]
fn if_on(record: impl FnOnce()) {
    #[cold]
    #[inline(never)]
    fn out_of_line(record: impl FnOnce()) {
        record();
    }
    if meter::is_on() {
        out_of_line(record);
    }
}

impl LanePtr {
    /// The task is about to be scheduled: it has been woken, perhaps by the task that this thread polls.
    #[inline(always)]
    pub(in crate::lane) fn record_wake(self, task: TaskRef<LanePtr>) {
        if_on(|| {
            // SAFETY: the task, which is not complete, owns a reference to its lane.
            let port = &unsafe { self.get() }.port;
            port.record(Level::Tasks, Event::Wake { by: current::waker(), task: task.id() });
        });
    }
}

impl Lane {
    /// A closure is about to be posted.
    #[inline(always)]
    pub(crate) fn record_post(&self) {
        if_on(|| self.port.record(Level::All, Event::Post { color: self.color() }));
    }

    /// A call or a read is about to begin or to be queued.
    #[inline(always)]
    pub(crate) fn record_call(&self) {
        if_on(|| self.port.record(Level::All, Event::Call { color: self.color() }));
    }

    /// A task that no other thread knows yet is about to be pushed.
    #[inline(always)]
    pub(crate) fn record_spawn(&self, task: TaskRef<LanePtr>) {
        if_on(|| {
            let Named { id, spawned } = task.named();
            let by = current::task().map(TaskRef::id);
            self.port.record(Level::Tasks, Event::Spawn { by, task: id, site: Some(spawned) });
        });
    }

    /// The time of an event that is to be recorded; `None` if the scheduler records nothing. Below [`Level::Tasks`] it is
    /// the [`noted_time`](super::Observe::noted_time).
    #[cold]
    fn recorded(&self) -> Option<At> {
        let switch = &self.port.common().switch;
        let now = match switch.level() {
            Level::Off => return None,
            Level::Slices => self.port.noted_time(),
            _ => self.port.now(),
        };
        Some(switch.at(now))
    }

    /// As [`recorded`](Self::recorded), with the present time at every level.
    #[cold]
    pub(in crate::lane) fn recorded_now(&self) -> Option<At> {
        let switch = &self.port.common().switch;
        (switch.level() != Level::Off).then(|| switch.at(self.port.now()))
    }

    fn meter(&self) -> &Meter {
        self.meter.get_or_make()
    }

    /// What has been recorded of the lane, if something has; with `at`, up to that time.
    pub(crate) fn usage(&self, at: Option<At>) -> Option<Usage> {
        let meter = self.meter.get()?;
        Some(at.map_or_else(|| meter.usage(), |at| meter.usage_until(at)))
    }

    /// Forgets what has been recorded, and returns it. No thread uses the lane.
    #[inline]
    pub(crate) fn take_usage(&mut self) -> Option<Usage> {
        self.meter.get_mut()?.reset()
    }

    /// Hands in what has been recorded of a lane that the table does not have: nothing else would find it before the lane
    /// retires. The holder calls this when a slice begins: a cell has a color that others can name, so the table has its lane.
    #[cold]
    pub(in crate::lane) fn hand_in_usage(&self) {
        if !self.refs.is_published()
            && let Some(usage) = self.meter().drain()
        {
            self.port.keep_usage(self.color(), usage);
        }
    }

    /// `node` is about to be pushed.
    #[inline(always)]
    pub(in crate::lane) fn record_push(&self, node: &Node) {
        if_on(|| {
            if let Some(at) = self.recorded() {
                self.meter().record_push(&node.counted, at);
            }
        });
    }

    /// The caller is about to give the right to run the lane to a queue.
    #[inline(always)]
    pub(in crate::lane) fn record_queued(&self) {
        if_on(|| {
            if let Some(at) = self.recorded() {
                self.record_queued_at(at);
            }
        });
    }

    #[cold]
    pub(in crate::lane) fn record_queued_at(&self, at: At) {
        if let Some(kept) = self.meter().record_queued(at) {
            self.port.record(Level::Slices, Event::Kept { color: self.color(), kept });
        }
    }

    /// A thread with this pin begins a slice. Returns how long the lane was queued.
    #[cold]
    pub(in crate::lane) fn record_slice(&self, at: At, thread: u32) -> u64 {
        let (queued, depth) = self.meter().record_slice(at, thread);
        if depth > 1 {
            let depth = u32::try_from(depth).unwrap_or(u32::MAX);
            self.port.record(Level::Slices, Event::Depth { color: self.color(), depth });
        }
        queued
    }

    /// The turn of a node begins that was counted.
    #[cold]
    pub(in crate::lane) fn record_turn(&self, now: u64) {
        self.meter().record_turn(now);
    }

    /// A node has been taken out, and has its turn.
    #[inline]
    pub(in crate::lane) fn record_admitted(&self, node: &Node) {
        if node.counted.take() {
            self.record_turn(self.port.noted_time());
        }
    }

    /// The turn of the head is over.
    #[cold]
    fn record_turn_end(&self, then: Then, at: At) {
        self.meter().record_turn_end();
        match then {
            Then::Keep => self.meter().record_kept(at),
            Then::Again => {
                // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
                let head = unsafe { self.chain.head().as_ref() };
                self.meter().record_push(&head.counted, at);
            }
            _ if self.chain.has_more() => {}
            _ => self.record_idle_at(at),
        }
    }

    /// The holder goes on with the lane.
    #[cold]
    pub(in crate::lane) fn record_running(&self, at: At) {
        self.meter().record_running(at);
    }

    /// A closure is about to run at once.
    pub(in crate::lane) fn record_call_begin(&self, at: At) {
        if let Some(kept) = self.meter().record_running(at) {
            self.port.record(Level::Slices, Event::Kept { color: self.color(), kept });
        }
    }

    /// The closure is over. The lane is queued next if a node was pushed meanwhile.
    pub(in crate::lane) fn record_call_end(&self, at: At) {
        if self.chain.has_more() { self.record_running(at) } else { self.record_idle_at(at) }
    }

    /// Subtracts `nanos` from the running turn: this thread ran other lanes meanwhile.
    pub(in crate::lane) fn record_lent(&self, nanos: u64, at: At) {
        self.meter().record_lent(nanos, at.session);
    }

    /// A behavior, or readers, are about to get the lane.
    #[inline(always)]
    pub(in crate::lane) fn record_taken(&self) {
        if_on(|| {
            if let Some(at) = self.recorded() {
                self.meter().record_kept(at);
            }
        });
    }

    /// A reader is about to leave.
    #[inline(always)]
    pub(in crate::lane) fn record_leave(&self) {
        if_on(|| {
            if self.chain.tail() == Tail::Readers(1) {
                self.record_idle();
            }
        });
    }

    /// The next exchange may end the hold.
    #[inline(always)]
    pub(in crate::lane) fn record_idle(&self) {
        if_on(|| {
            if let Some(at) = self.recorded() {
                self.record_idle_at(at);
            }
        });
    }

    fn record_idle_at(&self, at: At) {
        if let Some(kept) = self.meter().record_idle(at) {
            self.port.record(Level::Slices, Event::Kept { color: self.color(), kept });
        }
    }
}

/// The recorder of one slice: its clock, and the events that only a slice has.
pub(crate) trait Recorder {
    /// Looks at the clock: at the end of each turn.
    fn look(&mut self) -> At;
    /// The time of the last look.
    fn last(&self) -> At;
    /// The slice begins at this time.
    fn begin(&mut self) -> At;
    /// The pin of this thread.
    fn thread(&self) -> u32;
    /// The lane was queued for `nanos`.
    fn record_wait(&mut self, nanos: u64);
    /// The turn that began last is over.
    fn record_turn(&mut self);
    /// Then: a task completes, or goes on under another lane.
    fn record_leave(&mut self, task: Id, to: Option<Color>);
}

impl Held<'_> {
    /// A slice begins.
    #[cold]
    pub(in crate::lane) fn record_begin(self, recorder: &mut dyn Recorder) {
        let (at, thread) = (recorder.begin(), recorder.thread());
        self.hand_in_usage();
        recorder.record_wait(self.record_slice(at, thread));
    }

    /// The turn of the head begins.
    #[inline(always)]
    pub(in crate::lane) fn record_turn_begin(
        self,
        head: &Head,
        recorder: Option<&mut dyn Recorder>,
    ) {
        let last = recorder.map(|recorder| recorder.last());
        if let Some(at) = last {
            self.record_running(at);
        }
        if self.was_counted(head) {
            self.record_turn(last.map_or_else(|| self.port.now(), |at| at.now));
        }
    }

    /// The turn of the head is over. This may be the end of the slice.
    #[cold]
    pub(in crate::lane) fn record_end(self, head: &Head, then: Then, recorder: &mut dyn Recorder) {
        let at = recorder.look();
        self.record_turn_end(then, at);
        recorder.record_turn();
        let Some(task) = head.task().filter(|_| then == Then::Done) else { return };
        if task.is_complete() {
            recorder.record_leave(task.id(), None);
        } else if task.lane() != self.ptr() {
            // SAFETY: a task that hops has a reference to the lane that it goes to.
            let to = unsafe { task.lane().get() };
            recorder.record_leave(task.id(), Some(to.color()));
        }
    }
}
