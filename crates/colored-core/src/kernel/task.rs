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
mod id;
mod join;
mod state;
mod turn;
mod wait_record;
mod waiting;

pub use self::id::{Id, NameFor, TaskName, task_name};
pub use self::join::{JoinError, TaskPanic, contain, on_unheard_panics};
pub use self::wait_record::{Deadlock, How};

pub(crate) use self::cell::{Cell, table as waker_table};
pub(crate) use self::join::{Abort, Join, note_unheard};
pub(crate) use self::state::{Kept, Wants};
pub(crate) use self::turn::{EndedTurn, Paused, PolledTask, Section, Stored, TaskTurn, Unpolled};
pub(crate) use self::wait_record::{Cause, Link, Named, WaitRecord, WaitRecords};
pub(crate) use self::waiting::{Closing, Holds, LiveList, ParkedSections, SectionKey};

use self::state::{Joinable, State, Woken};
#[cfg(feature = "leaves")]
use crate::hooks::slots::LeafSlot;
use crate::kernel::chain::Node;
use crate::sync::{AtomicPtr, Ordering, UnsafeCell};
use std::any::Any;
use std::panic::Location;
use std::ptr::NonNull;
use std::task::{RawWakerVTable, Waker};

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

/// The part of a task that does not depend on its future.
///
/// The node comes first: a chain's pointer to it is a pointer to the task.
#[repr(C)]
pub(crate) struct Header<S: Schedule> {
    node: Node,
    state: State,
    vtable: &'static Vtable<S>,
    lane: AtomicPtr<S::Target>,
    id: Id,
    spawned: &'static Location<'static>,
    live: UnsafeCell<Links<S>>,
    joiner: UnsafeCell<Option<Waker>>,
    records: UnsafeCell<WaitRecords>,
    #[cfg(feature = "leaves")]
    leaf: UnsafeCell<LeafSlot>,
}

/// A task's place in the list of its lane ([`LiveList`]).
#[derive(Debug)]
struct Links<S: Schedule> {
    /// The task itself while it is in no list: a word less than a flag takes.
    previous: Option<NonNull<Header<S>>>,
    next: Option<NonNull<Header<S>>>,
}

impl<S: Schedule> Links<S> {
    fn unlinked(task: NonNull<Header<S>>) -> Self {
        Self { previous: Some(task), next: None }
    }
}

/// The operations on a task's future. Each is for the one who has the right to it (table in [`super`]).
struct Vtable<S: Schedule> {
    /// Polls the future; true when the output has been stored.
    poll: unsafe fn(TaskRef<S>) -> bool,
    /// Drops the future and stores that it was cancelled.
    cancel: unsafe fn(TaskRef<S>),
    /// Moves the output to the place that the second argument points to: an uninitialized
    /// `Result<T, JoinError>`.
    take_output: unsafe fn(TaskRef<S>, *mut ()),
    drop_output: unsafe fn(TaskRef<S>),
    free: unsafe fn(TaskRef<S>),
}

/// The runtime's view of a task. Its maker promises that the task is alive while the view is used; its operations need
/// nothing else.
pub(crate) struct TaskRef<S: Schedule>(NonNull<Header<S>>);

impl<S: Schedule> Clone for TaskRef<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Schedule> Copy for TaskRef<S> {}

impl<S: Schedule> PartialEq for TaskRef<S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<S: Schedule> TaskRef<S> {
    /// # Safety
    ///
    /// `task` is alive for as long as the view is used.
    #[inline]
    pub(crate) unsafe fn new(task: NonNull<Header<S>>) -> Self {
        Self(task)
    }

    /// # Safety
    ///
    /// `node` is of [`Kind::Task`](crate::kernel::chain::Kind::Task), of a task over `S`, and alive for as long as the view is
    /// used.
    #[inline]
    pub(crate) unsafe fn from_node(node: NonNull<Node>) -> Self {
        Self(node.cast())
    }

    /// Whether its node has no turn coming: the task waits. May be out of date.
    pub(crate) fn is_waiting(self) -> bool {
        self.header().state.is_waiting()
    }

    #[inline]
    pub(crate) fn node(self) -> NonNull<Node> {
        self.0.cast()
    }

    pub(crate) fn as_ptr(self) -> *const Header<S> {
        self.0.as_ptr()
    }

    #[inline]
    fn header<'a>(self) -> &'a Header<S> {
        // SAFETY: the maker of the view promised that the task is alive while it is used.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn id(self) -> Id {
        self.header().id
    }

    /// Whether some handle wants the output. A hint: the handle may be dropped at any time.
    pub(crate) fn has_handle(self) -> bool {
        self.header().state.has_handle()
    }

    pub(crate) fn named(self) -> Named {
        Named { id: self.header().id, spawned: self.header().spawned }
    }

    pub(crate) fn is_complete(self) -> bool {
        self.header().state.is_complete()
    }

    /// The lane, for the owner that may move the task. For any other thread it names the lane that the task has or had,
    /// and does not promise that this lane still exists.
    #[inline]
    pub(crate) fn lane(self) -> S {
        // Ordering: the state's transitions order the owner that moves the task after the last one. For any other
        // thread Acquire pairs with the Release of `TaskTurn::hop`: if it sees the lane that a task has hopped to, it also
        // sees that the last poll under the old lane is over.
        let lane = self.header().lane.load(Ordering::Acquire);
        S::from_raw(NonNull::new(lane).expect("a task has a lane"))
    }

    /// A clone of the joiner's waker, if it has one.
    ///
    /// # Safety
    ///
    /// Meanwhile the task does not complete, and its handle is not used.
    pub(crate) unsafe fn joiner(self) -> Option<Waker> {
        let header = self.header();
        if header.state.joinable() != Joinable::HasWaker {
            return None;
        }
        // SAFETY: neither the completion nor the handle uses it: the caller promises that.
        header.joiner.with(|joiner| unsafe { (*joiner).clone() })
    }

    /// Whether it has an open section. Only called from within its poll.
    pub(crate) fn has_sections(self) -> bool {
        self.header().state.has_sections()
    }

    /// Wakes the task as a waker of its own would.
    pub(crate) fn wake(self) {
        self.change(State::wake);
    }

    /// Marks the task for cancellation and schedules it if it waits.
    pub(crate) fn abort(self) {
        self.change(State::abort);
    }

    /// Makes a transition of the state to which the caller has the right, and does what the transition demands.
    #[inline]
    fn change(self, transition: impl FnOnce(&State) -> Woken) {
        match transition(&self.header().state) {
            // SAFETY: the transition has set `SCHEDULED`, so this thread is the owner that may move the task and read its
            // lane. The runtime's reference keeps the task up to its turn.
            Woken::Schedule => unsafe { self.lane().schedule(self.node()) },
            // SAFETY: the transition has set `SCHEDULED` on a task with `KEPT`, so this thread may move the task and run
            // its lane.
            Woken::Resume => unsafe { self.lane().resume(self.node()) },
            Woken::Nothing => {}
            Woken::Free => self.free(),
        }
    }

    /// Gives back a reference of the caller's, which does not use the task again.
    #[inline]
    fn release(self) {
        if self.header().state.release() {
            self.free();
        }
    }

    /// As [`release`](Self::release), for the runtime or the handle: one of the two is the last, as a rule.
    #[inline]
    fn release_late(self) {
        if self.header().state.release_late() {
            self.free();
        }
    }

    /// Frees the task, whose last reference the caller has given back.
    #[cold]
    fn free(self) {
        // SAFETY: a transition of the state has given back the last reference, so only this thread knows the task.
        unsafe { (self.header().vtable.free)(self) };
    }
}
