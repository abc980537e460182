//! What a worker runs at the moment, for other threads to read.
//!
//! Only the worker writes, without a lock and without a fence that costs an instruction on x86. A reader takes the color
//! between two looks at the serial number of the slice ([`Remote::beat`](super::remote::Remote)), and the place of the
//! spawn between two looks at the id of the task, which no other task has. If a number differs, the reader returns
//! nothing. So what it returns was true at one moment.
//!
//! These atomics are the standard library's under loom as well: no decision of the scheduler depends on them.

use crate::kernel::color::{Color, ColorKind};
use crate::kernel::task::{Id, Named};
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering, fence};

/// A slice that a worker is inside of, as another thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningSlice {
    /// No other slice of this worker has the same number.
    pub serial: u64,
    /// The age of the slice in nanoseconds. A slice of more than [`Options::slice_nanos`](super::Options) is in a poll
    /// that began so long after the slice at most.
    pub nanos: u64,
    /// Whether the poll is inside [`block_in_place`](crate::block_in_place), or a poll of this slice has been.
    pub in_place: InPlace,
    /// The color.
    pub color: Color,
    /// The task, and the place of its spawn; none for a callback.
    pub task: Option<(Id, &'static Location<'static>)>,
}

/// Whether a slice has announced that it blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// It has not.
    No,
    /// A poll is inside [`block_in_place`](crate::block_in_place).
    Inside,
    /// A poll has been.
    Past,
    /// A poll is inside a call of the layer above ([`in_own_call`](crate::port::in_own_call)).
    Own,
}

/// The worker's side.
pub(crate) struct Running {
    kind: AtomicU8,
    key: AtomicU64,
    /// The id of the task that is polled; 0 while `spawned` changes, and for a callback.
    task: AtomicU64,
    spawned: AtomicPtr<Location<'static>>,
    in_place: AtomicU8,
}

impl Running {
    pub(crate) fn new() -> Self {
        Self {
            kind: AtomicU8::new(ColorKind::Default as u8),
            key: AtomicU64::new(0),
            task: AtomicU64::new(0),
            spawned: AtomicPtr::new(ptr::null_mut()),
            in_place: AtomicU8::new(InPlace::No as u8),
        }
    }

    /// Begins a slice of `color`, after the end of the last slice.
    #[inline]
    pub(crate) fn begin(&self, color: Color) {
        // Ordering: a reader that sees one of these stores also sees the beat that ended the last slice, by the fence
        // in `Scheduler::running`.
        fence(Ordering::Release);
        self.kind.store(color.kind() as u8, Ordering::Relaxed);
        self.key.store(color.number(), Ordering::Relaxed);
        self.task.store(0, Ordering::Relaxed);
        self.in_place.store(InPlace::No as u8, Ordering::Relaxed);
    }

    /// The turn of a task begins, or of something else.
    #[inline]
    pub(crate) fn begin_turn(&self, task: Option<Named>) {
        // Ordering: a reader that sees the new place also sees this 0, or the new id, by the fence in `task`.
        self.task.store(0, Ordering::Relaxed);
        if let Some(task) = task {
            fence(Ordering::Release);
            self.spawned.store(ptr::from_ref(task.spawned).cast_mut(), Ordering::Relaxed);
            // Ordering: Release hands over the place.
            self.task.store(task.id.get(), Ordering::Release);
        }
    }

    /// Marks the slice, and returns the mark before.
    pub(crate) fn mark(&self, in_place: InPlace) -> InPlace {
        let before = self.in_place();
        // Ordering: a hint for the thread that looks now and then; only the worker writes.
        self.in_place.store(in_place as u8, Ordering::Relaxed);
        before
    }

    /// The color. Another thread than the worker may see the number of one slice and the kind of another.
    pub(crate) fn color(&self) -> Color {
        // Ordering: the worker itself is the only writer; another reader has the fence in `Scheduler::running`.
        let kind = ColorKind::from_u8(self.kind.load(Ordering::Relaxed));
        Color::from_parts(kind, self.key.load(Ordering::Relaxed))
    }

    pub(crate) fn in_place(&self) -> InPlace {
        // Ordering: see `mark`.
        match self.in_place.load(Ordering::Relaxed) {
            0 => InPlace::No,
            1 => InPlace::Inside,
            2 => InPlace::Past,
            _ => InPlace::Own,
        }
    }

    pub(crate) fn task(&self) -> Option<(Id, &'static Location<'static>)> {
        // Ordering: Acquire pairs with the last store of `begin_turn`, and the fence with the fence there.
        let id = Id::from_number(self.task.load(Ordering::Acquire))?;
        let spawned = self.spawned.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let is_same = self.task.load(Ordering::Relaxed) == id.get();
        // SAFETY: the id was not 0, so a place had been stored before it, and every stored place is a reference that
        // lives for ever.
        is_same.then(|| (id, unsafe { &*spawned }))
    }
}
