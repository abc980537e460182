//! Which scheduler a thread works for: as a worker, as a guest, because it runs under a color, or because it
//! has been told so.
//!
//! The innermost counts. A thread that runs under a color of one scheduler while it is a worker of another
//! calls a cell of the former: a closure that runs at once finds what it would find on that one's workers.

use super::{Handle, guest, local};
use crate::entries::Entries;
use crate::lane::{LanePtr, current};
use std::marker::PhantomData;

std::thread_local!(static ENTERED: Entries<Entry> = const { Entries::new() });

/// A scheduler that the thread has been told to work for, and where it was then.
struct Entry {
    handle: Handle,
    place: Place,
}

/// The worker that a thread is, and the lane that it holds.
type Place = (Option<usize>, Option<LanePtr>);

fn place() -> Place {
    (local::address(), current::lane())
}

/// Calls `f` with the handle of the scheduler that this thread works for.
#[inline]
pub(crate) fn with_handle<R>(f: impl FnOnce(Option<&Handle>) -> R) -> R {
    with_running(current::lane(), entered_here(), f)
}

/// Calls `f` with the handle of the scheduler whose color this thread runs under, if it does: that of the
/// task which it polls, whatever it has entered since.
#[inline]
pub(crate) fn with_handle_of_task<R>(f: impl FnOnce(Option<&Handle>) -> R) -> R {
    match current::lane() {
        Some(lane) => with_running(Some(lane), None, f),
        None => f(None),
    }
}

/// As [`with_handle`], for what runs under that lane, if under any. `entered` goes before.
#[inline]
fn with_running<R>(
    lane: Option<LanePtr>,
    entered: Option<Handle>,
    f: impl FnOnce(Option<&Handle>) -> R,
) -> R {
    let is_of = |handle: &Handle| {
        // SAFETY: this thread holds it.
        lane.is_none_or(|lane| unsafe { lane.get() }.is_of(handle.scheduler()))
    };
    local::with(|local| match local {
        Some(local) if entered.is_none() && is_of(local.handle()) => f(Some(local.handle())),
        local => guest::with_handle(|handle| {
            let handle =
                handle.filter(|handle| local.is_none() && entered.is_none() && is_of(handle));
            let other = if handle.is_some() { None } else { entered.or_else(|| elsewhere(lane)) };
            f(handle.or(other.as_ref()))
        }),
    })
}

/// The scheduler of a lane that this thread holds, and is neither worker nor guest of; without a lane,
/// that which it has been told to work for.
#[cold]
fn elsewhere(lane: Option<LanePtr>) -> Option<Handle> {
    match lane {
        // SAFETY: this thread holds it.
        Some(lane) => Handle::of(unsafe { lane.get() }.port()),
        None => last_entry(|_| true),
    }
}

/// What the thread has been told to work for, and neither begun to run something nor ended it since.
/// Asked before every spawn: without an entry it is a look at one thread-local.
#[inline]
fn entered_here() -> Option<Handle> {
    last_entry(|entry| entry.place == place())
}

#[inline]
fn last_entry(is_meant: impl FnOnce(&Entry) -> bool) -> Option<Handle> {
    let last = |entry: Option<&Entry>| {
        let entry = entry.filter(|entry| is_meant(entry))?;
        Some(entry.handle.clone())
    };
    ENTERED.with(|entered| entered.innermost(last))
}

impl Handle {
    /// Lets this thread spawn on the scheduler without naming it, until the guard is dropped. Of
    /// several guards the one that was made last counts; they may be dropped in any order.
    ///
    /// Also in a task of another scheduler: there it holds for the color that runs, and not for what a
    /// closure does meanwhile that is given to a cell of a third one. A task that keeps the guard across an
    /// await keeps it for other tasks of its color on its thread, too.
    pub fn enter(&self) -> Entered {
        let entry = Entry { handle: self.clone(), place: place() };
        let key = ENTERED.with(|entered| entered.enter(entry));
        Entered { key, _this_thread: PhantomData }
    }

    /// The scheduler that this thread works for, if that is known by more than that it is its worker or guest:
    /// it has entered one, or runs under a color of another one, inside a closure that is given to a cell of
    /// that and runs at once. Otherwise it costs a look at three thread-locals.
    #[inline]
    #[must_use]
    pub fn entered_or_borrowed() -> Option<Handle> {
        let lane = current::lane();
        let is_own = |handle: &Handle| {
            // SAFETY: this thread holds it.
            lane.is_none_or(|lane| unsafe { lane.get() }.is_of(handle.scheduler()))
        };
        let is_usual = local::with(|local| match local {
            Some(local) => is_own(local.handle()),
            None => guest::with_handle(|handle| handle.map_or(lane.is_none(), is_own)),
        });
        if is_usual && ENTERED.with(|entered| entered.innermost(|entry| entry.is_none())) {
            return None;
        }
        with_handle(|handle| handle.cloned())
    }
}

/// The guard of [`Handle::enter`].
#[derive(Debug)]
#[must_use = "dropping the guard leaves the scheduler"]
pub struct Entered {
    key: u64,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Dropped outside: it may be the last of its scheduler.
        drop(ENTERED.with(|entered| entered.leave(self.key)));
    }
}
