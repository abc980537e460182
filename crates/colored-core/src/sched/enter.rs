//! The scheduler that a thread works for: as a worker, as a guest, because it runs under a color, or because
//! it has entered the scheduler.
//!
//! The innermost relation counts. A worker of one scheduler that runs under a color of another one is calling
//! a cell of the other: a closure that runs at once finds the same scheduler as on the other's workers.

use super::local::{self, Local};
use super::{SchedulerHandle, guest};
use crate::entries::Entries;
use crate::join::JoinHandle;
use crate::lane::{LanePtr, LaneRef, current};
use std::marker::PhantomData;
use std::panic::Location;

std::thread_local!(static ENTERED: Entries<Entry> = const { Entries::new() });

/// A scheduler that the thread has entered, and the thread's place at that time.
struct Entry {
    handle: SchedulerHandle,
    place: Place,
}

/// The worker that a thread is, if any, and the lane that it holds.
type Place = (Option<usize>, Option<LanePtr>);

fn place() -> Place {
    (local::address(), current::lane())
}

/// Calls `f` with the handle of the scheduler that this thread works for.
#[inline]
pub(crate) fn with_handle<R>(f: impl FnOnce(Option<&SchedulerHandle>) -> R) -> R {
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

/// Calls `f` with the handle of the scheduler whose color this thread runs under, if any: the scheduler of the
/// task that it polls, also if the thread has entered another one since.
#[inline]
pub(crate) fn with_handle_of_task<R>(f: impl FnOnce(Option<&SchedulerHandle>) -> R) -> R {
    let Some(lane) = current::lane() else { return f(None) };
    with_own(Some(lane), |own| match own {
        Some(own) => f(Some(own)),
        None => f(elsewhere(Some(lane)).as_ref()),
    })
}

/// Calls `f` with the handle of the scheduler whose worker, or otherwise whose guest, this thread is, unless
/// it runs under a color of another scheduler.
#[inline]
fn with_own<R>(lane: Option<LanePtr>, f: impl FnOnce(Option<&SchedulerHandle>) -> R) -> R {
    let is_of = |handle: &&SchedulerHandle| {
        // SAFETY: the callers pass the lane that this thread holds, and a held lane is alive.
        lane.is_none_or(|lane| unsafe { lane.get() }.is_of(handle.scheduler()))
    };
    // There is one call of `f`, so that the compiler inlines `f`, which is a spawn.
    local::with(|local| {
        guest::with_handle(|guest| f(local.map(Local::handle).or(guest).filter(is_of)))
    })
}

/// The scheduler of the lane that this thread holds, where the thread is neither its worker nor its guest;
/// without a lane, the scheduler that the thread has entered.
#[cold]
fn elsewhere(lane: Option<LanePtr>) -> Option<SchedulerHandle> {
    match lane {
        // SAFETY: the callers pass the lane that this thread holds, and a held lane is alive.
        Some(lane) => SchedulerHandle::of(unsafe { lane.get() }.port()),
        None => last_entry(|_| true),
    }
}

/// Whether the thread has entered no other scheduler since it began to run its current work. Asked before
/// every spawn: without an entry it reads one thread-local.
#[inline]
fn has_entered_nothing_here() -> bool {
    ENTERED
        .with(|entered| entered.innermost(|entry| entry.is_none_or(|entry| entry.place != place())))
}

/// The scheduler that the thread has entered, if it has neither begun nor ended a piece of work since.
#[cold]
fn entered_here() -> Option<SchedulerHandle> {
    last_entry(|entry| entry.place == place())
}

#[inline]
fn last_entry(is_meant: impl FnOnce(&Entry) -> bool) -> Option<SchedulerHandle> {
    let last = |entry: Option<&Entry>| {
        let entry = entry.filter(|entry| is_meant(entry))?;
        Some(entry.handle.clone())
    };
    ENTERED.with(|entered| entered.innermost(last))
}

/// Spawns a task under the color that this thread runs under.
///
/// # Errors
///
/// The future, if this thread runs under no color.
#[track_caller]
pub fn spawn_here<F>(future: F) -> Result<JoinHandle<F::Output>, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let origin = Location::caller().into();
    with_handle_of_task(|handle| {
        let Some(handle) = handle else { return Err(future) };
        let Some(lane) = LaneRef::of_holder() else { return Err(future) };
        Ok(handle.scheduler().spawn(lane, future, origin, false))
    })
}

impl SchedulerHandle {
    /// Calls `f` with the handle of the scheduler that this thread works for.
    pub fn with_current<R>(f: impl FnOnce(Option<&SchedulerHandle>) -> R) -> R {
        with_handle(f)
    }

    /// Lets this thread spawn on the scheduler without naming it, until the guard is dropped. Of several
    /// guards the latest counts; they may be dropped in any order.
    ///
    /// The guard works in a task of another scheduler too. There it applies to the color that runs, but not
    /// inside a closure that the task gives meanwhile to a cell of a third scheduler. A guard that a task
    /// keeps across an await applies to other tasks on its thread under its color, too.
    pub fn enter(&self) -> Entered {
        let entry = Entry { handle: self.clone(), place: place() };
        let key = ENTERED.with(|entered| entered.enter(entry));
        Entered { key, _this_thread: PhantomData }
    }

    /// The scheduler that this thread works for, unless the thread is simply its worker or guest: the thread
    /// has entered a scheduler, or runs under a color of another one, in a closure that was given to a cell of
    /// that scheduler and runs at once. Otherwise `None`, which costs a look at three thread-locals.
    #[inline]
    #[must_use]
    pub fn entered_or_borrowed() -> Option<SchedulerHandle> {
        let lane = current::lane();
        let entered_nothing = ENTERED.with(|entered| entered.innermost(|entry| entry.is_none()));
        let is_usual = with_own(lane, |own| own.is_some() || lane.is_none());
        if entered_nothing && is_usual {
            return None;
        }
        with_handle(|handle| handle.cloned())
    }
}

/// The guard of [`SchedulerHandle::enter`].
#[derive(Debug)]
#[must_use = "dropping the guard leaves the scheduler"]
pub struct Entered {
    key: u64,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // The handle is dropped outside the borrow: it may be the last of its scheduler.
        drop(ENTERED.with(|entered| entered.leave(self.key)));
    }
}
