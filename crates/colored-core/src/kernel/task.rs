//! A task: one future, its state and its output, in one allocation.
//!
//! # Access to the parts
//!
//! | part | touched by |
//! |---|---|
//! | `node` | the chain it is in; the owner that may move it ([`state`]) |
//! | `state` | every thread, atomically |
//! | `lane` | the owner that may move the node; a thread that keeps the task alive may ask which it is |
//! | `live` | the holder of the task's lane |
//! | `records`, `leaf` | the owner that may move the node ([`wait_record`], [`leaf`](crate::ext::leaf)) |
//! | future | the holder of the task's lane |
//! | output | the holder until `COMPLETE`, then the handle; with no handle the holder drops it |
//! | joiner's waker | the handle while `JOINER` is clear, the holder at the end while it is set |
//!
//! # References
//!
//! One belongs to the runtime until the task is complete and unlinked, one to the handle, one to every waker and open
//! section. The runtime's reference is why a shutdown finds a task that waits for a wake-up that never comes, and why a
//! wake that won the right to schedule may use the task without one of its own.
//!
//! # Rights
//!
//! A right to a part is a value (`turn.rs`). The code that gives the right makes the value, and the value ends with the right.
//!
//! The layer does not know lanes: it calls the layer above through [`Schedule`].

mod cell;
mod header;
mod id;
mod join;
mod state;
mod turn;
mod wait_record;
mod waiting;

pub use self::id::{Id, NameFor, TaskName, task_name};
pub use self::join::{JoinError, TaskPanic, contain};
pub use self::wait_record::{Deadlock, How};

pub(crate) use self::cell::{Cell, table as waker_table};
pub(crate) use self::header::TaskRef;
pub(crate) use self::join::{Abort, Join};
pub(crate) use self::state::{Kept, Wants};
pub(crate) use self::turn::{EndedTurn, Paused, PolledTask, Section, Stored, TaskTurn, Unpolled};
#[cfg(all(test, colored_loom))]
pub(crate) use self::wait_record::WaitRecords;
pub(crate) use self::wait_record::{Cause, Link, Named, WaitRecord};
pub(crate) use self::waiting::{Closing, Holds, LiveList, ParkedSections, SectionKey};

use crate::kernel::chain::Node;
use std::any::Any;
use std::ptr::NonNull;
use std::task::RawWakerVTable;

/// The lane to which a task goes when it becomes ready. The lane above implements this, and a recorder stands in for it
/// in the models.
pub(crate) trait Schedule: Copy + PartialEq + Send + Sync + 'static {
    /// The type that it points to, for a word that several threads read.
    type Target;

    fn into_raw(self) -> NonNull<Self::Target>;

    /// Takes a pointer that [`Schedule::into_raw`] returned.
    fn from_raw(raw: NonNull<Self::Target>) -> Self;

    /// The table of its tasks' wakers. A static, and not a constant, which may have another address in each crate:
    /// tasks recognize their own wakers by it.
    fn waker_table() -> &'static RawWakerVTable;

    /// Has the task scheduled again when its poll ends, if this thread polls it; false if it does not.
    fn mark_yielded(task: TaskRef<Self>) -> bool;

    /// The task has panicked, on this thread: its poll, or the destructor of its future.
    fn panicked(_task: TaskRef<Self>, _payload: &(dyn Any + Send)) {}

    /// Takes the node of a task that has just become ready. Called at most once per readiness.
    ///
    /// # Safety
    ///
    /// `self` is the task's lane, read by the owner that may move the node, and the caller is that owner. After the
    /// call it is not the owner, and may use the task only if it has a reference.
    unsafe fn schedule(self, node: NonNull<Node>);

    /// Takes a task that has kept its lane and has just become ready: the lane goes on, with this
    /// node at its head.
    ///
    /// # Safety
    ///
    /// As for `schedule`, and the task has kept the lane: the caller has the right to run it.
    unsafe fn resume(self, node: NonNull<Node>);
}
