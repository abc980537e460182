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

use crate::kernel::color::Color;
use crate::kernel::lane::{Address, Lane, LanePtr, LaneRef, current};
use crate::kernel::sched::JoinHandle;
use crate::kernel::sched::local::{self, Local};
use crate::kernel::sched::{Scheduler, SchedulerHandle, guest};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, needs_drop};
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
        Some(lane) => SchedulerHandle::of(&lane.port),
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

/// The values that a thread has entered and not left, each with its key. The innermost one counts, and
/// any of them may be the next to leave.
///
/// It is made for a thread-local, and has no destructor: the destructors of other thread-locals run in
/// any order when a thread ends, and may enter, ask and leave then. So an entry that is never taken out
/// is leaked.
#[derive(Debug)]
pub struct Entries<T>(ManuallyDrop<RefCell<List<T>>>);

#[derive(Debug)]
struct List<T> {
    innermost: Option<(u64, T)>,
    /// The outer entries, from the outermost.
    outer: Vec<(u64, T)>,
    next_key: u64,
}

impl<T> Entries<T> {
    /// None.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a thread-local without a destructor is a constant"
    )]
    pub const fn new() -> Self {
        const { assert!(!needs_drop::<Self>(), "it can be used until the thread has ended") }
        let list = List { innermost: None, outer: Vec::new(), next_key: 0 };
        Self(ManuallyDrop::new(RefCell::new(list)))
    }

    /// Enters; the key takes it out again.
    pub fn enter(&self, entry: T) -> u64 {
        let mut list = self.0.borrow_mut();
        let key = list.next_key;
        list.next_key += 1;
        if let Some(outer) = list.innermost.replace((key, entry)) {
            list.outer.push(outer);
        }
        key
    }

    /// Takes an entry out, wherever it is.
    pub fn leave(&self, key: u64) -> Option<T> {
        let list = &mut *self.0.borrow_mut();
        if list.outer.is_empty() {
            return list.innermost.take_if(|(other, _)| *other == key).map(|(_, entry)| entry);
        }
        let left = match list.outer.iter().position(|(other, _)| *other == key) {
            Some(place) => Some(list.outer.remove(place)),
            None => {
                let left = list.innermost.take_if(|(other, _)| *other == key)?;
                list.innermost = list.outer.pop();
                Some(left)
            }
        };
        if list.outer.is_empty() {
            // Nothing frees it when the thread ends.
            list.outer = Vec::new();
        }
        left.map(|(_, entry)| entry)
    }

    /// Exchanges all entries, with their keys, for the others.
    pub fn exchange(&self, others: &Self) {
        self.0.swap(&others.0);
    }

    /// Calls `f` with the innermost entry. `f` must neither enter nor leave, nor call code that might.
    #[inline]
    pub fn innermost<R>(&self, f: impl FnOnce(Option<&T>) -> R) -> R {
        f(self.0.borrow().innermost.as_ref().map(|(_, entry)| entry))
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::Entries;
    use std::rc::Rc;

    #[test]
    fn any_order_of_leaving_ends_with_none() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let entries = Entries::new();
            let values = [Rc::new(0), Rc::new(1), Rc::new(2)];
            let keys = values.clone().map(|value| entries.enter(value));
            let mut left = vec![0, 1, 2];
            for number in order {
                assert_eq!(
                    entries.innermost(|value| value.map(|value| **value)),
                    left.last().copied()
                );
                assert_eq!(entries.leave(keys[number]).as_deref(), Some(&number));
                left.retain(|other| *other != number);
                assert_eq!(Rc::strong_count(&values[number]), 1, "it is gone from the list");
            }
            assert!(entries.innermost(|value| value.is_none()));
            assert_eq!(entries.0.borrow().outer.capacity(), 0, "nothing is left to free");
            assert_eq!(entries.leave(keys[0]), None);
        }
    }
}
