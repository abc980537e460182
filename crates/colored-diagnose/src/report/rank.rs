//! The order of findings: causes before their effects, then what takes most.

use super::fault::{Fault, Finding};

/// A finding of a color explains another one of it, if it takes this part of what the other takes.
const EXPLAINS: f64 = 0.25;

/// A finding that takes less than this part of what the largest one takes comes behind it.
const MINOR: f64 = 0.25;

/// The findings that nothing explains: causes first, and what takes little last.
pub(super) fn rank(found: &[Finding]) -> Vec<Finding> {
    let is_explained = |of: &Finding| found.iter().any(|by| explains(by, of));
    let mut ranked: Vec<Finding> = found.iter().filter(|of| !is_explained(of)).cloned().collect();
    let largest = ranked.iter().map(|finding| finding.share).fold(0.0, f64::max);
    ranked.sort_by_key(|finding| (finding.share < MINOR * largest, place(finding.fault)));
    ranked
}

/// Whether `of` is an effect of `by`.
fn explains(by: &Finding, of: &Finding) -> bool {
    let same_color = by.color.is_some() && by.color == of.color;
    let takes_enough = by.share >= EXPLAINS * of.share;
    match (by.fault, of.fault) {
        // A poll that holds a color holds everything behind it.
        (Fault::BlockedWorker | Fault::LongPoll, Fault::HotColor | Fault::DefaultColor)
        | (Fault::BlockedWorker | Fault::LongPoll, Fault::Convoy | Fault::UnboundedQueue) => {
            same_color && takes_enough
        }
        (Fault::BlockedWorker, Fault::LongPoll) => same_color,
        (Fault::StuckColor, Fault::Convoy | Fault::UnboundedQueue) => same_color,
        // The holder of the lock needs the color, or somebody behind it.
        (Fault::StuckColor, Fault::LockWait) => by.lock.is_some() && by.lock == of.site,
        // The color is kept because what keeps it waits for the lock.
        (Fault::LockWait, Fault::Convoy) => of.lock.is_some() && of.lock == by.site,
        // What does not run fills its queue.
        (Fault::Convoy, Fault::UnboundedQueue) => same_color,
        (Fault::StarvedClass, Fault::UnboundedQueue | Fault::HotColor | Fault::DefaultColor) => {
            true
        }
        // A color with a queue that grows is full.
        (Fault::UnboundedQueue, Fault::HotColor | Fault::DefaultColor) => same_color,
        // The tasks that the timers wake are short, wherever they run.
        (Fault::TimerStorm, Fault::HotColor | Fault::DefaultColor) => true,
        (Fault::TimerStorm, Fault::TooFine | Fault::PingPong) => true,
        (Fault::PingPong, Fault::TooFine) => true,
        // Threads that allocate and free all the time wait for each other's locks.
        (Fault::TooFine, Fault::BlockedWorker) => by.share >= of.share,
        (Fault::PingPong, Fault::HotColor | Fault::DefaultColor) => same_color,
        _ => false,
    }
}

/// The place among independent findings.
fn place(fault: Fault) -> u8 {
    match fault {
        Fault::BlockedWorker => 0,
        Fault::LongPoll => 1,
        Fault::StuckColor => 2,
        Fault::LockWait => 3,
        Fault::Convoy => 4,
        Fault::StarvedClass => 5,
        Fault::UnboundedQueue => 6,
        Fault::DefaultColor => 7,
        Fault::HotColor => 8,
        Fault::TimerStorm => 9,
        Fault::PingPong => 10,
        Fault::TooFine => 11,
    }
}
