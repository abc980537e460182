//! [`Dump`]: the tasks of a runtime, what each waits for, and what the workers do.
//!
//! `Handle::dump` makes one. It polls no task and runs no code of the program, and needs no worker:
//! so it also answers while every worker is stuck.

mod addresses;
mod functions;
mod group;
mod keeper;
mod make;
mod native;
mod partitions;
mod sample;
mod sampled_stacks;
mod task;
mod text;
mod to_json;
mod wait;

pub use self::keeper::{Keeper, KeptBy};
#[doc(hidden)]
pub use self::make::make;
pub use self::native::Frame;
#[cfg(feature = "native-stacks")]
pub use self::native::install_stack_handler;
pub(crate) use self::partitions::partitions;
pub(crate) use self::sample::{Patience, sample};
pub(crate) use self::sampled_stacks::SampledStacks;
pub use self::task::{TaskDump, TaskState};
pub use self::wait::{Wait, WaitFor};

use crate::subject::Notes;
use colored_core::dump::Dumped;
use colored_core::{Color, Deadlock, Id};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// A function that hears of dumps.
pub type DumpHook = Arc<dyn Fn(&Dump) + Send + Sync>;

/// The state of a runtime, task by task.
///
/// Its [`Display`](fmt::Display) text lists workers, tasks by color, cycles of waits, blocking calls, and the colors that
/// could not be read. Of more than three tasks of one place that wait for the same, in different colors or in one, it has one
/// entry: their number, and the one that has waited longest. [`to_json`](Self::to_json) has every task, for programs. Each
/// of them takes some 0.5 µs a task.
///
/// # What it promises
///
/// * A task that waits from the begin of the dump to its end is in it once, with its waits; unless its color is among
///   [`unread`](Self::unread).
/// * A worker that stays in one poll is in it, with the color, the task and the place of the spawn.
/// * The dump has no single moment: what it says of one task was true at one moment during the dump.
/// * A task that is scheduled and has never been polled is listed if its color has other work, or a name of its own: a task of
///   `spawn_unique` before its first poll is not. In a color with much to do, the first
///   thousand scheduled tasks are listed that have never been polled.
///
/// # Waits
///
/// A wait is shown while its future is there: from the poll in which it returned `Pending`, to the poll in which it is
/// ready, or its drop. So a branch of `select!` that was dropped is not shown. What a task waits for
/// is known exactly for handles of tasks and blocking calls, cells, `when`, limits, hops and sections,
/// any number of them. Of sockets, timers, files, children and signals, the one that returned `Pending` last in the
/// latest poll of the task is shown, or any other one if the last is the timer of a
/// `timeout`. A read or write of a stream leaves its request with the socket when it is dropped,
/// for the socket to wake the task: so it is shown up to the next poll. Of the locks and channels of `sync` the
/// one is shown that returned `Pending` last, as of sockets. A task that waits only for something else, such as a channel of
/// another crate, waits for "something of its own".
///
/// A task that is scheduled while another task keeps their color, by a section or a `when`, waits for that
/// task: see [`TaskDump::kept_by`] and [`keepers`](Self::keepers).
pub struct Dump {
    seen: Dumped,
    names: HashMap<Id, Arc<str>>,
    workers: Vec<WorkerDump>,
    calls: Vec<CallDump>,
    keepers: BTreeMap<Color, Keeper>,
    /// By descriptor.
    sockets: HashMap<u32, String>,
    notes: Notes,
    took: Duration,
}

/// A worker, at the end of the dump.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerDump {
    /// The index of the worker. Workers count from 0, and spare workers come after them.
    pub worker: usize,
    /// What it does.
    pub state: WorkerState,
    /// On Linux, for a worker that has run one color for 10 ms or more: the state of its thread, the place in the kernel where
    /// the thread sleeps, and the number of its system call. A thread that computes is `R (running)`.
    pub thread: Option<String>,
    /// The thread of such a worker is in these functions. The innermost comes first: those of the task, those of this
    /// library, and the start of the thread. The list is empty unless the program has called `install_stack_handler`
    /// (feature `native-stacks`).
    pub stack: Vec<Frame>,
}

/// What a worker does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WorkerState {
    /// It runs tasks, or a closure, of a color.
    #[non_exhaustive]
    Running {
        /// The color.
        color: Color,
        /// The task, and where it was spawned; none for a closure.
        task: Option<(Id, &'static Location<'static>)>,
        /// How long it has run the color without a break: longer than a slice (`Tuning::slice`) only
        /// in one poll.
        time: Duration,
    },
    /// It sleeps, because nothing was runnable.
    Parked,
    /// It looks for something to run, or for events, or has just begun or ended something.
    Searching,
    /// It is a spare worker that is not wanted.
    Absent,
}

/// A blocking call that has begun and not ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallDump {
    /// `spawn_blocking`, `fs` for an operation of a file, or the name of the
    /// `BlockingClass`.
    pub class: String,
    /// How long the call has run.
    pub time: Duration,
    /// Where the program made the call. None for a file.
    pub spawned: Option<&'static Location<'static>>,
}

impl Dump {
    /// The tasks, in the order of their colors: the default color comes first, then numbered ones, then unique ones. A task
    /// that only its worker shows comes last.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = TaskDump<'_>> {
        self.seen.sheet.tasks().iter().map(|task| TaskDump::new(self, task))
    }

    /// The workers, and the spare workers that are wanted.
    #[must_use]
    pub fn workers(&self) -> &[WorkerDump] {
        &self.workers
    }

    /// Cycles of waits that lead through a section (`exclusive`): the tasks in them do not go on
    /// by themselves. As a rule the runtime ends such a wait with an error after 10 ms.
    #[must_use]
    pub fn deadlocks(&self) -> &[Deadlock] {
        &self.seen.deadlocks
    }

    /// The colors that a task keeps while it waits, each once.
    pub fn keepers(&self) -> impl ExactSizeIterator<Item = &Keeper> {
        self.keepers.values()
    }

    /// The blocking calls that have begun.
    #[must_use]
    pub fn calls(&self) -> &[CallDump] {
        &self.calls
    }

    /// The colors whose tasks could not be read, or not all of them: some thread was in one poll, or in a closure, of the
    /// color all the time; or the color was in a queue that no worker came to.
    #[must_use]
    pub fn unread(&self) -> &[Color] {
        &self.seen.unread
    }

    fn count(&self, is_it: impl Fn(&TaskDump<'_>) -> bool) -> usize {
        self.tasks().filter(is_it).count()
    }

    /// How long the dump took.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }
}

impl fmt::Debug for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dump")
            .field("tasks", &self.tasks().len())
            .field("workers", &self.workers)
            .field("unread", &self.seen.unread)
            .field("took", &self.took)
            .finish_non_exhaustive()
    }
}
