//! Samples of run times: a worker charges its time, some 50 µs at once.

use super::profile::{CHARGED_NANOS, Site};
use crate::kernel::sched::remote::Remote;
use crate::kernel::sched::scheduler::CoarseClock;

/// Called after each look at the clock: charges the time if enough has passed.
pub(crate) fn if_due(remote: &Remote, clock: &mut CoarseClock, by_color: bool) {
    if clock.now - clock.charged >= CHARGED_NANOS {
        charge(remote, clock, by_color);
    }
}

/// Charges the time since the last charge to what has just run: to the place of its spawn and, if `by_color`, to its
/// color.
#[cold]
fn charge(remote: &Remote, clock: &mut CoarseClock, by_color: bool) {
    let time = clock.now - clock.charged;
    clock.charged = clock.now;
    let spawned = remote.running.task().map(|(_, spawned)| spawned);
    let color = remote.running.color();
    let site = Site { spawned, is_default: color.is_default() };
    remote.slot.profile.lock().charge(site, by_color.then_some(color), time);
}
