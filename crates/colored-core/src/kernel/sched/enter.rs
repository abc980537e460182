//! The scheduler that a thread works for; and the colors of a scheduler, as [`Address`]es.
//!
//! A thread may have several relations. The first of these that it has counts:
//!
//! | relation | the scheduler is the one |
//! |---|---|
//! | it has *entered* one here | that the thread entered last ([`SchedulerHandle::enter`]), if it has neither begun nor ended a piece of work since |
//! | it *holds* a lane | whose color the thread runs under |
//! | it is a *member* | whose worker, or else whose guest, the thread is |
//! | it has entered one elsewhere | that the thread entered last, in whatever work |
//!
//! A worker of one scheduler that holds a lane of another one is calling a cell of the other: a closure that runs at once
//! finds the same scheduler as on the other's workers. Most threads are members that hold a lane of their own scheduler:
//! these get by without a count.

use super::local::{self, Local};
use super::{Scheduler, SchedulerHandle, guest};
use crate::kernel::color::Color;
use crate::kernel::entries::Entries;
use crate::kernel::join::JoinHandle;
use crate::kernel::lane::{Address, Lane, LanePtr, LaneRef, current};
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;

std::thread_local! {
    static ENTERED: Entries<Entry> = const { Entries::new() };
    /// Whether there is an entry. Every spawn asks, and a flag costs less than a look at the list.
    static HAS_ENTERED: Cell<bool> = const { Cell::new(false) };
}

/// What a thread has entered, and not left.
#[cfg(feature = "sim")]
pub(crate) struct AllEntered {
    entered: Entries<Entry>,
    has_entered: Cell<bool>,
}

#[cfg(feature = "sim")]
impl AllEntered {
    /// Nothing.
    pub(crate) const fn new() -> Self {
        Self { entered: Entries::new(), has_entered: Cell::new(false) }
    }

    /// Exchanges this thread's for this one.
    pub(crate) fn exchange(&self) {
        ENTERED.with(|entered| entered.exchange(&self.entered));
        HAS_ENTERED.with(|has_entered| has_entered.swap(&self.has_entered));
    }
}

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
    current::with_lane(|lane| with_first(has_entered_here(), lane, f))
}

/// Calls `f` with the handle of the scheduler whose color this thread runs under, if any: the scheduler of the
/// task that it polls, also if the thread has entered another one since.
#[inline]
pub(crate) fn with_handle_of_task<R>(f: impl FnOnce(Option<&SchedulerHandle>) -> R) -> R {
    current::with_lane(|lane| if lane.is_none() { f(None) } else { with_first(false, lane, f) })
}

/// Calls `f` with the first that there is: what the thread has entered here, if `has_entered`, the scheduler of this
/// lane, which it holds, the one that it is a member of, and what it has entered elsewhere.
#[inline]
fn with_first<R>(
    has_entered: bool,
    lane: Option<&Lane>,
    f: impl FnOnce(Option<&SchedulerHandle>) -> R,
) -> R {
    with_member(lane, |member| {
        let other;
        // There is one call of `f`, so that the compiler inlines `f`, which is a spawn.
        f(match member {
            Some(member) if !has_entered => Some(member),
            _ => {
                other = of_no_member(has_entered, lane);
                other.as_ref()
            }
        })
    })
}

/// Calls `f` with the handle of the scheduler that this thread is a member of, unless it holds a lane of another one.
#[inline]
fn with_member<R>(lane: Option<&Lane>, f: impl FnOnce(Option<&SchedulerHandle>) -> R) -> R {
    let is_of = |handle: &&SchedulerHandle| lane.is_none_or(|lane| lane.is_of(handle.scheduler()));
    local::with(|local| {
        guest::with_handle(|guest| f(local.map(Local::handle).or(guest).filter(is_of)))
    })
}

/// What the thread has entered here; or the scheduler of the lane that it holds, where it is no member; or what it has
/// entered elsewhere.
#[cold]
fn of_no_member(has_entered: bool, lane: Option<&Lane>) -> Option<SchedulerHandle> {
    match lane {
        _ if has_entered => last_entered(),
        Some(lane) => SchedulerHandle::of(lane.port()),
        None => last_entered(),
    }
}

/// Whether the thread has entered a scheduler in its current piece of work.
#[inline]
fn has_entered_here() -> bool {
    HAS_ENTERED.get() && is_last_entry_here()
}

#[cold]
fn is_last_entry_here() -> bool {
    let is_here = |entry: Option<&Entry>| entry.is_some_and(|entry| entry.place == place());
    ENTERED.with(|entered| entered.innermost(is_here))
}

/// The scheduler that the thread has entered last.
fn last_entered() -> Option<SchedulerHandle> {
    let handle = |entry: Option<&Entry>| entry.map(|entry| entry.handle.clone());
    ENTERED.with(|entered| entered.innermost(handle))
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
        HAS_ENTERED.set(true);
        Entered { key, _this_thread: PhantomData }
    }

    /// The scheduler that this thread works for, unless the thread has entered none and is simply a worker or a guest, or
    /// nothing: it has entered a scheduler, or runs under a color of another one, in a closure that was given to a cell of
    /// that scheduler and runs at once. Otherwise `None`, which costs a look at three thread-locals.
    #[inline]
    #[must_use]
    pub fn entered_or_held() -> Option<SchedulerHandle> {
        let is_usual =
            |lane: Option<&Lane>| with_member(lane, |member| member.is_some() || lane.is_none());
        if !HAS_ENTERED.get() && current::with_lane(is_usual) {
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
        let left = ENTERED.with(|entered| {
            let left = entered.leave(self.key);
            HAS_ENTERED.set(entered.innermost(|entry| entry.is_some()));
            left
        });
        drop(left);
    }
}

impl Address {
    /// A color in the runtime of `handle`.
    #[must_use]
    pub fn new(handle: &SchedulerHandle, color: Color) -> Self {
        Self::of(handle.lane(color))
    }

    /// The color under which [`spawn_local`](crate::spawn_local) spawns here; `None` where it does not.
    #[must_use]
    pub fn local() -> Option<Self> {
        guest::local_lane().map(Self::of)
    }

    /// Spawns a task under the color, without a look-up of the color.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (lane, origin) = (self.lane(), Location::caller().into());
        let scheduler = Scheduler::of(lane).expect("its lane is of a scheduler");
        scheduler.spawn(lane.for_node(), future, origin, false)
    }
}
