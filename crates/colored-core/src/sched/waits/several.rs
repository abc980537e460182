//! Waiting for several colors at once.

use super::graph::To;
use super::lines::{Spot, Stand};
use super::waiter::{Waiter, again};
use super::{Ordered, Standing, Wait};
use crate::color::Color;
use crate::lane::want::Want;
use crate::task::Deadlock;
use std::panic::Location;

/// As [`queue`](super::queue), for a turn under several colors at once, which waits for all of them whether or not
/// somebody waits for it.
///
/// # Safety
///
/// The lanes are alive until both records are dropped.
#[cold]
pub(crate) unsafe fn queue_all<R>(
    wants: impl Iterator<Item = Want> + Clone,
    how: &'static str,
    site: &'static Location<'static>,
    push: impl FnOnce(Option<Wait>, Option<Standing>, Ordered<'_>) -> R,
) -> Result<R, Deadlock> {
    let Some(waiter) = Waiter::current() else { return Ok(push(None, None, Ordered(None))) };
    let mut graph = waiter.lock();
    // SAFETY: by contract.
    let to = |place| unsafe { to_all(wants.clone(), place, how, site) };
    let place = graph.next_key();
    // SAFETY: by contract.
    let stand = unsafe { stand(&waiter, wants.clone(), place, site) };
    if let Some(deadlock) = graph.crosses(&stand) {
        return Err(deadlock);
    }
    let wait = waiter.add(&mut graph, Some(place), to)?;
    let stand = waiter.enter(&mut graph, place, stand);
    Ok(push(Some(wait), Some(stand), Ordered(Some(graph))))
}

/// As [`queued`](super::queued), for a turn under several colors at once. The closure has not begun, and does not
/// meanwhile.
///
/// # Safety
///
/// As for [`queue_all`].
#[cold]
pub(crate) unsafe fn queued_all<W: Iterator<Item = Want>>(
    before: Option<Wait>,
    standing: &mut Option<Standing>,
    wants: impl Fn() -> W,
    how: &'static str,
    site: &'static Location<'static>,
) -> Result<Option<Wait>, Deadlock> {
    if standing.is_none()
        && let Some(waiter) = Waiter::current()
    {
        let mut graph = waiter.lock();
        let key = graph.next_key();
        // SAFETY: by contract.
        let stand = unsafe { stand(&waiter, wants(), 0, site) };
        *standing = Some(waiter.enter(&mut graph, key, stand));
    }
    // SAFETY: by contract.
    again(before, true, |place| unsafe { to_all(wants(), place, how, site) })
}

/// # Safety
///
/// The lanes are alive.
unsafe fn to_all(
    wants: impl Iterator<Item = Want>,
    place: u64,
    how: &'static str,
    site: &'static Location<'static>,
) -> impl Iterator<Item = To> {
    wants.map(move |want| {
        // SAFETY: by contract.
        let (spot, color) = unsafe { spot_of(want, place) };
        To::Lane { spot, color, how, site }
    })
}

/// # Safety
///
/// The lane is alive.
unsafe fn spot_of(want: Want, place: u64) -> (Spot, Color) {
    let lane = want.lane();
    // SAFETY: by contract.
    let color = unsafe { lane.get() }.color();
    (Spot { lane, shared: !want.is_exclusive(), place }, color)
}

/// # Safety
///
/// The lanes are alive for as long as it is used.
unsafe fn stand(
    waiter: &Waiter,
    wants: impl Iterator<Item = Want>,
    place: u64,
    site: &'static Location<'static>,
) -> Stand {
    // SAFETY: by contract.
    let spots = wants.map(|want| unsafe { spot_of(want, place) }).collect();
    Stand { task: waiter.task.named(), site, spots }
}
