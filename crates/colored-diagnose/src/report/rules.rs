//! The rules: each looks for one or a few kinds of fault, and knows nothing of the others. `rank.rs` puts what they find
//! in order.

mod classes;
mod colors;
mod dispatch;
mod polls;
mod queues;
mod timers;
mod waits;

use super::digest::Digest;
use super::fault::Finding;

/// From this share on the CPUs are full: the rest goes to dispatch and to the system.
pub(super) const FULL: f64 = 0.85;

/// Something happens all the time if it happens in three of four quarters.
const MOSTLY: f64 = 0.7;

/// What all rules find, in no order.
pub(super) fn all(digest: &Digest<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(polls::blocked(digest));
    found.extend(polls::long(digest));
    found.extend(waits::stuck(digest));
    found.extend(waits::lock(digest));
    found.extend(colors::convoy(digest));
    found.extend(colors::hot(digest));
    found.extend(classes::starved(digest));
    found.extend(queues::growing(digest));
    found.extend(timers::storm(digest));
    found.extend(dispatch::ping_pong(digest));
    found.extend(dispatch::too_fine(digest));
    found
}
