//! The value of a cell, which its clones share: who accesses it, why an access fails, and how it ends.
//!
//! An access that fails has an error with a text for logs, and [`Checked`] is a future that returns it in place of a panic.
//!
//! # Posts are not counted
//!
//! A post reaches the cell through a bare pointer, and its callback owns no reference to the lane: this
//! saves two read-modify-writes on cache lines that all posters share. It is sound because the end of
//! the cell waits for its turn as well. The thread that drops the last clone either claims the idle
//! lane, and then every post has run; or it schedules the end behind everything, and then every post
//! runs before the end. The poster has a clone, so each post is scheduled before the last clone is
//! dropped; and the callback of the end keeps the lane alive for the posts in front of it.

use crate::hooks::{self, Carried};
use crate::kernel::color::Color;
use crate::kernel::lane::current::{self, Closure};
use crate::kernel::lane::{LaneRef, push};
use crate::kernel::task::Deadlock;
use crate::sync::{AtomicBool, AtomicU32, Ordering, UnsafeCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// Why a value cannot be accessed right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// The caller does not run under the cell's color.
    WrongColor {
        /// The cell's color.
        cell: Color,
        /// The caller's color, if it has one.
        current: Option<Color>,
    },
    /// The caller is inside the closure of another access to the same cell, or accesses the cell
    /// during an [`exclusive`](super::ColorCell::exclusive) access of the same task.
    InUse,
}

impl AccessError {
    /// The caller's color is not the cell's.
    #[cold]
    pub(crate) fn wrong_color(cell: Color) -> Self {
        Self::WrongColor { cell, current: Color::current() }
    }

    /// A hint at another access for the caller.
    fn advice(self) -> &'static str {
        match self {
            Self::WrongColor { current: Some(_), .. } => {
                "use `call` or `post`, or `hop` there first"
            }
            Self::WrongColor { current: None, .. } => "use `call` or `post`",
            Self::InUse => "an access must not be nested in another one to the same cell",
        }
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongColor { cell, current: Some(current) } => {
                write!(f, "this `ColorCell` belongs to {cell}, but the caller runs under {current}")
            }
            Self::WrongColor { cell, current: None } => {
                write!(f, "this `ColorCell` belongs to {cell}, but the caller runs under no color")
            }
            Self::InUse => f.write_str(
                "this `ColorCell` is in use, further up the stack or in a section of the same task",
            ),
        }?;
        write!(f, "; {}", self.advice())
    }
}

impl std::error::Error for AccessError {}

/// The cell is in use: [`AccessError::InUse`], where no other error is possible.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct InUse;

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AccessError::InUse.fmt(f)
    }
}

impl From<InUse> for AccessError {
    fn from(_: InUse) -> Self {
        Self::InUse
    }
}

/// Why a closure was not called: by [`checked_call`](super::ColorCell::checked_call),
/// [`checked_read`](super::ColorCell::checked_read) or [`checked_when`](fn@super::checked_when).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The wait would never end: a section ([`exclusive`](crate::exclusive())) holds the color, and
    /// waits, directly or through other waits, for the caller.
    Deadlock(Deadlock),
    /// The runtime shut down before the turn of the closure came.
    ShutDown,
    /// The caller is inside another access to the same cell, for example an
    /// [`exclusive`](super::ColorCell::exclusive) one, and so has the value already.
    InUse,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock(deadlock) => deadlock.fmt(f),
            Self::ShutDown => f.write_str("the runtime shut down before the closure ran"),
            Self::InUse => InUse.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

impl CallError {
    /// Panics for a future that cannot return an error. `what` names the future, and `site` the
    /// place where it was made.
    #[cold]
    pub(crate) fn raise(self, what: fmt::Arguments<'_>, site: &Location<'_>) -> ! {
        match self {
            Self::ShutDown => panic!("the runtime shut down before {what} at {site} ran"),
            error => panic!("{what} at {site}: {error}"),
        }
    }
}

impl From<InUse> for CallError {
    fn from(_: InUse) -> Self {
        Self::InUse
    }
}

/// Where a cell was made. Only with debug assertions: without them it would make each cell larger.
#[derive(Clone, Copy)]
#[cfg(debug_assertions)]
pub(crate) struct Made(&'static Location<'static>);

#[derive(Clone, Copy)]
#[cfg(not(debug_assertions))]
pub(crate) struct Made;

#[cfg(debug_assertions)]
impl Made {
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self(Location::caller())
    }

    fn at(self) -> Option<&'static Location<'static>> {
        Some(self.0)
    }
}

#[cfg(not(debug_assertions))]
impl Made {
    #[inline]
    pub(crate) fn here() -> Self {
        Self
    }

    fn at(self) -> Option<&'static Location<'static>> {
        None
    }
}

/// Both sides of an access that is refused.
pub(crate) struct Sides {
    pub(crate) cell: Made,
}

impl fmt::Display for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(site) = self.cell.at() {
            write!(f, "\n  the cell was made at {site}")?;
        }
        match current::task() {
            Some(task) => write!(f, "\n  the caller is {}", task.named()),
            None => Ok(()),
        }
    }
}

/// A [`Call`](super::Call), a [`Read`](super::Read) or a [`When`](super::When) that returns a
/// [`CallError`] in place of a panic, if its closure was not called: the future of `checked_call`,
/// `checked_read` and `checked_when`.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Checked<F>(F);

impl<F> Checked<F> {
    pub(super) fn new(future: F) -> Self {
        Self(future)
    }
}

/// A future of a cell, before an error becomes a panic.
#[doc(hidden)]
pub trait Fallible: Unpin {
    /// What the closure returns.
    type Value;

    fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::Value, CallError>>;
}

impl<F: Fallible> Future for Checked<F> {
    type Output = Result<F::Value, CallError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_result(cx)
    }
}

pub(crate) struct Inner<T> {
    lane: ManuallyDrop<LaneRef>,
    /// Clones of the cell. With the mark it takes one word.
    clones: AtomicU32,
    /// Whether an access is inside. The holder of the lane sets it, and the same access clears it,
    /// possibly on another thread (`exclusive.rs`).
    busy: AtomicBool,
    made: Made,
    value: UnsafeCell<T>,
}

impl<T> Inner<T> {
    pub(crate) fn lane(&self) -> &LaneRef {
        &self.lane
    }

    /// The text of an error about the cell and the caller.
    pub(crate) fn sides(&self) -> Sides {
        Sides { cell: self.made }
    }

    /// Uses the value.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    pub(crate) unsafe fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, InUse> {
        // SAFETY: the caller promises that it holds the lane, and does so up to the end of this call.
        let _busy = unsafe { self.occupy() }?;
        let _closure = Closure::begin();
        Ok(self.value.with_mut(|value| {
            // SAFETY: only the holder of the lane reaches the value, and the flag refuses a second
            // access.
            f(unsafe { &mut *value })
        }))
    }

    /// Sets the mark, which refuses all other accesses while it lives.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    #[inline]
    pub(crate) unsafe fn occupy(&self) -> Result<Busy<'_>, InUse> {
        // Ordering: Acquire pairs with the Release of a mark that was dropped far from the lane.
        // Two holders do not meet here, so no exchange is needed.
        if self.busy.load(Ordering::Acquire) {
            return Err(InUse);
        }
        // Ordering: read by the holder; the hand-over of the lane orders it.
        self.busy.store(true, Ordering::Relaxed);
        Ok(Busy(&self.busy))
    }

    /// Whether a reader may use the value. While the reader is inside, no access can occupy the cell.
    pub(crate) fn admits_readers(&self) -> Result<(), InUse> {
        // Ordering: as in `occupy`.
        if self.busy.load(Ordering::Acquire) { Err(InUse) } else { Ok(()) }
    }

    /// The place of the value, for the holder of the lane or the readers.
    pub(crate) fn place(&self) -> &UnsafeCell<T> {
        &self.value
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// The caller uses the reference only while it has the mark, calls this once, and either holds the
    /// lane or only drops the owner of the reference.
    #[expect(clippy::mut_from_ref, reason = "the mark keeps everybody else out")]
    pub(crate) unsafe fn value(&self) -> &mut T {
        // SAFETY: the mark refuses all other accesses, and the caller, which has it, calls this once:
        // no other reference exists.
        self.value.with_mut(|value| unsafe { &mut *value })
    }
}

/// An access is inside.
pub(crate) struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    #[inline]
    fn drop(&mut self) {
        // Ordering: pairs with the Acquire in `occupy`.
        self.0.store(false, Ordering::Release);
    }
}

/// The pointer of one clone.
pub(crate) struct Owner<T: Send + 'static>(NonNull<Inner<T>>);

// SAFETY: only the holder of the lane (`Inner::with`) and the end of the cell reach value and flag; the
// lane's hand-over orders one holder's use before the next one's. Readers reach the value together,
// which requires `T: Sync` (`ColorCell::read`, `ColorCell::shared`).
unsafe impl<T: Send> Send for Owner<T> {}
// SAFETY: a shared reference gives no other way to the value than these; clones and the mark are
// atomic.
unsafe impl<T: Send> Sync for Owner<T> {}

impl<T: Send + 'static> Owner<T> {
    pub(crate) fn new(lane: LaneRef, made: Made, value: T) -> Self {
        let inner = Box::new(Inner {
            lane: ManuallyDrop::new(lane),
            clones: AtomicU32::new(1),
            busy: AtomicBool::new(false),
            made,
            value: UnsafeCell::new(value),
        });
        Self(NonNull::from(Box::leak(inner)))
    }

    /// Schedules `f` on the value.
    pub(crate) fn post<F: FnOnce(&mut T) + Send + 'static>(&self, f: F) {
        let (cell, span) = (Uncounted(self.0), Carried::from_here());
        let turn = move || {
            // SAFETY: the end of the cell comes behind this turn (module documentation).
            let inner = unsafe { cell.get() };
            // SAFETY: a callback runs under its lane, which is the cell's.
            if let Err(error) = span.within(|| unsafe { inner.with(f) }) {
                panic!("a post has no access to the value any more: {error}")
            }
        };
        hooks::posted(&self.lane);
        // SAFETY: the cell keeps its lane up to its end, which comes behind this turn.
        unsafe { push::post_uncounted(&self.lane, turn) };
    }

    /// The last clone goes.
    #[cold]
    fn end_cell(&self) {
        // SAFETY: this is the last clone, so the box has not been freed; the posts that are left do not
        // use the lane.
        let lane = unsafe { &raw mut (*self.0.as_ptr()).lane };
        // SAFETY: no code reads the place again, and `ManuallyDrop` keeps the end of the cell from
        // dropping it.
        let lane = ManuallyDrop::into_inner(unsafe { lane.read() });
        let end = End(self.0);
        if let Err(later) = push::run_inline(&lane, move || drop(end)) {
            push::post(&lane, later);
        }
    }
}

impl<T: Send + 'static> Deref for Owner<T> {
    type Target = Inner<T>;

    #[inline]
    fn deref(&self) -> &Inner<T> {
        // SAFETY: this clone keeps the cell.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Send + 'static> Clone for Owner<T> {
    #[inline]
    fn clone(&self) -> Self {
        // Ordering: as for any reference count.
        let clones = self.clones.fetch_add(1, Ordering::Relaxed);
        assert!(clones < u32::MAX / 2, "fewer than 2³¹ clones of a cell");
        Self(self.0)
    }
}

impl<T: Send + 'static> Drop for Owner<T> {
    #[inline]
    fn drop(&mut self) {
        // Ordering: Release orders this clone's posts before the end, Acquire the others'.
        if self.clones.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end_cell();
        }
    }
}

/// A pointer that a turn uses before the end of the cell.
struct Uncounted<T>(NonNull<Inner<T>>);

// SAFETY: a post uses the pointer under the lane only, and `T` is `Send`; the lane's hand-over orders
// the uses.
unsafe impl<T: Send> Send for Uncounted<T> {}

impl<T> Uncounted<T> {
    /// # Safety
    ///
    /// The cell has not ended.
    unsafe fn get<'a>(self) -> &'a Inner<T> {
        // SAFETY: the caller promises that the cell has not ended, so the box has not been freed.
        unsafe { self.0.as_ref() }
    }
}

/// Frees the cell when it is dropped.
struct End<T>(NonNull<Inner<T>>);

// SAFETY: the end is dropped under the lane, behind all other uses of the value, and `T` is `Send`.
unsafe impl<T: Send> Send for End<T> {}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        // SAFETY: `Owner::new` made the pointer from a box; no clone and no post is left.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

// Every word counts in a program with one cell for each color.
#[cfg(all(not(colored_loom), not(debug_assertions)))]
const _: () = assert!(size_of::<Inner<()>>() <= 16 && size_of::<Inner<u64>>() <= 24);
