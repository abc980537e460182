//! The moment at which a worker has looked at its clock, in a slice.

use crate::ext::observe::charge;
use crate::kernel::sched::remote::Remote;
use crate::kernel::sched::scheduler::CoarseClock;

/// The worker has looked at its clock, at the end of a turn. `by_color`: nothing else measures the color.
#[inline]
pub(crate) fn looked(remote: &Remote, clock: &mut CoarseClock, by_color: bool) {
    charge::if_due(remote, clock, by_color);
}
