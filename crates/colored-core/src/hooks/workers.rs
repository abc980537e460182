//! The seam of workers and guests: the moments of a slice, of a search and of a sleep, and of the scheduler as a whole.
//!
//! As [`hooks`](crate::hooks), for what stands above lanes.

use crate::ext::locals;
use crate::ext::observe::times::Phase;
use crate::ext::observe::{account, guest_slice, slice};
use crate::ext::snapshot::view::View;
use crate::kernel::lane::base::{Held, Lane};
use crate::kernel::lane::{LaneRef, ReadyLane, Slice};
use crate::kernel::sched::local::Local;
use crate::kernel::sched::pace::Pace;
use crate::kernel::sched::scheduler::Scheduler;
use crate::kernel::sched::worker::runner::GuestRunner;
use crate::kernel::sched::worker::runner::SliceRunner;
use std::ops::Range;

pub(crate) use crate::ext::observe::account::Account;
pub(crate) use crate::ext::observe::slice::Listening;

/// A worker is about to run a slice. Some if somebody listens: [`run`] runs it then.
#[inline]
pub(crate) fn slice_begins(
    account: &mut Account,
    pace: &mut Pace,
    local: &Local,
) -> Option<Listening> {
    slice::begin(account, pace, local)
}

/// Runs a slice to which somebody listens.
pub(crate) fn run(
    local: &Local,
    lane: ReadyLane,
    turn: &mut SliceRunner<'_>,
    listening: Listening,
) -> Slice {
    slice::run(local, lane, turn, listening)
}

/// A guest is about to run a slice, as [`slice_begins`].
pub(crate) fn guest_slice_begins(scheduler: &Scheduler) -> Option<Listening> {
    guest_slice::begin(scheduler)
}

/// Runs a slice of a guest to which somebody listens.
pub(crate) fn run_on_guest(lane: ReadyLane, turn: GuestRunner<'_>, listening: Listening) -> Slice {
    guest_slice::run(lane, turn, listening)
}

/// The worker looks for a lane to steal.
#[inline]
pub(crate) fn searches(account: &mut Account, pace: &mut Pace, local: &Local) {
    account.enter(Phase::Search, pace, local);
}

/// The worker has stolen the lane, and perhaps others, from the worker `from`.
#[inline]
pub(crate) fn stolen(local: &Local, now: u64, lane: &ReadyLane, from: usize) {
    account::stolen(local, now, lane, from);
}

/// The scheduler wants spare workers. Those of this range may run soon.
pub(crate) fn spares_wanted(scheduler: &Scheduler, spares: Range<usize>) {
    scheduler.allocate_rings_of_spares(spares);
}

/// The lane retires: it has no reference, and is in no table.
#[inline]
pub(crate) fn retires(scheduler: &Scheduler, lane: &mut Lane) {
    if let Some(usage) = lane.take_usage() {
        scheduler.keep_usage(lane.color(), usage);
    }
}

/// A slice begins of a lane that was asked to be shown.
pub(crate) fn asked(scheduler: &Scheduler, lane: Held<'_>) {
    scheduler.show_asked(View::of(lane));
}

/// The lane, to which nothing refers any more, has values of its color: they are dropped under it, unless it is in use again.
pub(crate) fn color_ends(lane: LaneRef) {
    locals::end(lane);
}
