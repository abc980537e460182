//! The waits of a task: a list of records in each task; and [`Deadlock`], the text of a cycle of them.
//!
//! A future that returns `Pending` inside a task has a [`WaitRecord`] in the list of that task, from its first such poll
//! until it is ready or dropped. An open section has one too. The search for deadlocks, and a dump of the waiting
//! tasks, read the lists.
//!
//! # Access
//!
//! The list belongs to the owner that may move the task's node (`state.rs`): in a poll, that is the thread that polls.
//! So a wait that begins and ends in polls of its task costs no atomic operation. A reader takes that right for itself
//! while the task waits ([`Paused`](super::Paused)), or knows that no thread can poll the task because
//! the task's lane is blocked.
//!
//! A future may also end elsewhere: it was moved to another task, or taken out and dropped by some thread; and its task
//! may be complete by then. The word of the record decides which side frees it:
//!
//! | word | the record is | changed by |
//! |---|---|---|
//! | `LISTED` | in the list; the future has it | |
//! | `PINNED` | the same, and a reader looks at the target of the wait | a reader, for some instructions |
//! | `LEFT` | in the list; the future has gone | the future, outside a poll of the task |
//! | `LONE` | in no list; the future has it | the end of the task |
//!
//! `LEFT` and `LONE` are reached from `LISTED` only, by an exchange: so the future or the list, whichever is second,
//! frees the record. While a record is `PINNED`, its future cannot go on: the target that it points to is alive.

use crate::kernel::color::Color;
use crate::kernel::memory::Boxed;
use crate::kernel::task::id::{Id, task_name};
use crate::sync::{AtomicU32, Ordering, UnsafeCell, spin_loop};
use std::any::Any;
use std::ops::Deref;
use std::panic::Location;
use std::ptr::NonNull;
use std::{fmt, iter};

const LISTED: u32 = 0;
const PINNED: u32 = 1;
const LEFT: u32 = 2;
const LONE: u32 = 3;

/// How a task uses the color that it waits for.
#[derive(Debug)]
pub struct How {
    /// For the text of a [`Deadlock`]: the words between the task and the color.
    pub(crate) text: &'static str,
    /// The task enters together with other readers.
    pub(crate) is_shared: bool,
}

impl How {
    /// A wait that a [`Deadlock`] describes by `text`: the words between the task and the color.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { text, is_shared: false }
    }
}

/// The target of a wait, as the layer above knows it.
#[derive(Clone, Copy)]
pub(crate) struct Cause {
    pub(crate) how: &'static How,
    pub(crate) site: &'static Location<'static>,
    /// How to ask about the waits that follow.
    pub(crate) kind: &'static (dyn Any + Send + Sync),
    pub(crate) what: *const (),
    pub(crate) beside: *const (),
}

/// A wait of a task, or an open section.
pub(crate) struct WaitRecord {
    word: AtomicU32,
    is_section: bool,
    /// The task, by its address.
    owner: *const (),
    place: UnsafeCell<ListPlace>,
    cause: Cause,
    /// When the wait began, as far as the thread knew: nanoseconds of the scheduler.
    since: u64,
    verdict: UnsafeCell<Option<Deadlock>>,
}

struct ListPlace {
    previous: Option<Listed>,
    next: Option<Listed>,
    /// The innermost section that is polled when this is.
    section: Option<NonNull<WaitRecord>>,
}

impl WaitRecord {
    /// A record that is in no list.
    #[inline]
    pub(crate) fn allocate(
        owner: *const (),
        cause: Cause,
        section: Option<NonNull<Self>>,
        since: u64,
        is_section: bool,
    ) -> Boxed<Self> {
        Boxed::new(Self {
            word: AtomicU32::new(LISTED),
            is_section,
            owner,
            place: UnsafeCell::new(ListPlace { previous: None, next: None, section }),
            cause,
            since,
            verdict: UnsafeCell::new(None),
        })
    }

    pub(crate) fn is_section(&self) -> bool {
        self.is_section
    }

    pub(crate) fn cause(&self) -> &Cause {
        &self.cause
    }

    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    /// Whether it is in the list of the task at this address, which is alive, and the future has it.
    #[inline]
    pub(crate) fn is_of(&self, task: *const ()) -> bool {
        // Ordering: the future asks, so this is `LISTED` or `PINNED`, or `LONE`. The end of the task comes before all
        // that another task at the same address does.
        self.owner == task && self.word.load(Ordering::Relaxed) != LONE
    }

    /// Whether the future still waits. Called by a reader.
    pub(crate) fn is_listed(&self) -> bool {
        // Ordering: Acquire pairs with the Release of `leave`: all that the future did before is visible.
        self.word.load(Ordering::Acquire) != LEFT
    }

    /// The section that the wait is in.
    ///
    /// # Safety
    ///
    /// No thread polls the task meanwhile.
    pub(crate) unsafe fn section(&self) -> Option<NonNull<Self>> {
        // SAFETY: only polls of the task change the section, and the caller promises that none runs meanwhile.
        self.place.with(|place| unsafe { (*place).section })
    }

    /// # Safety
    ///
    /// The caller polls the task.
    #[inline]
    pub(crate) unsafe fn set_section(&self, section: Option<NonNull<Self>>) {
        // SAFETY: the caller promises that it polls the task, so no other thread reads or writes it.
        self.place.with_mut(|place| unsafe { (*place).section = section });
    }

    /// Stores the deadlock that the wait is to end with.
    ///
    /// # Safety
    ///
    /// The caller has paused the task.
    pub(crate) unsafe fn tell(&self, deadlock: Deadlock) {
        // SAFETY: only a thread that has paused the task writes the error, and only a poll reads it. The caller has paused
        // it, so no poll runs yet.
        self.verdict.with_mut(|verdict| unsafe { *verdict = Some(deadlock) });
    }

    /// The deadlock that the wait is to end with, if there is one.
    ///
    /// # Safety
    ///
    /// The caller polls the task.
    #[inline]
    pub(crate) unsafe fn take_verdict(&self) -> Option<Deadlock> {
        // SAFETY: only a thread that has paused the task writes the error. The caller polls it, so every pause is over.
        let has_verdict = self.verdict.with(|verdict| unsafe { (*verdict).is_some() });
        if !has_verdict {
            return None;
        }
        // SAFETY: the caller still polls the task, so no pause has begun since, and only this thread uses the error.
        self.verdict.with_mut(|verdict| unsafe { (*verdict).take() })
    }

    /// Calls `f` while the future cannot go; `None` if it has gone. `f` runs no foreign code, and does not wait.
    pub(crate) fn pinned<R>(&self, f: impl FnOnce(&Cause) -> R) -> Option<R> {
        loop {
            // Ordering: Acquire pairs with the Release of a reader before, and of the poll that has listed the record
            // (by the pause of the task).
            match self.word.compare_exchange(LISTED, PINNED, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(PINNED) => spin_loop(),
                Err(_) => return None,
            }
        }
        let result = f(&self.cause);
        // Ordering: Release orders the reads before the end of the future, which acquires.
        self.word.store(LISTED, Ordering::Release);
        Some(result)
    }

    /// The future goes, outside a poll of the task.
    ///
    /// # Safety
    ///
    /// The caller is the future, and does not use the record again.
    #[cold]
    pub(crate) unsafe fn leave(record: NonNull<Self>) {
        loop {
            // SAFETY: the caller is the future, which has the record until it gives it up below.
            let word = unsafe { &record.as_ref().word };
            // Ordering: Release orders the future's use before the list frees the record; Acquire takes what a reader,
            // or the end of the task, has done.
            match word.compare_exchange(LISTED, LEFT, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(PINNED) => spin_loop(),
                // SAFETY: the word is `LONE`: the list has released the record, so only the future has it.
                Err(_) => return unsafe { free(record) },
            }
        }
    }
}

/// # Safety
///
/// Neither the future nor the list has the record any more.
#[inline]
unsafe fn free(record: NonNull<WaitRecord>) {
    // SAFETY: `WaitRecord::allocate` made it, and the caller promises that neither the future nor the list has it.
    drop(unsafe { Boxed::from_raw(record) });
}

/// A record in a list, or one that is added. Who has one may use its place: the record is alive, and the list is this
/// thread's alone. A list frees no record before the record is out of the list, so a listed one leads to others.
#[derive(Clone, Copy)]
struct Listed(NonNull<WaitRecord>);

impl Listed {
    #[inline]
    fn with_place<R>(self, f: impl FnOnce(&mut ListPlace) -> R) -> R {
        self.place.with_mut(|place| {
            // SAFETY: the list of a listed record is this thread's alone, and `f` cannot reach the place again.
            f(unsafe { &mut *place })
        })
    }
}

impl Deref for Listed {
    type Target = WaitRecord;

    #[inline]
    fn deref(&self) -> &WaitRecord {
        // SAFETY: a listed record is alive.
        unsafe { self.0.as_ref() }
    }
}

/// The list of one task, the youngest record first. Who borrows it has the right to it, and changes it only if it is borrowed
/// mutably.
pub(crate) struct WaitRecords {
    first: Option<Listed>,
}

impl WaitRecords {
    pub(crate) const fn new() -> Self {
        Self { first: None }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Adds a fresh record. First frees the records at this end of the list whose futures have gone: so never more of
    /// these are left than futures that waited at once.
    #[inline]
    pub(crate) fn insert(&mut self, record: Boxed<WaitRecord>) -> NonNull<WaitRecord> {
        while let Some(left) = self.first.filter(|first| !first.is_listed()) {
            // SAFETY: the word is `LEFT`, so the future has gone; the record is in this list.
            unsafe { self.remove(left.0) };
        }
        let record = Listed(record.into_raw());
        let next = self.first.replace(record);
        record.with_place(|place| place.next = next);
        if let Some(next) = next {
            next.with_place(|place| place.previous = Some(record));
        }
        record.0
    }

    /// Takes a record out, and frees it.
    ///
    /// # Safety
    ///
    /// It is in this list, and the future has gone or is the caller.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, record: NonNull<WaitRecord>) {
        let listed = Listed(record);
        let (previous, next) = listed.with_place(|place| (place.previous, place.next));
        match previous {
            Some(previous) => previous.with_place(|place| place.next = next),
            None => self.first = next,
        }
        if let Some(next) = next {
            next.with_place(|place| place.previous = previous);
        }
        if listed.is_section {
            self.leave_section(record);
        }
        // SAFETY: the record is in no list now, and the caller promises that the future has gone, or is the caller.
        unsafe { free(record) };
    }

    /// The remaining waits are no longer inside that section.
    #[cold]
    fn leave_section(&self, section: NonNull<WaitRecord>) {
        for record in self.listed() {
            record.with_place(|place| {
                place.section.take_if(|own| *own == section);
            });
        }
    }

    /// Empties the list: the task is complete. Frees the records whose futures have gone.
    #[cold]
    pub(crate) fn dissolve(&mut self) {
        while let Some(record) = self.first {
            self.first = record.with_place(|place| place.next);
            // Ordering: Release orders this thread's use before the future frees the record; Acquire takes
            // what the future has done. The future cannot free the record before this exchange gives it away.
            let lone =
                record.word.compare_exchange(LISTED, LONE, Ordering::AcqRel, Ordering::Acquire);
            if lone.is_err() {
                // SAFETY: the word is `LEFT`, so the future has gone. It is not `PINNED`: a reader that pins a record
                // has the right to the list, as this call has.
                unsafe { free(record.0) };
            }
        }
    }

    /// All records, the youngest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = NonNull<WaitRecord>> {
        self.listed().map(|record| record.0)
    }

    fn listed(&self) -> impl Iterator<Item = Listed> + use<> {
        iter::successors(self.first, |record| {
            // SAFETY: the list is this thread's alone, or no code changes it (`iter`).
            record.place.with(|place| unsafe { (*place).next })
        })
    }
}

/// A wait that would never end: it is part of a cycle of waits, at least one of which is inside a
/// section ([`exclusive`](crate::exclusive())).
///
/// The text lists every wait of the cycle, one per line; each wait is for the subject of the next
/// line. It names the places in the source of spawns, sections, calls and hops.
#[derive(Clone, PartialEq, Eq)]
pub struct Deadlock(Box<[Link]>);

/// A task, and where it was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: Id,
    pub(crate) spawned: &'static Location<'static>,
}

/// One wait of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A task awaits another one.
    Join { task: Named, joined: Named },
    /// A task wants a turn under a color.
    Turn { task: Named, how: &'static str, color: Color, site: &'static Location<'static> },
    /// A task can go on under its color only.
    Own { task: Named, color: Color },
    /// A color waits for the end of a section.
    Kept { color: Color, task: Named, section: &'static Location<'static> },
    /// A `when` is queued first under a color.
    Behind { color: Color, task: Option<Named>, site: &'static Location<'static> },
    /// Some holders of room need this color to go on.
    Inside { color: Color },
    /// A holder of room is a task that was given it, and has not used it.
    Called { task: Named },
    /// A `when` has its turn under all of its colors at once.
    Lacks { color: Color, site: &'static Location<'static> },
}

impl Deadlock {
    pub(crate) fn new(links: Vec<Link>) -> Self {
        Self(links.into())
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.id)?;
        if let Some(name) = task_name(self.id) {
            write!(f, " {name:?}")?;
        }
        write!(f, " (spawned at {})", self.spawned)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join { task, joined } => write!(f, "{task} awaits {joined}"),
            Self::Turn { task, how, color, site } => write!(f, "{task} {how} {color} at {site}"),
            Self::Own { task, color } => write!(f, "{task} needs {color}, its own, to go on"),
            Self::Kept { color, task, section } => {
                write!(f, "{color} is held by the section of {section}, in {task}")
            }
            Self::Behind { color, task, site } => {
                write!(f, "{color} goes first to the `when` at {site}")?;
                task.map_or(Ok(()), |task| write!(f, ", of {task}"))
            }
            Self::Inside { color } => write!(f, "what has room there needs {color} to go on"),
            Self::Called { task } => {
                write!(f, "{task} was given room there, and needs its own color to use it")
            }
            Self::Lacks { color, site } => write!(f, "the `when` at {site} waits for {color} too"),
        }
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this wait would never end, for it closes a cycle:")?;
        self.0.iter().try_for_each(|link| write!(f, "\n  {link}"))
    }
}

impl fmt::Debug for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deadlock").field(&self.0).finish()
    }
}

impl std::error::Error for Deadlock {}
