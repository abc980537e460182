//! The events of a lane that go into its meter and into the trace, while its scheduler records. See
//! [`meter`](crate::meter).
//!
//! Each function is out of line. Its callers first ask [`is_on`](crate::meter::is_on), or know the level of their slice.
//!
//! | event | in | the lane's state becomes |
//! |---|---|---|
//! | a node is pushed | [`record_push`](Lane::record_push) | |
//! | the lane is given to a queue | [`record_queued`](Lane::record_queued) | queued |
//! | a slice begins | [`record_slice`](Lane::record_slice) | running |
//! | the turn of a node begins | [`record_turn`](Lane::record_turn) | |
//! | the turn is over, and the next exchange may end the hold | [`record_turn_end`](Lane::record_turn_end) | idle, or kept |
//! | the exchange did not | [`record_running`](Lane::record_running) | running |
//! | a closure begins at once, on its caller's thread | [`record_call_begin`](Lane::record_call_begin) | running |
//! | it is over | [`record_call_end`](Lane::record_call_end) | idle, unless something waits |
//! | it has run during a poll of another lane | that lane's [`record_lent`](Lane::record_lent) | |
//! | a behavior, or readers, are about to get the lane | [`record_taken`](Lane::record_taken) | kept |
//! | these give it back | [`record_idle`](Lane::record_idle), then perhaps `record_queued` | idle |
//!
//! Call each before the exchange that gives the right to run away: another thread may free the lane afterwards.

use crate::lane::turn_end::after::After;
use crate::lane::{Lane, LanePtr, current};
use crate::meter::{At, Level, Meter};
use crate::queue::{Node, Pushed};
use crate::task::TaskRef;
use crate::trace::Event;
use crate::usage::Usage;
use std::ptr::NonNull;

impl LanePtr {
    /// The task is about to be scheduled: it has been woken, perhaps by the task that this thread polls.
    #[cold]
    pub(in crate::lane) fn record_wake(self, task: TaskRef<LanePtr>) {
        // SAFETY: the task, which is not complete, owns a reference to its lane.
        let port = &unsafe { self.get() }.port;
        port.record(Level::Tasks, Event::Wake { by: current::waker(), task: task.id() });
    }
}

impl Lane {
    /// A closure is about to be posted.
    #[cold]
    pub(crate) fn record_post(&self) {
        self.port.record(Level::All, Event::Post { color: self.color() });
    }

    /// A call or a read is about to begin or to be queued.
    #[cold]
    pub(crate) fn record_call(&self) {
        self.port.record(Level::All, Event::Call { color: self.color() });
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
    #[cold]
    pub(in crate::lane) fn record_push(&self, node: &Node) {
        if let Some(at) = self.port.recorded() {
            self.meter().record_push(&node.counted, at);
        }
    }

    /// Pushes a node. The caller gives the lane to a queue if it was idle.
    ///
    /// # Safety
    ///
    /// As for [`Chain::push`](crate::queue::Chain::push).
    #[cold]
    pub(in crate::lane) unsafe fn push_recorded(&self, node: NonNull<Node>) -> Pushed {
        // SAFETY: the node is in no chain yet, so this thread may read it.
        self.record_push(unsafe { node.as_ref() });
        // SAFETY: the caller promises that the node is in no chain, and that node and chain are alive until it is
        // unlinked.
        let pushed = unsafe { self.chain.push(node) };
        if let Pushed::Claimed = pushed {
            self.record_queued();
        }
        pushed
    }

    /// The caller is about to give the right to run the lane to a queue.
    #[cold]
    pub(in crate::lane) fn record_queued(&self) {
        if let Some(at) = self.port.recorded() {
            self.record_queued_at(at);
        }
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

    /// A claim was pushed just now, and has got the lane, which was idle.
    #[cold]
    pub(in crate::lane) fn record_granted(&self, node: &Node) {
        self.record_admitted(node);
        if let Some(at) = self.port.recorded() {
            self.record_taken(at);
        }
    }

    /// The turn of the head is over.
    #[cold]
    pub(in crate::lane) fn record_turn_end(&self, after: After, at: At) {
        self.meter().record_turn_end();
        match after {
            After::Keep => self.meter().record_kept(at),
            After::Rotate => {
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
    #[cold]
    pub(in crate::lane) fn record_taken(&self, at: At) {
        self.meter().record_kept(at);
    }

    /// The next exchange may end the hold.
    #[cold]
    pub(in crate::lane) fn record_idle(&self) {
        if let Some(at) = self.port.recorded() {
            self.record_idle_at(at);
        }
    }

    fn record_idle_at(&self, at: At) {
        if let Some(kept) = self.meter().record_idle(at) {
            self.port.record(Level::Slices, Event::Kept { color: self.color(), kept });
        }
    }
}
