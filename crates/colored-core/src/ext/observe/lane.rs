//! The events of a lane that go into its meter and into the trace, while its scheduler records. See
//! [`meter`](crate::ext::meter).
//!
//! [`hooks`](crate::hooks) calls these. It asks [`is_on`](crate::ext::meter::is_on) before those that come at any time; the
//! others are for a slice that is recorded: a [`SliceListener`] is their argument, or a time from one.
//!
//! | event | in | the lane's state becomes |
//! |---|---|---|
//! | a node is pushed | [`pushed`] | |
//! | the lane is given to a queue | [`queued`] | queued |
//! | a slice begins | [`slice_begins`] | running |
//! | the turn of the head begins | [`turn_begins`] | running |
//! | the turn is over, and the next exchange may end the hold | [`turn_ends`] | idle, or kept |
//! | a closure begins at once, on its caller's thread | [`InlineCall`](super::inline_call::InlineCall) | running |
//! | it is over | the same | idle, unless something waits |
//! | it has run during a poll of another lane | the same, for that lane | |
//! | a behavior, or readers, are about to get the lane | [`taken`] | kept |
//! | the behavior gives it back | [`idle`], then perhaps `queued` | idle |
//! | a reader leaves | [`left`], then perhaps `queued` | idle, if it is the last one |
//!
//! Call each before the exchange that gives the right to run away: another thread may free the lane afterwards.

use crate::ext::meter::{At, Level, Meter};
use crate::ext::trace::Event;
use crate::ext::usage::Usage;
use crate::kernel::chain::{Node, Tail};
use crate::kernel::color::Color;
use crate::kernel::lane::base::{AfterTurn, Held, Lane};
use crate::kernel::lane::current;
use crate::kernel::lane::current::Head;
use crate::kernel::task::{Id, Named};

/// The recorder of one slice: its clock, and the events that only a slice has.
pub(crate) trait SliceListener {
    /// Looks at the clock: at the end of each turn.
    fn look(&mut self) -> At;
    /// The time of the last look.
    fn last(&self) -> At;
    /// The slice begins at this time.
    fn begin(&mut self) -> At;
    /// The pin of this thread.
    fn thread(&self) -> u32;
    /// The lane was queued for `nanos`.
    fn queued(&mut self, nanos: u64);
    /// The turn that began last is over.
    fn turn_ends(&mut self);
    /// Then: a task completes, or goes on under another lane.
    fn task_leaves(&mut self, task: Id, to: Option<Color>);
}

/// The time of an event that is to be recorded; `None` if the scheduler records nothing. Below [`Level::Tasks`] it is the
/// [`noted_time`](crate::kernel::lane::Dispatch::noted_time).
#[cold]
fn recorded(lane: &Lane) -> Option<At> {
    let port = &lane.port;
    let switch = &port.common().slot.switch;
    let now = match switch.level() {
        Level::Off => return None,
        Level::Slices => port.noted_time(),
        _ => port.now(),
    };
    Some(switch.at(now))
}

/// As [`recorded`], with the present time at every level.
#[cold]
pub(super) fn recorded_now(lane: &Lane) -> Option<At> {
    let switch = &lane.port.common().slot.switch;
    (switch.level() != Level::Off).then(|| switch.at(lane.port.now()))
}

fn meter(lane: &Lane) -> &Meter {
    lane.slot.meter_or_make()
}

/// A task is about to be scheduled: it has been woken, perhaps by the task that this thread polls.
pub(crate) fn woken(lane: &Lane, task: Id) {
    lane.port.record(Level::Tasks, Event::Wake { by: current::waker(), task });
}

/// A closure is about to be posted.
pub(crate) fn posted(lane: &Lane) {
    lane.port.record(Level::All, Event::Post { color: lane.color() });
}

/// A call or a read is about to begin or to be queued.
pub(crate) fn called(lane: &Lane) {
    lane.port.record(Level::All, Event::Call { color: lane.color() });
}

/// A task that no other thread knows yet is about to be pushed.
pub(crate) fn spawned(lane: &Lane, task: Named) {
    let by = current::task().map(|by| by.id());
    let Named { id: task, spawned } = task;
    lane.port.record(Level::Tasks, Event::Spawn { by, task, site: Some(spawned) });
}

/// A node is about to be pushed.
pub(crate) fn pushed(lane: &Lane, node: &Node) {
    if let Some(at) = recorded(lane) {
        meter(lane).record_push(&node.mark, at);
    }
}

/// The caller is about to give the right to run the lane to a queue.
pub(crate) fn queued(lane: &Lane) {
    if let Some(at) = recorded(lane) {
        queued_at(lane, at);
    }
}

#[cold]
pub(crate) fn queued_at(lane: &Lane, at: At) {
    if let Some(kept) = meter(lane).record_queued(at) {
        record_kept(lane, kept);
    }
}

fn record_kept(lane: &Lane, kept: u64) {
    lane.port.record(Level::Slices, Event::Kept { color: lane.color(), kept });
}

/// The wait of a node whose push was counted is over.
#[cold]
pub(crate) fn entered(lane: &Lane) {
    meter(lane).record_turn(lane.port.noted_time());
}

/// A behavior, or readers, are about to get the lane.
pub(crate) fn taken(lane: &Lane) {
    if let Some(at) = recorded(lane) {
        meter(lane).record_kept(at);
    }
}

/// A reader is about to leave.
pub(crate) fn left(lane: &Lane) {
    if lane.chain.tail() == Tail::Readers(1) {
        idle(lane);
    }
}

/// The next exchange may end the hold.
pub(crate) fn idle(lane: &Lane) {
    if let Some(at) = recorded(lane) {
        idle_at(lane, at);
    }
}

fn idle_at(lane: &Lane, at: At) {
    if let Some(kept) = meter(lane).record_idle(at) {
        record_kept(lane, kept);
    }
}

/// A closure is about to run at once.
pub(super) fn call_begins(lane: &Lane, at: At) {
    if let Some(kept) = meter(lane).record_running(at) {
        record_kept(lane, kept);
    }
}

/// The closure is over. The lane is queued next if a node was pushed meanwhile.
pub(super) fn call_ends(lane: &Lane, at: At) {
    if lane.chain.has_more() {
        meter(lane).record_running(at);
    } else {
        idle_at(lane, at);
    }
}

/// Subtracts `nanos` from the running turn: this thread ran other lanes meanwhile.
pub(super) fn lent(lane: &Lane, nanos: u64, at: At) {
    meter(lane).record_lent(nanos, at.session);
}

/// A slice begins.
#[cold]
pub(crate) fn slice_begins(lane: Held<'_>, listener: &mut dyn SliceListener) {
    let (at, thread) = (listener.begin(), listener.thread());
    hand_in_usage(&lane);
    let (queued, depth) = meter(&lane).record_slice(at, thread);
    if depth > 1 {
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        lane.port.record(Level::Slices, Event::Depth { color: lane.color(), depth });
    }
    listener.queued(queued);
}

/// Hands in what has been recorded of a lane that the table does not have: nothing else would find it before the lane
/// retires. The holder calls this when a slice begins: a cell has a color that others can name, so the table has its lane.
fn hand_in_usage(lane: &Lane) {
    if !lane.is_published()
        && let Some(usage) = meter(lane).drain()
    {
        lane.port.keep_usage(lane.color(), usage);
    }
}

/// The turn of the head begins.
#[inline(always)]
pub(crate) fn turn_begins(
    lane: Held<'_>,
    head: &Head,
    listener: Option<&mut (dyn SliceListener + '_)>,
) {
    let last = listener.map(|listener| listener.last());
    if let Some(at) = last {
        goes_on(&lane, at);
    }
    if lane.mark(head).take() {
        counted_turn_begins(&lane, last);
    }
}

/// The holder goes on with the lane.
#[cold]
fn goes_on(lane: &Lane, at: At) {
    meter(lane).record_running(at);
}

/// The turn of a node begins that was counted.
#[cold]
fn counted_turn_begins(lane: &Lane, at: Option<At>) {
    meter(lane).record_turn(at.map_or_else(|| lane.port.now(), |at| at.now));
}

/// The turn of the head is over. This may be the end of the slice.
#[cold]
pub(crate) fn turn_ends(
    lane: Held<'_>,
    head: &Head,
    then: AfterTurn,
    listener: &mut dyn SliceListener,
) {
    let at = listener.look();
    meter(&lane).record_turn_end();
    match then {
        AfterTurn::Park => meter(&lane).record_kept(at),
        AfterTurn::Rotate => meter(&lane).record_push(lane.mark(head), at),
        _ if lane.chain.has_more() => {}
        _ => idle_at(&lane, at),
    }
    listener.turn_ends();
    let Some(task) = head.task().filter(|_| then == AfterTurn::Unlink) else { return };
    if task.is_complete() {
        listener.task_leaves(task.id(), None);
    } else if task.lane() != lane.ptr() {
        // SAFETY: a task that hops has a reference to the lane that it goes to.
        let to = unsafe { task.lane().get() };
        listener.task_leaves(task.id(), Some(to.color()));
    }
}

impl Lane {
    /// What has been recorded of the lane, if something has; with `at`, up to that time.
    pub(in crate::ext) fn usage(&self, at: Option<At>) -> Option<Usage> {
        let meter = self.slot.meter()?;
        Some(at.map_or_else(|| meter.usage(), |at| meter.usage_until(at)))
    }
}

/// Forgets what has been recorded, and returns it. No thread uses the lane.
#[inline]
pub(crate) fn take_usage(lane: &mut Lane) -> Option<Usage> {
    lane.slot.meter_mut()?.reset()
}
