//! Values that belong to a color: made on first use under it, dropped under it when it is idle.
//!
//! They are the holder's, behind one pointer in the lane, and so they move with it from worker to worker, without a
//! lock. A lane without values pays for the pointer, and for one look at it when it retires.
//!
//! # How they end
//!
//! Values must be dropped under their color. But no thread runs a lane that retires, and once it has left the table
//! another lane of its color may run. So a lane with values does not retire:
//!
//! 1. Its last reference goes, under the lock of its table shard; no thread holds it or can find
//!    it. It has values, so it gets the reference back ([`Last::Kept`](crate::kernel::lane::refs::Last::Kept)) and stays in the table.
//! 2. That reference schedules an [`End`] on it, which drops the values when its turn comes.
//! 3. The end gives back the last reference again. Now there are no values: it retires.
//!
//! A thread may find the lane between step 1 and the end's turn. The end then sees one more reference than its own, and
//! does nothing: the color is in use, and keeps its values up to the next last reference. A thread that finds the lane
//! after that look queues its work behind the end, and sees new values.
//!
//! At shutdown a cell or a handle may refer to a color for ever. So where the waiting tasks of a lane are aborted, an
//! end that ignores the count is scheduled behind them.

use crate::kernel::lane::base::{Entry, Held, Inner, Locals, Value};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::lane::{current, push};
use crate::kernel::task::contain;
use std::error::Error;
use std::fmt;
use std::ptr::{self, NonNull};

/// A static of which every color has its own value; `color_local!` declares it.
///
/// The first use under a color makes the value: in a poll, in a callback of a cell, or in a
/// destructor. The value is dropped under its color when nothing refers to the color any more (no
/// task, no scheduled work, no cell, no priority), and at shutdown after the tasks of the color
/// that exist then. If the color is used again afterwards, the next use makes a new value. The
/// value made last is dropped first. Colors of two runtimes are unrelated: each has its own value.
///
/// No two threads access one value at the same time, so it need not be `Sync`, and there is no
/// lock. A use costs a look at a thread-local and at the values of the color.
///
/// The destructor of a value cannot use itself or values of its color that have already been
/// dropped; it can use and make others.
pub struct ColorLocal<T: 'static> {
    name: &'static str,
    init: fn() -> T,
}

/// Why the value of a color cannot be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorLocalError {
    name: &'static str,
    why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    NoColor,
    Dropped,
}

impl fmt::Display for ColorLocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.why {
            Why::NoColor => write!(
                f,
                "`{name}` belongs to a color, but the caller runs under none: use it in a task, in a \
                 callback of a `ColorCell`, or in a destructor of theirs"
            ),
            Why::Dropped => write!(
                f,
                "`{name}` has been dropped: this is the destructor of a value of the same color"
            ),
        }
    }
}

impl Error for ColorLocalError {}

impl<T: Send + 'static> ColorLocal<T> {
    /// For `color_local!`.
    #[doc(hidden)]
    pub const fn __new(name: &'static str, init: fn() -> T) -> Self {
        Self { name, init }
    }

    /// Uses the value of the color that the caller runs under. Uses may be nested: each borrows its
    /// value immutably.
    ///
    /// # Panics
    ///
    /// Where [`try_with`](Self::try_with) returns an error; and with the panic of the initializer,
    /// after which there is no value.
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Uses the value of the color that the caller runs under. May be nested.
    ///
    /// # Errors
    ///
    /// If the caller runs under no color, or in the destructor of a value of the color after this one
    /// has been dropped. `f` is dropped unused.
    #[track_caller]
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, ColorLocalError> {
        let error = |why| ColorLocalError { name: self.name, why };
        let value = Held::with_current(|lane| {
            let lane = lane.ok_or(error(Why::NoColor))?;
            match lane.inner(|inner| inner.local(self)) {
                Found::Here(value) => Ok(value),
                Found::Dropped => Err(error(Why::Dropped)),
                Found::Not => Ok(self.make(lane)),
            }
        })?;
        // SAFETY: a value is dropped in a turn of its own, or further down this stack when its entry
        // is empty; so it stays, in its box, for the rest of this turn. Only the holder reaches it,
        // and never for writing.
        let value = unsafe { value.as_ref() };
        let _closure = current::Closure::begin();
        Ok(f(value))
    }

    /// Makes the value. If an initializer uses its own key, it has made the value already: that value stays.
    #[cold]
    fn make(&'static self, lane: Held<'_>) -> NonNull<T> {
        let mut value = Some(Box::new((self.init)()));
        let insert = |inner: &mut Inner| {
            if let Found::Here(there) = inner.local(self) {
                return there;
            }
            let value = value.take().map(|value| value as Value);
            let entry = Entry { key: self.key(), value };
            inner.locals.get_or_insert_with(|| Box::new(Locals(Vec::new()))).0.push(entry);
            match inner.local(self) {
                Found::Here(made) => made,
                Found::Dropped | Found::Not => unreachable!("it has just been put there"),
            }
        };
        lane.inner(insert)
    }

    fn key(&'static self) -> *const () {
        ptr::from_ref(self).cast()
    }
}

impl<T: 'static> fmt::Debug for ColorLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColorLocal").field("name", &self.name).finish_non_exhaustive()
    }
}

enum Found<T> {
    Here(NonNull<T>),
    Dropped,
    Not,
}

impl Inner {
    fn local<T: Send>(&self, local: &'static ColorLocal<T>) -> Found<T> {
        let entries = self.locals.as_ref().map_or(&[][..], |locals| &locals.0);
        let Some(entry) = entries.iter().find(|entry| entry.key == local.key()) else {
            return Found::Not;
        };
        match &entry.value {
            Some(value) => {
                Found::Here(value.downcast_ref().map(NonNull::from).expect("a key has one type"))
            }
            None => Found::Dropped,
        }
    }

    /// Takes out the value that was made last. After the last one, removes the list.
    fn take_local(&mut self) -> Option<Value> {
        let entries = self.locals.as_mut()?.0.iter_mut().rev();
        let value = entries.filter_map(|entry| entry.value.take()).next();
        if value.is_none() {
            self.locals = None;
        }
        value
    }
}

/// Drops the values of a lane under it, unless it is in use again by then.
pub(crate) fn end(lane: LaneRef) {
    let end = End { in_any_case: false };
    push::post_owning(lane, move || drop(end));
}

/// Ends the values when it is dropped: so a callback that is cancelled ends them too.
struct End {
    in_any_case: bool,
}

impl Drop for End {
    fn drop(&mut self) {
        Held::with_current(|lane| {
            let lane = lane.expect("a callback runs, and is dropped, under its lane");
            if !self.in_any_case && lane.has_other_owners() {
                return;
            }
            while let Some(value) = lane.inner(Inner::take_local) {
                contain(|| drop(value));
            }
        });
    }
}

/// Drops the values of a lane after all that is scheduled now, even if the lane has other owners.
pub(crate) fn close(lane: Held<'_>) {
    if lane.has_locals()
        && let Some(lane) = LaneRef::of_holder()
    {
        let end = End { in_any_case: true };
        push::post_owning(lane, move || drop(end));
    }
}

impl Held<'_> {
    /// Whether there is a reference beside the calling callback's.
    fn has_other_owners(self) -> bool {
        // A reference that this misses was not there when the holder before this turn ended, so it comes from the
        // table. Work that its owner schedules comes behind this turn, as if it had looked the lane up later.
        self.refs.get().checked_add_signed(current::owed()) != Some(1)
    }
}
