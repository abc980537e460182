//! The part of a task that does not depend on its future, and the operations on it that any thread may call. Those that need
//! a right to the task are in `turn.rs`.

use super::Schedule;
use super::id::Id;
use super::state::{Joinable, State, Woken};
use super::wait_record::{Named, WaitRecords};
#[cfg(feature = "leaves")]
use crate::hooks::slots::LeafSlot;
use crate::kernel::chain::Node;
use crate::sync::{AtomicPtr, Ordering, UnsafeCell};
use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

/// The part of a task that does not depend on its future.
///
/// The node comes first: a chain's pointer to it is a pointer to the task.
#[repr(C)]
pub(crate) struct Header<S: Schedule> {
    pub(super) node: Node,
    pub(super) state: State,
    pub(super) vtable: &'static Vtable<S>,
    pub(super) lane: AtomicPtr<S::Target>,
    pub(super) id: Id,
    pub(super) spawned: &'static Location<'static>,
    pub(super) live: UnsafeCell<Links<S>>,
    pub(super) joiner: UnsafeCell<Option<Waker>>,
    pub(super) records: UnsafeCell<WaitRecords>,
    #[cfg(feature = "leaves")]
    pub(super) leaf: UnsafeCell<LeafSlot>,
}

/// A task's place in the list of its lane ([`LiveList`](super::LiveList)).
#[derive(Debug)]
pub(super) struct Links<S: Schedule> {
    /// The task itself while it is in no list: a word less than a flag takes.
    pub(super) previous: Option<NonNull<Header<S>>>,
    pub(super) next: Option<NonNull<Header<S>>>,
}

impl<S: Schedule> Links<S> {
    pub(super) fn unlinked(task: NonNull<Header<S>>) -> Self {
        Self { previous: Some(task), next: None }
    }
}

/// The operations on a task's future. Each is for the one who has the right to it (table in [`super`]).
pub(super) struct Vtable<S: Schedule> {
    /// Polls the future; true when the output has been stored.
    pub(super) poll: unsafe fn(TaskRef<S>) -> bool,
    /// Drops the future and stores that it was cancelled.
    pub(super) cancel: unsafe fn(TaskRef<S>),
    /// Moves the output to the place that the second argument points to: an uninitialized
    /// `Result<T, JoinError>`.
    pub(super) take_output: unsafe fn(TaskRef<S>, *mut ()),
    pub(super) drop_output: unsafe fn(TaskRef<S>),
    pub(super) free: unsafe fn(TaskRef<S>),
}

/// The runtime's view of a task. Its maker promises that the task is alive while the view is used; its operations need
/// nothing else.
pub(crate) struct TaskRef<S: Schedule>(pub(super) NonNull<Header<S>>);

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
    pub(super) fn header<'a>(self) -> &'a Header<S> {
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
    pub(super) fn change(self, transition: impl FnOnce(&State) -> Woken) {
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
    pub(super) fn release(self) {
        if self.header().state.release() {
            self.free();
        }
    }

    /// As [`release`](Self::release), for the runtime or the handle: one of the two is the last, as a rule.
    #[inline]
    pub(super) fn release_late(self) {
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
