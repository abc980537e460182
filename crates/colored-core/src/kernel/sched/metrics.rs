//! What others read of a worker: its counters, how many tasks there are, and what it runs at the moment.
//!
//! The atomic of a [`Counter`] is the standard library's under loom as well: a thread decides by no counter but its own.
//!
//! What it runs, only the worker writes, without a lock and without a fence that costs an instruction on x86. A reader takes
//! the color between two looks at the serial number of the slice ([`Remote::beat`](crate::kernel::sched::remote::Remote)),
//! and the place of the spawn between two looks at the id of the task, which no other task has. If a number differs, the
//! reader returns nothing. So what it returns was true at one moment.
//!
//! These atomics are the standard library's under loom as well: no decision of the scheduler depends on them.

use crate::kernel::color::{Color, ColorKind};
use crate::kernel::task::{Id, Named};
use crate::sync::AtomicUsize;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering, fence};
use std::time::Duration;

/// The counters of a worker since the runtime began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Polls of tasks and runs of callbacks.
    pub polls: u64,
    /// Turns of lanes.
    pub slices: u64,
    /// Times it took lanes from another worker.
    pub steals: u64,
    /// Times it went to sleep.
    pub parks: u64,
    /// Time in polls and callbacks, and between them.
    pub run: Duration,
    /// Time in which it looked for a color to run.
    pub search: Duration,
    /// Time in which it asked the system for events without sleep, and woke tasks for them.
    pub io: Duration,
    /// Time in which it woke tasks whose timers were due.
    pub timers: Duration,
    /// Time asleep.
    pub parked: Duration,
}

/// A worker's own counters: only the worker writes them, and any thread reads them.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) polls: Counter,
    pub(crate) steals: Counter,
    pub(crate) parks: Counter,
}

/// How many futures cannot leave a worker (`guest.rs`). Only the worker's own thread changes it.
pub(crate) struct LocalTaskCount(AtomicUsize);

impl LocalTaskCount {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub(crate) fn add(&self) {
        // Ordering: there is one writer. The thread that stops the workers reads the count while all are
        // parked, under the lock under which workers park and wake.
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self) {
        // Ordering: as in `add`.
        self.0.store(self.0.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    pub(crate) fn is_empty(&self) -> bool {
        // Ordering: as in `add`.
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// How many tasks a thread, or several, have spawned, and run to the end. A worker [adds](Counter::add) to its own counts;
/// other threads [share](Counter::add_shared) those that are the scheduler's.
#[derive(Default)]
pub(crate) struct TaskCounts {
    pub(crate) spawned: Counter,
    pub(crate) completed: Counter,
}

/// A sum that grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds, while no other thread does.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        // Ordering: a figure, not a signal. There is one writer, so no read-modify-write is needed.
        self.0.store(self.0.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    /// Begins again from 0, while no other thread adds.
    pub(crate) fn reset(&self) {
        // Ordering: as in `add`.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Adds, while other threads may do so too: none of them by [`add`](Self::add).
    pub(crate) fn add_shared(&self, n: u64) {
        // Ordering: a figure.
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // Ordering: a figure.
        self.0.load(Ordering::Relaxed)
    }
}

/// A slice that a worker is inside of, as another thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningSlice {
    /// No other slice of this worker has the same number.
    pub serial: u64,
    /// The age of the slice in nanoseconds. A slice of more than [`Options::slice_nanos`](crate::kernel::sched::Options) is in a poll
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
