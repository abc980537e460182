//! Which scheduler a thread works for: as a worker, as a guest, because it runs under a color, or because it
//! has been told so.
//!
//! The innermost counts. A thread that runs under a color of one scheduler while it is a worker of another
//! calls a cell of the former: a closure that runs at once finds what it would find on that one's workers.

use super::local::{self, Local};
use super::{Handle, guest};
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
    let lane = current::lane();
    with_own(lane, |own| {
        let other;
        f(match own.filter(|_| has_entered_nothing_here()) {
            Some(own) => Some(own),
            None => {
                other = entered_here().or_else(|| elsewhere(lane));
                other.as_ref()
            }
        })
    })
}

/// Calls `f` with the handle of the scheduler whose color this thread runs under, if it does: that of the
/// task which it polls, whatever it has entered since.
#[inline]
pub(crate) fn with_handle_of_task<R>(f: impl FnOnce(Option<&Handle>) -> R) -> R {
    let Some(lane) = current::lane() else { return f(None) };
    with_own(Some(lane), |own| match own {
        Some(own) => f(Some(own)),
        None => f(elsewhere(Some(lane)).as_ref()),
    })
}

/// Calls `f` with the handle of the scheduler whose worker this thread is, or else whose guest, unless it runs
/// under a color of another one.
#[inline]
fn with_own<R>(lane: Option<LanePtr>, f: impl FnOnce(Option<&Handle>) -> R) -> R {
    let is_of = |handle: &&Handle| {
        // SAFETY: this thread holds it.
        lane.is_none_or(|lane| unsafe { lane.get() }.is_of(handle.scheduler()))
    };
    // One call of `f`, so that it is inlined: a spawn.
    local::with(|local| {
        guest::with_handle(|guest| f(local.map(Local::handle).or(guest).filter(is_of)))
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

/// Whether the thread has been told to work for nothing else since it began to run what it runs. Asked before
/// every spawn: without an entry it is a look at one thread-local.
#[inline]
fn has_entered_nothing_here() -> bool {
    ENTERED
        .with(|entered| entered.innermost(|entry| entry.is_none_or(|entry| entry.place != place())))
}

/// What the thread has been told to work for, and neither begun to run something nor ended it since.
#[cold]
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
        let entered_nothing = ENTERED.with(|entered| entered.innermost(|entry| entry.is_none()));
        let is_usual = with_own(lane, |own| own.is_some() || lane.is_none());
        if entered_nothing && is_usual {
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
