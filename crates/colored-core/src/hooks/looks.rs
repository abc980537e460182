//! The moment at which a worker has looked at its clock, in a slice.

use crate::ext::observe::charge;
use crate::kernel::sched::pace::Pace;
use crate::kernel::sched::remote::Remote;

/// The worker has looked at its clock, at the end of a turn. `by_color`: nothing else measures the color.
#[inline]
pub(crate) fn looked(remote: &Remote, pace: &mut Pace, by_color: bool) {
    charge::if_due(remote, pace, by_color);
}
