//! The part of a task that does not depend on its future, and the operations on a task whose type is forgotten.

use super::Schedule;
use super::deadlock::Named;
use super::id::Id;
#[cfg(feature = "leaves")]
use super::leaf::LeafSlot;
use super::record::{Record, Records};
use super::state::{Begun, Completed, Ended, Joinable, Kept, State, Wants, Woken};
use crate::kernel::budget;
use crate::kernel::contain::contain;
use crate::kernel::queue::Node;
use crate::sync::{AtomicPtr, Ordering, UnsafeCell};
use std::fmt;
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
    pub(super) records: UnsafeCell<Records>,
    #[cfg(feature = "leaves")]
    pub(super) leaf: UnsafeCell<LeafSlot>,
}

/// A task's place in its lane's list.
#[derive(Debug)]
pub(super) struct Links<S: Schedule> {
    /// The task itself while it is in no list: a word less than a flag takes.
    pub(super) previous: Option<Member<S>>,
    pub(super) next: Option<Member<S>>,
}

impl<S: Schedule> Links<S> {
    pub(super) fn unlinked(task: NonNull<Header<S>>) -> Self {
        Self { previous: Some(Member(task)), next: None }
    }
}

/// A task in the list of its lane, or one that is added or looked for. Who has one may use its [`Links`]: the task is
/// alive, and this thread holds its lane. A task that is in the list stays alive until it is removed
/// ([`LiveList::insert`](super::LiveList::insert)), so a member leads to others.
pub(super) struct Member<S: Schedule>(pub(super) NonNull<Header<S>>);

impl<S: Schedule> Member<S> {
    /// # Safety
    ///
    /// The task is alive, and the caller holds its lane, for as long as the member is used.
    #[inline]
    pub(super) unsafe fn new(task: TaskRef<S>) -> Self {
        Self(task.0)
    }

    #[inline]
    pub(super) fn with<R>(self, f: impl FnOnce(&mut Links<S>) -> R) -> R {
        // SAFETY: `new` was promised that the task is alive.
        let header = unsafe { self.0.as_ref() };
        header.live.with_mut(|links| {
            // SAFETY: `new` was promised that this thread holds the lane, so no other thread uses the links; `f` cannot
            // reach them again.
            f(unsafe { &mut *links })
        })
    }

    #[inline]
    pub(super) fn is_in_list(self) -> bool {
        self.with(|links| links.previous) != Some(self)
    }
}

impl<S: Schedule> Copy for Member<S> {}

impl<S: Schedule> Clone for Member<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Schedule> PartialEq for Member<S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<S: Schedule> fmt::Debug for Member<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The operations on a task's future.
pub(super) struct Vtable<S: Schedule> {
    /// Polls the future; true when the output has been stored.
    pub(super) poll: unsafe fn(NonNull<Header<S>>) -> bool,
    /// Drops the future and stores that it was cancelled.
    pub(super) cancel: unsafe fn(NonNull<Header<S>>),
    /// Moves the output to the place that the second argument points to: an uninitialized
    /// `Result<T, JoinError>`.
    pub(super) take_output: unsafe fn(NonNull<Header<S>>, *mut ()),
    pub(super) drop_output: unsafe fn(NonNull<Header<S>>),
    pub(super) free: unsafe fn(NonNull<Header<S>>),
}

/// Takes the action that a transition of the state demands.
///
/// # Safety
///
/// The caller's transition of this task's state returned `woken`. If that is `Schedule` or `Resume`
/// the runtime's reference keeps the task alive until its poll.
#[inline]
pub(super) unsafe fn act<S: Schedule>(task: NonNull<Header<S>>, woken: Woken) {
    let lane = || TaskRef(task).lane();
    match woken {
        // SAFETY: the caller's transition has set `SCHEDULED`, so this thread is the owner that may move the task and
        // read its lane.
        Woken::Schedule => unsafe { lane().schedule(task.cast()) },
        // SAFETY: the caller's transition has set `SCHEDULED` on a task with `KEPT`, so this thread may move the task
        // and run its lane.
        Woken::Resume => unsafe { lane().resume(task.cast()) },
        Woken::Nothing => {}
        // SAFETY: the caller's transition has given back the last reference.
        Woken::Free => unsafe { free(task) },
    }
}

/// Gives one reference back.
///
/// # Safety
///
/// The caller owns a reference and does not use it again.
#[inline]
pub(super) unsafe fn release<S: Schedule>(task: NonNull<Header<S>>) {
    // SAFETY: the caller owns a reference, which keeps the task alive up to this transition.
    if unsafe { task.as_ref() }.state.release() {
        // SAFETY: the transition has given back the last reference.
        unsafe { free(task) };
    }
}

/// # Safety
///
/// No thread holds a reference any more.
#[cold]
pub(super) unsafe fn free<S: Schedule>(task: NonNull<Header<S>>) {
    // SAFETY: the caller promises that no thread has a reference, so only the call below frees the task.
    let free = unsafe { task.as_ref() }.vtable.free;
    // SAFETY: the caller promises that no reference is left, and the function is the task's own.
    unsafe { free(task) };
}

/// # Safety
///
/// The task is complete and the caller is its handle; `into` is a place for its output.
pub(super) unsafe fn take<S: Schedule>(task: NonNull<Header<S>>, into: *mut ()) {
    // SAFETY: the handle's reference keeps the task alive.
    let take_output = unsafe { task.as_ref() }.vtable.take_output;
    // SAFETY: the caller promises that the task is complete, that it is the handle, and that `into` fits the output.
    unsafe { take_output(task, into) };
}

/// # Safety
///
/// The task is complete and the caller is its handle.
pub(super) unsafe fn discard<S: Schedule>(task: NonNull<Header<S>>) {
    // SAFETY: the handle's reference keeps the task alive.
    let drop_output = unsafe { task.as_ref() }.vtable.drop_output;
    // SAFETY: the caller promises that the task is complete, and that it is the handle.
    unsafe { drop_output(task) };
}

/// The runtime's view of a task. Its maker promises that the task is alive while the view is used; the operations that
/// need nothing else are safe.
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
    pub(crate) unsafe fn new(task: NonNull<Header<S>>) -> Self {
        Self(task)
    }

    /// # Safety
    ///
    /// `node` is of [`Kind::Task`](crate::kernel::queue::Kind::Task), of a task over `S`, and alive for as long as the view is
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

    /// From now on only this thread polls the task. The caller is inside a poll of it.
    pub(crate) fn pin_to(self, pin: u32) {
        self.header().node.pin_to(pin);
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
        // thread Acquire pairs with the Release of `set_lane`: if it sees the lane that a task has hopped to, it also
        // sees that the last poll under the old lane is over.
        let lane = self.header().lane.load(Ordering::Acquire);
        S::from_raw(NonNull::new(lane).expect("a task has a lane"))
    }

    /// # Safety
    ///
    /// The caller is the owner that may move the task.
    pub(crate) unsafe fn set_lane(self, lane: S) {
        // Ordering: as in `lane`.
        self.header().lane.store(lane.into_raw().as_ptr(), Ordering::Release);
    }

    /// The turn of the task: polls its future once, or drops it if `cancel` says so or the task has been aborted. True
    /// when the output, or the cancellation, has been stored.
    ///
    /// # Safety
    ///
    /// The caller holds the task's lane, at whose head the task is, and is on the thread that may run it.
    #[inline]
    pub(crate) unsafe fn run(self, cancel: bool) -> bool {
        let begun = self.header().state.begin();
        if cancel || begun == Begun::Cancel {
            // SAFETY: the caller promises that it holds the lane and is on the right thread, and the turn has begun.
            unsafe { (self.header().vtable.cancel)(self.0) };
            return true;
        }
        #[cfg(feature = "leaves")]
        // SAFETY: the caller promises that it holds the lane, at whose head the task is, so it is the owner that may move
        // the task.
        self.header().leaf.with_mut(|leaf| unsafe { (*leaf).age() });
        // SAFETY: the caller promises that it holds the lane and is on the right thread, and the turn has begun.
        budget::fresh(|| unsafe { (self.header().vtable.poll)(self.0) })
    }

    /// Makes the stored output known to the handle. The runtime's reference stays.
    ///
    /// # Safety
    ///
    /// The caller holds the task's lane and has stored the output.
    pub(crate) unsafe fn complete(self) {
        let header = self.header();
        header.records.with_mut(|records| {
            // SAFETY: the caller holds the lane, and the task is still `SCHEDULED`, so no other thread can poll or
            // claim it.
            let records = unsafe { &mut *records };
            if !records.is_empty() {
                // SAFETY: the caller holds the lane and the future is gone, so only this thread has a right to the
                // task.
                unsafe { records.dissolve() };
            }
        });
        match header.state.complete() {
            // SAFETY: the exchange found no handle, so the output belongs to the holder of the lane, which is the
            // caller.
            Completed::DropOutput => unsafe { (header.vtable.drop_output)(self.0) },
            Completed::Keep => {}
            Completed::WakeJoiner => {
                let waker = header.joiner.with_mut(|waker| {
                    // SAFETY: `JOINER` was set when `COMPLETE` was, and the handle never takes a waker back that it
                    // finds `COMPLETE` with: only this owner uses the waker.
                    unsafe { &mut *waker }.take()
                });
                // The waker must not stay: the task would keep its joiner for as long as a reference keeps the task. A
                // foreign waker may panic; the worker must survive that.
                if let Some(waker) = waker {
                    contain(|| waker.wake());
                }
            }
        }
    }

    #[inline]
    pub(crate) fn wants(self) -> Wants {
        self.header().state.wants()
    }

    #[inline]
    pub(crate) fn is_notified(self) -> bool {
        self.header().state.is_notified()
    }

    /// Takes the right to move the task, which waits, until [`unclaim`](Self::unclaim); returns whether it keeps its
    /// lane. `None` if it does not wait.
    pub(crate) fn claim(self) -> Option<bool> {
        self.header().state.claim()
    }

    /// Gives that right back. A task that has been told, or woken, runs.
    ///
    /// # Safety
    ///
    /// The caller has claimed the task, and keeps it alive up to this call.
    pub(crate) unsafe fn unclaim(self) {
        let woken = self.header().state.unclaim();
        // SAFETY: `woken` is the answer of this task's own transition, and the caller keeps the task alive.
        unsafe { act(self.0, woken) };
    }

    /// Adds a fresh record of a wait.
    ///
    /// # Safety
    ///
    /// The caller polls the task.
    #[inline]
    pub(crate) unsafe fn insert_record(self, record: NonNull<Record>) {
        self.header().records.with_mut(|records| {
            // SAFETY: only a poll of the task uses the list meanwhile; the caller is inside it, and `insert` runs no
            // foreign code.
            let records = unsafe { &mut *records };
            // SAFETY: the caller promises that it polls the task, and that the record is fresh.
            unsafe { records.insert(record) };
        });
    }

    /// Takes a record out, and frees it.
    ///
    /// # Safety
    ///
    /// The caller polls the task, and is the future that has the record; it is in the list.
    #[inline]
    pub(crate) unsafe fn remove_record(self, record: NonNull<Record>) {
        self.header().records.with_mut(|records| {
            // SAFETY: the caller is inside the poll of the task, which has the list to itself, and `remove` runs no
            // foreign code.
            let records = unsafe { &mut *records };
            // SAFETY: the caller promises that it polls the task and is the future of the record, which is in the list.
            unsafe { records.remove(record) };
        });
    }

    /// The records of its waits, the youngest first.
    ///
    /// # Safety
    ///
    /// No thread polls the task meanwhile, or while the returned records are used.
    pub(crate) unsafe fn records(self) -> Vec<NonNull<Record>> {
        self.header().records.with(|records| {
            // SAFETY: the caller promises that no thread polls the task, so none changes them.
            let records = unsafe { &*records };
            // SAFETY: only turns of the task change the list, and the caller promises that no thread polls the task
            // meanwhile.
            unsafe { records.iter() }.collect()
        })
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
        let woken = self.header().state.wake();
        // SAFETY: `woken` is the answer of this task's own transition, and the task is alive while the view is used.
        unsafe { act(self.0, woken) };
    }

    /// # Safety
    ///
    /// The caller holds the task's lane, at whose head the task is, and has polled it.
    pub(crate) unsafe fn end_keeping(self) -> Kept {
        self.header().state.end_keeping()
    }

    /// # Safety
    ///
    /// The caller holds the right to move the task since its poll.
    #[inline]
    pub(crate) unsafe fn end(self) -> Ended {
        self.header().state.end()
    }

    /// Marks the task for cancellation and schedules it if it waits.
    pub(crate) fn abort(self) {
        let woken = self.header().state.abort();
        // SAFETY: `woken` is the answer of this task's own transition, and the task is alive while the view is used.
        unsafe { act(self.0, woken) };
    }

    /// Gives back the reference of the runtime or of the handle: one of the two is the last, as a rule.
    ///
    /// # Safety
    ///
    /// The owner does not use the task again. If it is the runtime, the task is complete and unlinked.
    #[inline]
    pub(crate) unsafe fn release(self) {
        if self.header().state.release_late() {
            // SAFETY: the reference given back was the last one.
            unsafe { free(self.0) };
        }
    }
}
