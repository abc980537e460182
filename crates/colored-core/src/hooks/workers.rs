//! The seam of workers and guests: the moments of a slice, of a search and of a sleep, and of the scheduler as a whole.
//!
//! As [`hooks`](crate::hooks), for what stands above lanes.

use crate::ext::meter::Level;
use crate::ext::observe::lane::take_usage;
use crate::ext::observe::times::Phase;
use crate::ext::snapshot::{self, view::View};
use crate::hooks::slots::Listen;
use crate::kernel::lane::base::{Held, Lane};
use crate::kernel::sched::local::Local;
use crate::kernel::sched::scheduler::{CoarseClock, Scheduler};
use std::ops::Range;

/// The lane, to which nothing refers any more, has values of its color: they are dropped under it, unless it is in use again.
pub(crate) use crate::ext::locals::end as color_ends;
/// The worker has stolen the lane, and perhaps others, from the worker `from`.
pub(crate) use crate::ext::observe::account::{Account, stolen};
/// A guest is about to run a slice, as [`slice_begins`]. Runs a slice of a guest to which somebody listens.
pub(crate) use crate::ext::observe::guest_slice::{
    begin as guest_slice_begins, run as run_on_guest,
};
/// A worker is about to run a slice. Some if somebody listens: [`run`] runs it then.
pub(crate) use crate::ext::observe::slice::{begin as slice_begins, run};

/// The worker goes to sleep.
pub(crate) fn sleeps(account: &mut Account, clock: &mut CoarseClock, local: &Local) {
    account.begin(Phase::Parked, clock, local);
}

/// The worker has woken up.
pub(crate) fn wakes(account: &mut Account, clock: &mut CoarseClock, local: &Local) {
    account.end_sleep(clock, local);
}

/// The worker is about to hand out so many events.
#[inline]
pub(crate) fn hands_out(
    account: &mut Account,
    events: usize,
    clock: &mut CoarseClock,
    local: &Local,
) {
    account.count_events(events, clock, local);
}

/// The worker looks for a lane to steal.
#[inline]
pub(crate) fn searches(account: &mut Account, clock: &mut CoarseClock, local: &Local) {
    account.enter(Phase::Search, clock, local);
}

/// The scheduler wants spare workers: those of this range may run soon.
pub(crate) fn spares_wanted(scheduler: &Scheduler, spares: Range<usize>) {
    // Their rings are needed.
    if scheduler.common.slot.switch.level() != Level::Off {
        scheduler.remotes[spares].iter().for_each(|remote| remote.slot.ring.allocate());
    }
}

/// The lane retires: it has no reference, and is in no table.
#[inline]
pub(crate) fn retires(scheduler: &Scheduler, lane: &mut Lane) {
    if let Some(usage) = take_usage(lane) {
        scheduler.keep_usage(lane.color(), usage);
    }
}

/// A slice begins of a lane that was asked to be shown.
pub(crate) fn asked(scheduler: &Scheduler, lane: Held<'_>) {
    snapshot::show_asked(scheduler, View::of(lane));
}
