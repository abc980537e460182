//! Waiting for several colors at once.

use super::graph::{How, To};
use super::lines::{Spot, Stand};
use super::waiter::{Waiter, again};
use super::{Ordered, Wait};
use crate::color::Color;
use crate::lane::Known;
use crate::lane::claim::Header;
use crate::lane::want::Want;
use crate::sched::with_handle_of_task;
use crate::task::{Deadlock, Named};
use std::panic::Location;
use std::ptr::NonNull;

/// As [`queue`](super::queue), for a turn under several colors at once, which waits for all of them whether or not
/// somebody waits for it. `push` [enters](Ordered::enter) the behavior, whose wants these are, before it
/// stands in a line. Not recorded if one of the lanes is of another scheduler than the waiting task.
///
/// # Safety
///
/// The lanes are alive, and the behavior keeps them.
#[cold]
pub(crate) unsafe fn queue_all<R>(
    wants: impl Iterator<Item = Want> + Clone,
    how: &'static str,
    site: &'static Location<'static>,
    push: impl FnOnce(Option<Wait>, Ordered<'_>) -> R,
) -> Result<R, Deadlock> {
    let waiter = Waiter::current().filter(|waiter| {
        // SAFETY: by contract.
        wants.clone().all(|want| unsafe { want.lane().get() }.is_of(waiter.scheduler()))
    });
    let Some(waiter) = waiter else { return Ok(push(None, Ordered(None))) };
    let mut graph = waiter.lock();
    let key = graph.next_key();
    // SAFETY: by contract.
    let spots = unsafe { spots(wants, key) };
    let stand = Stand { task: Some(waiter.task.named()), site, spots, behavior: None };
    if let Some(deadlock) = graph.crosses(&stand) {
        return Err(deadlock);
    }
    graph.lines.enter(key, stand);
    let how = How { how, site };
    match waiter.add(&mut graph, Some(key), |_, _| To::Stand { key, how }) {
        Ok(wait) => Ok(push(Some(wait), Ordered(Some((graph, key))))),
        Err(deadlock) => {
            graph.lines.leave(key);
            Err(deadlock)
        }
    }
}

impl Ordered<'_> {
    /// A behavior is about to stand in its lines, and to be alive until it [begins](crate::lane::Dispatch::begins).
    pub(crate) fn enter(&mut self, behavior: NonNull<Header>) {
        if let Some((graph, key)) = &mut self.0 {
            // SAFETY: by contract.
            let behavior = unsafe { Known::new(behavior) };
            graph.lines.becomes(*key, behavior);
            behavior.make();
        }
    }
}

/// As [`queued`](super::queued), for a turn under several colors at once. If `before` is none it is
/// to be followed by [`is_entered`].
///
/// # Safety
///
/// The behavior is alive, stands in its lines, has not begun, and does not before this returns.
#[cold]
pub(crate) unsafe fn queued_all(
    before: Option<Wait>,
    behavior: NonNull<Header>,
    how: &'static str,
    site: &'static Location<'static>,
) -> Result<Option<Wait>, Deadlock> {
    // SAFETY: by contract; and it tells the recorder when it begins.
    let behavior = unsafe { Known::new(behavior) };
    let waiter = Waiter::current().filter(|waiter| behavior.is_all_of(waiter.scheduler()));
    let Some(waiter) = waiter else { return Ok(None) };
    if before.is_none() {
        waiter.lock().key_of(behavior, Some(waiter.task.named()));
    }
    let how = How { how, site };
    again(before, true, |graph, _| To::Stand { key: graph.key_of(behavior, None).0, how })
}

/// A behavior may have been entered that had some of its lanes before.
///
/// # Safety
///
/// The caller keeps it.
#[cold]
pub(crate) unsafe fn is_entered(behavior: NonNull<Header>) {
    with_handle_of_task(|handle| {
        if let Some(handle) = handle {
            // SAFETY: by contract.
            handle.scheduler().settle(unsafe { Known::new(behavior) });
        }
    });
}

impl super::graph::Graph {
    /// The key of a behavior, which is entered if it was not: what is before it in its lines is not
    /// known then. True if so. It has not begun.
    pub(super) fn key_of(&mut self, behavior: Known, task: Option<Named>) -> (u64, bool) {
        if let Some(key) = self.lines.key_of(behavior) {
            return (key, false);
        }
        let key = self.next_key();
        // SAFETY: the behavior keeps its lanes.
        let spots = unsafe { spots(behavior.wants(), 0) };
        let stand = Stand { task, site: behavior.site(), spots, behavior: Some(behavior) };
        self.lines.enter(key, stand);
        behavior.make();
        self.lines.note_lanes(key);
        (key, true)
    }
}

/// # Safety
///
/// The lanes are alive.
unsafe fn spots(wants: impl Iterator<Item = Want>, place: u64) -> Vec<(Spot, Color)> {
    let spot_of = |want: Want| {
        let lane = want.lane();
        // SAFETY: by contract.
        let color = unsafe { lane.get() }.color();
        (Spot { lane, shared: !want.is_exclusive(), place }, color)
    };
    wants.map(spot_of).collect()
}
