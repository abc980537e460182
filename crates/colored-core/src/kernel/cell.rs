//! [`ColorCell`]: state that belongs to a color, and so needs no lock.

mod access;
mod call;
mod queued;
mod set;
mod several;
mod when;

pub use self::access::{AccessError, CallError, Checked};
pub use self::call::{Call, Read};
pub use self::queued::{RemoteCall, RemoteCallWait};
pub use self::set::{Cells, Shared};
pub use self::several::{Several, shared};
pub use self::when::{When, checked_when, when};

/// What the bounds and the signatures of cells need, and users do not name. Other crates cannot
/// implement the parts of sets:
///
/// ```compile_fail,E0277
/// use colored_core::sets::{Many, Row};
/// use colored_core::ColorCell;
///
/// struct Mine(Vec<ColorCell<u32>>);
///
/// impl Many for Mine {
///     type Value = u32;
///
///     fn row(&self) -> Row<'_, u32> {
///         Row::Cells(&self.0)
///     }
///
///     fn keep(self) -> Box<[ColorCell<u32>]> {
///         self.0.into()
///     }
/// }
/// ```
#[doc(hidden)]
pub mod sets {
    pub use super::access::{Fallible, InUse};
    pub use super::set::{Element, Part, Reach, Reads, Set, Tuple, Writes};
    pub use super::several::{Many, Row, Slice};
    pub use crate::kernel::lane::behavior::Claim;
    pub use crate::kernel::lane::behavior::request::Request;
}

pub(crate) use self::access::InUse;

use self::access::{Made, Owner};
use crate::hooks;
use crate::kernel::color::Color;
use crate::kernel::lane::{LaneRef, push};
use crate::kernel::sched::SchedulerHandle;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

/// A value that is used under one color only.
///
/// The color is the lock: code that runs under the color has exclusive access to the value. An
/// access is a closure that does not await, so a borrow of the value cannot live across an await;
/// code that tries does not compile. Only [`exclusive`](Self::exclusive) allows it.
///
/// | from | use | cost |
/// |---|---|---|
/// | the cell's color | [`with`](Self::with) | a comparison |
/// | the cell's color, across awaits | [`exclusive`](Self::exclusive) | a section |
/// | anywhere, for a result | [`call`](Self::call) | two compare-exchanges and a count up and down if the color is idle, else a callback, a shared slot and a wake-up |
/// | anywhere, to read only, in parallel with other readers | [`read`](Self::read) | three exchanges if the color is idle, two beside other readers |
/// | anywhere, with other cells | [`when`](fn@when) | two exchanges a color if all are idle |
/// | anywhere, without waiting | [`post`](Self::post) | one allocation, one swap |
///
/// Clones share the value. When the last clone is dropped, the value is dropped under its color: at
/// once if the color is idle, otherwise behind everything that is scheduled there. If its
/// destructor panics, the panic reaches the caller that dropped the last clone in the first case,
/// and the panic hook in the second.
///
/// `T` need not be `Sync`, unless it is [read](Self::read): only reads access it from two threads
/// at the same time.
pub struct ColorCell<T: Send + 'static> {
    pub(crate) inner: Owner<T>,
}

impl<T: Send + 'static> ColorCell<T> {
    /// Gives `value` to `color`, in the runtime that the calling thread works for.
    ///
    /// # Panics
    ///
    /// Outside a runtime: `Handle::cell` names one.
    #[must_use]
    #[track_caller]
    pub fn new(
        color: impl Into<Color>, // a key of another type: `Color::of(key)`
        value: T,
    ) -> Self {
        let color = color.into();
        let lane = SchedulerHandle::with_current(|handle| handle.map(|handle| handle.lane(color)));
        let Some(lane) = lane else {
            panic!(
                "`ColorCell::new({color}, ..)` outside a runtime: call it inside one, or use \
                 `Handle::cell`"
            )
        };
        Self::on_lane(lane, value)
    }

    /// Gives `value` to `color` in the runtime of `handle`.
    #[must_use]
    #[track_caller]
    pub fn new_in(handle: &SchedulerHandle, color: impl Into<Color>, value: T) -> Self {
        Self::on_lane(handle.lane(color.into()), value)
    }

    #[track_caller]
    pub(crate) fn on_lane(lane: LaneRef, value: T) -> Self {
        Self { inner: Owner::new(lane, Made::here(), value) }
    }

    /// The cell's color.
    #[must_use]
    pub fn color(&self) -> Color {
        self.inner.lane().color()
    }

    /// Whether both are clones of one cell.
    ///
    /// ```
    /// # use colored_core::ColorCell;
    /// # fn example(cell: &ColorCell<i32>) {
    /// assert!(cell.same(&cell.clone()));
    /// # }
    /// ```
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.id() == other.id()
    }

    fn id(&self) -> *const () {
        std::ptr::from_ref(&*self.inner).cast()
    }

    /// Uses the value, from inside its color.
    ///
    /// The access is part of the caller's turn: it runs before everything that is scheduled under
    /// the color, also before the caller's own [posts](Self::post). A [`call`](Self::call) runs
    /// after them.
    ///
    /// # Panics
    ///
    /// Where [`ColorCell::try_with`] returns an error. The text names the caller's task and where
    /// it was spawned, and with debug assertions where the cell was made.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}{}", self.inner.sides()),
        }
    }

    /// Uses the value, from inside its color.
    ///
    /// # Errors
    ///
    /// If the caller runs under another color or none, inside another access to the same cell, or
    /// during an exclusive access of the same task. `f` is dropped unused.
    pub fn try_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, AccessError> {
        if !self.inner.lane().is_current() {
            return Err(AccessError::wrong_color(self.color()));
        }
        // SAFETY: `is_current` says that this thread holds the lane.
        Ok(unsafe { self.inner.with(f) }?)
    }

    /// Uses the value under its color, from anywhere, and waits for the result.
    ///
    /// `f` runs after everything that is scheduled under the color, whatever the caller's color is.
    /// If nothing is scheduled, and the color is idle or the caller's own, `f` runs at once on this
    /// thread. `f` also runs at once inside a [section](crate::exclusive()) of the task over the
    /// color. Otherwise `f` is scheduled. The task does not move. If the color is busy only with
    /// closures that other threads run inline, this thread retries for some microseconds before it
    /// schedules `f`.
    ///
    /// Cancel safe: a call that is dropped before its first poll drops `f` at once. A scheduled
    /// call drops `f` under the cell's color, unless `f` has begun; then `f` goes on.
    ///
    /// # Panics
    ///
    /// With the panic of `f`; and where [`checked_call`](Self::checked_call) returns an error: the text
    /// names the line of the call.
    #[track_caller]
    pub fn call<R, F>(&self, f: F) -> Call<T, F, R>
    where
        F: FnOnce(&mut T) -> R + Send + 'static, // no `async` closure: use `exclusive` to await
        R: Send + 'static,
    {
        self.call_from(Location::caller(), f)
    }

    /// As [`call`](Self::call), for a caller at `site`.
    pub(crate) fn call_from<R, F>(&self, site: &'static Location<'static>, f: F) -> Call<T, F, R>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        Call::new(self.clone(), site, f)
    }

    /// As [`call`](Self::call), with an error in place of a panic that is not `f`'s, and as cancel safe.
    ///
    /// # Errors
    ///
    /// [`CallError`]: if the runtime shuts down before `f` has run; if its turn would never come,
    /// because a section ([`exclusive`](crate::exclusive())) holds the color and waits, directly or
    /// through other waits, for the caller; and inside another access to the same cell. `f` is
    /// dropped: at once if it was never scheduled, otherwise under the cell's color.
    ///
    /// # Panics
    ///
    /// With the panic of `f`.
    #[track_caller]
    pub fn checked_call<R, F>(&self, f: F) -> Checked<Call<T, F, R>>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        Checked::new(Call::new(self.clone(), Location::caller(), f))
    }

    /// Schedules `f` under the cell's color, behind everything that is already scheduled there, and
    /// does not wait for it. Works on any thread. The posts of one thread run in order. The number
    /// of waiting posts is not bounded: a thread that posts faster than the color runs fills the
    /// memory.
    ///
    /// The panic hook reports a panic of `f`, which goes no further. If the runtime shuts down
    /// first, `f` is dropped under the color.
    pub fn post<F: FnOnce(&mut T) + Send + 'static>(&self, f: F) {
        self.inner.post(f);
    }

    /// Runs `f` at once if nothing is scheduled under the color and it is idle or the caller's own; returns `f`
    /// otherwise.
    pub(crate) fn call_now<R, F>(&self, f: F) -> Result<Result<R, InUse>, F>
    where
        F: FnOnce(&mut T) -> R,
    {
        hooks::called(self.inner.lane());
        if self.inner.lane().is_free_here() {
            // SAFETY: `is_free_here` says that this thread holds the lane.
            return Ok(unsafe { self.inner.with(f) });
        }
        push::run_inline_soon(self.inner.lane(), f, |f| {
            // SAFETY: `run_inline_soon` runs the closure under the lane, which this thread holds meanwhile.
            unsafe { self.inner.with(f) }
        })
    }
}

impl<T: Send + 'static> Clone for ColorCell<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<T: Send + 'static> fmt::Debug for ColorCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColorCell").field("color", &self.color()).finish_non_exhaustive()
    }
}

// A panic does not poison a cell: the next access finds the value as the panic left it. That holds inside the runtime
// in any case, so a `catch_unwind` outside it exposes nothing new.
impl<T: Send + 'static> UnwindSafe for ColorCell<T> {}
impl<T: Send + 'static> RefUnwindSafe for ColorCell<T> {}
