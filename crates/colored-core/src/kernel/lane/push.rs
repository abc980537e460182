//! How work comes to a lane.
//!
//! A node is pushed: that of a task that is woken, or of a closure ([`post`]). If the lane was idle, it is dispatched to a thread.
//! A closure that finds the lane idle may also run at once: the lane is taken by its own node ([`try_take`]), for an inline
//! call, and as a lane of a set.

use crate::hooks::{self, Act, InlineCall};
use crate::kernel::chain::{Kind, Node, Pushed, Tail};
use crate::kernel::lane::base::{AfterTurn, Dispatch, Held, Lane, LanePtr, Owner, ReadyLane};
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::lane::turn::{Table, TableNode};
use crate::kernel::memory;
use crate::kernel::task::{self, Schedule, TaskPanic, TaskRef, contain};
use crate::sync::{Arc, Ordering, UnsafeCell, spin_loop};
use std::alloc::Layout;
use std::any::Any;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::task::RawWakerVTable;

impl LanePtr {
    /// Adds a node and sees to it that it runs.
    ///
    /// # Safety
    ///
    /// As for [`Chain::push`](crate::kernel::chain::Chain::push), and the node owns a reference to this lane or is
    /// [`Kind::Uncounted`].
    #[inline(always)]
    pub(crate) unsafe fn push(self, node: NonNull<Node>) {
        // SAFETY: the caller promises that the node is in no chain, stays until it has run, and owns a reference or
        // needs none.
        unsafe { self.push_with(node, hooks::pushed, ReadyLane::dispatch_recorded) };
    }

    /// As [`push`](Self::push), for a caller that keeps the scheduler alive: so a thread that is no worker need not
    /// retain it, by a count that all threads share.
    ///
    /// # Safety
    ///
    /// As for `push`, and `port` is the lane's.
    #[inline(always)]
    pub(crate) unsafe fn push_in(self, node: NonNull<Node>, port: &impl Dispatch) {
        let dispatch = |ready: ReadyLane, pin| {
            if let Err(ready) = port.accept(ready, pin, Owner::Worker) {
                accept_from_outside(port, ready, pin);
            }
        };
        // SAFETY: the caller promises that the node is in no chain, stays until it has run, and owns a reference or
        // needs none.
        unsafe { self.push_with(node, hooks::pushed, dispatch) };
    }

    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline(always)]
    unsafe fn push_with(
        self,
        node: NonNull<Node>,
        tell: impl FnOnce(&Lane, &Node),
        dispatch: impl FnOnce(ReadyLane, u32),
    ) {
        // SAFETY: the node's reference, or the caller's, keeps the lane alive.
        let lane = unsafe { self.get() };
        let act = Act::push(lane);
        // SAFETY: the node is in no chain yet, so this thread may read it.
        let fresh = unsafe { node.as_ref() };
        let pin = fresh.pin();
        if fresh.urgent {
            hooks::raise(lane);
        }
        tell(lane, fresh);
        // SAFETY: the caller promises that the node is in no chain, and stays until it has run.
        if unsafe { lane.push_node(node) } {
            hooks::queued(lane);
            dispatch(ReadyLane(self), pin);
        }
        act.end();
    }
}

impl Lane {
    /// Adds a node. True if the caller has the right to run the lane now, which was idle. Otherwise the lane and the node
    /// may be gone.
    ///
    /// # Safety
    ///
    /// As for [`Chain::push`](crate::kernel::chain::Chain::push).
    #[inline(always)]
    pub(in crate::kernel::lane) unsafe fn push_node(&self, node: NonNull<Node>) -> bool {
        // SAFETY: the caller promises the same.
        match unsafe { self.chain.push(node) } {
            Pushed::Taken => true,
            Pushed::Behind => false,
            // The node keeps the lane: it does not have its turn before they are counted.
            Pushed::BehindReaders(readers) => self.readers.add(readers),
        }
    }
}

/// A function of its own, out of the workers' hot path.
#[inline(never)]
fn accept_from_outside(port: &(impl Dispatch + ?Sized), lane: ReadyLane, pin: u32) {
    let taken = port.accept(lane, pin, Owner::Caller);
    debug_assert!(taken.is_ok(), "the caller keeps the scheduler");
}

impl ReadyLane {
    /// Hands the lane to a thread that may run tasks that are pinned to `pin`. That thread may free the lane before
    /// this returns, so no argument of this, or of what it calls, is a reference into the lane.
    #[inline(always)]
    pub(super) fn dispatch(self, pin: u32) {
        hooks::queued(self.lane());
        self.dispatch_recorded(pin);
    }

    /// As `dispatch`, where it has been recorded that the lane is queued.
    #[inline(always)]
    fn dispatch_recorded(self, pin: u32) {
        // SAFETY: the chain has a node, which keeps the lane, up to the hand-over of the right to run it.
        let lane = unsafe { self.0.get() };
        // The reference is to the scheduler, not into the lane: a worker that takes the lane keeps its scheduler, and
        // otherwise the right to run comes back.
        let port: &dyn Dispatch = &*lane.port;
        if let Err(ready) = port.accept(self, pin, Owner::Worker) {
            let port = Arc::clone(&ready.lane().port);
            accept_from_outside(&*port, ready, pin);
        }
    }
}

impl Schedule for LanePtr {
    type Target = Lane;

    #[inline]
    fn into_raw(self) -> NonNull<Lane> {
        self.0
    }

    #[inline]
    fn from_raw(raw: NonNull<Lane>) -> Self {
        Self(raw)
    }

    #[inline]
    fn waker_table() -> &'static RawWakerVTable {
        static TABLE: RawWakerVTable = task::waker_table::<LanePtr>();
        &TABLE
    }

    #[inline]
    fn mark_yielded(task: TaskRef<Self>) -> bool {
        current::mark_yielded(task)
    }

    #[cold]
    fn panicked(task: TaskRef<Self>, payload: &(dyn Any + Send)) {
        if !task.has_handle() {
            task::note_unheard();
        }
        // A blocking call is on no lane.
        if current::task() != Some(task) {
            return;
        }
        Held::with_current(|lane| {
            if let Some(lane) = lane {
                lane.port.panicked(&TaskPanic::new(task, lane.color(), payload));
            }
        });
    }

    #[inline]
    unsafe fn schedule(self, node: NonNull<Node>) {
        // SAFETY: the node is a task's, which is not complete, and so alive.
        let task = unsafe { TaskRef::from_node(node) };
        let tell = |lane: &Lane, node: &Node| hooks::task_woken(lane, node, task);
        // SAFETY: the caller may move the task, so the node is in no chain; a task that is not complete owns a
        // reference to its lane.
        unsafe { self.push_with(node, tell, ReadyLane::dispatch_recorded) };
    }

    unsafe fn resume(self, node: NonNull<Node>) {
        // SAFETY: the task has kept its lane, so the node is at the head; the caller has the right to run the lane, so
        // the node stays.
        let node = unsafe { node.as_ref() };
        // SAFETY: the caller has the right to run the lane, so the lane is alive.
        let lane = unsafe { self.get() };
        let act = Act::push(lane);
        hooks::pushed(lane, node);
        ReadyLane(self).dispatch(node.pin());
        act.end();
    }
}

#[repr(C)]
struct Callback<F> {
    head: TableNode,
    closure: UnsafeCell<Option<F>>,
}

/// Runs `f` under the lane's color when its turn comes. If the scheduler shuts down first, `f` is
/// dropped there instead.
pub(crate) fn post<F: FnOnce() + Send + 'static>(lane: &LaneRef, f: F) {
    post_owning(lane.for_node(), f);
}

/// As [`post`], for a caller that waits for it: lends urgency.
pub(crate) fn post_awaited<F: FnOnce() + Send + 'static>(lane: &LaneRef, f: F) {
    post_urged(lane, hooks::is_lent_urgency(lane), f);
}

/// As [`post`], urgent if `urgent` says so and there are classes in the lane's scheduler.
pub(crate) fn post_urged<F: FnOnce() + Send + 'static>(lane: &LaneRef, urgent: bool, f: F) {
    push(lane.for_node().into_counted(), Node::new(Kind::Callback, 0).urged(urgent), f);
}

/// As [`post`]; the callback takes the reference over.
pub(crate) fn post_owning<F: FnOnce() + Send + 'static>(lane: LaneRef, f: F) {
    push(lane.into_counted(), Node::new(Kind::Callback, 0), f);
}

/// As [`post`], on the thread that `pin` names. If the scheduler shuts down first, `f` may be dropped on another one:
/// that thread may have gone.
pub(crate) fn post_pinned<F: FnOnce() + Send + 'static>(lane: &LaneRef, pin: u32, f: F) {
    push(lane.for_node().into_counted(), Node::new(Kind::Callback, pin), f);
}

/// As [`post`], without a reference to the lane.
///
/// # Safety
///
/// Some owner's reference to the lane is given back only after something has run there that is scheduled after this.
#[inline]
pub(crate) unsafe fn post_uncounted<F: FnOnce() + Send + 'static>(lane: &LaneRef, f: F) {
    push(lane.ptr(), Node::new(Kind::Uncounted, 0), f);
}

/// Unless the node is [`Kind::Uncounted`], the caller gives it a reference.
#[inline]
fn push<F: FnOnce() + Send + 'static>(lane: LanePtr, node: Node, f: F) {
    let layout = Layout::new::<Callback<F>>();
    let (place, table): (_, &'static Table) = match memory::allocate_short_lived(layout) {
        Some(place) => {
            (place, const { &Table { run: run::<F>, free: free_short_lived, reader: None } })
        }
        None => (
            memory::allocate(layout),
            const { &Table { run: run::<F>, free: free_block::<F>, reader: None } },
        ),
    };
    let place = place.cast::<Callback<F>>();
    let callback = Callback { head: TableNode { node, table }, closure: UnsafeCell::new(Some(f)) };
    // SAFETY: the place is new, and of the callback's layout.
    unsafe { place.write(callback) };
    let node = place.cast::<Node>();
    // SAFETY: the node is in no chain, the lane frees it after its turn, and it owns the caller's reference or needs
    // none.
    unsafe { lane.push(node) };
}

/// Runs the closure, or drops it if `cancel`.
unsafe fn run<F: FnOnce()>(node: NonNull<Node>, _: &Hold, cancel: bool) -> AfterTurn {
    // SAFETY: `push` put this function into the header of a `Callback<F>`, which `node` begins and the lane still
    // keeps.
    let callback = unsafe { node.cast::<Callback<F>>().as_ref() };
    let closure = callback.closure.with_mut(|closure| {
        // SAFETY: only the holder of the lane uses the closure, and the caller is the holder.
        unsafe { (*closure).take() }
    });
    if let Some(closure) = closure {
        // The panic hook has reported a panic; no caller waits for the result.
        contain(|| if cancel { drop(closure) } else { closure() });
    }
    AfterTurn::Unlink
}

unsafe fn free_block<F>(node: NonNull<Node>) {
    // The closure has been taken out; the rest needs no destructor.
    // SAFETY: `push` took the block from `allocate` with this layout, and the caller's node is out of its chain.
    unsafe { memory::release(node.cast(), Layout::new::<Callback<F>>()) };
}

unsafe fn free_short_lived(node: NonNull<Node>) {
    // SAFETY: `push` took the block from `allocate_short_lived`, and the caller's node is out of its chain.
    unsafe { memory::release_short_lived(node.cast()) };
}

/// Runs `f` under the lane's color, now and on this thread, if the lane is idle; gives it back if it is not. Nodes that
/// are scheduled on the lane meanwhile run afterwards.
///
/// Costs two compare-exchanges, like an uncontended lock.
///
/// # Panics
///
/// If `f` does; the lane goes on.
pub(crate) fn run_inline<F: FnOnce() -> R, R>(lane: &LaneRef, f: F) -> Result<R, F> {
    let act = Act::take(lane);
    if !try_take(lane) {
        return Err(f);
    }
    act.note();
    // SAFETY: `try_take` has just taken the lane, by its own node.
    let result = unsafe { run_taken(lane, f) };
    act.leave();
    Ok(result)
}

/// As [`run_inline`], also if the lane becomes idle [within a moment](try_take_soon). `run` gets `given`, which comes
/// back if the lane does not become idle.
///
/// # Panics
///
/// If `run` does; the lane goes on.
#[inline]
pub(crate) fn run_inline_soon<G, F, R>(lane: &LaneRef, given: G, run: F) -> Result<R, G>
where
    F: FnOnce(G) -> R,
{
    let act = Act::take(lane);
    if !try_take(lane) && !try_take_soon(lane) {
        return Err(given);
    }
    act.note();
    // SAFETY: `try_take` or `try_take_soon` has just taken the lane, by its own node.
    let result = unsafe { run_taken(lane, || run(given)) };
    act.leave();
    Ok(result)
}

/// # Safety
///
/// This thread has taken the lane, by its own node.
#[inline]
unsafe fn run_taken<F: FnOnce() -> R, R>(lane: &LaneRef, f: F) -> R {
    let lanes = || iter::once(lane.ptr());
    // SAFETY: the caller promises that this thread has taken the lane, which `lane` keeps alive.
    let call = unsafe { InlineCall::begin(lanes()) };
    // SAFETY: the caller promises that this thread has taken the lane, which `lane` keeps alive.
    let hold = unsafe { Hold::begin(lane.ptr()) };
    let result = catch_unwind(AssertUnwindSafe(f));
    // SAFETY: as above.
    unsafe { call.end(lanes()) };
    // SAFETY: the lane's own node is at its head, no task of it has been polled, and `lane` outlives this.
    unsafe { hold.end_inline() };
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

impl LaneRef {
    /// Whether the calling thread holds this lane, and an access is part of the present turn: nothing is scheduled
    /// behind it. In a section an access always is part of the turn, for all that is scheduled waits until the section
    /// ends.
    ///
    /// Otherwise the access is queued, as it is for a caller of any other color (G2).
    #[inline]
    pub(crate) fn is_free_here(&self) -> bool {
        let is_last = || self.chain.has_head_only();
        self.is_current() && (is_last() || current::is_in_a_section())
    }
}

/// How often a thread looks again at a lane that an inline call or readers have, some 5 µs in all: about the cost of
/// queueing, including the others that come meanwhile. Of 16, 32, 64 and 128 the last was the best for reads of a
/// microsecond with a write among 20, and none was better for transfers between two accounts.
#[cfg(not(colored_loom))]
const LOOKS: u32 = 128;
#[cfg(colored_loom)]
const LOOKS: u32 = 1;

/// How often a reader looks whether such a thread has gone, and then how often at the lane itself. Less often than
/// `LOOKS`: if two threads each have the lane that the other wants, one gives way before both queue.
#[cfg(not(colored_loom))]
pub(crate) const READERS_LOOKS: u32 = LOOKS / 2;
#[cfg(colored_loom)]
pub(crate) const READERS_LOOKS: u32 = 1;

/// True if the lane was idle: then it is the caller's, with its own node at the head.
#[inline]
pub(crate) fn try_take(lane: &Lane) -> bool {
    // SAFETY: the node lives in the lane, and is reset whenever it leaves the chain.
    unsafe { lane.chain.try_take(NonNull::from(&lane.inline)) }
}

/// As [`try_take`], again and again for a moment, while only an inline call, another set's closure, or readers have
/// the lane: these are soon over as a rule. A thread that queues instead forces all to queue that come
/// before the lane has been run empty. If it wants other lanes too, it keeps these lanes until a worker comes to this
/// one.
///
/// No thread spins at a lane that others are queued on, so few of the threads that contend for it spin.
#[cold]
pub(crate) fn try_take_soon(lane: &Lane) -> bool {
    let mut wish = None;
    for _ in 0..LOOKS {
        match lane.chain.tail() {
            Tail::Idle if try_take(lane) => return true,
            Tail::Idle => {}
            Tail::Readers(_) => {
                wish.get_or_insert_with(|| Wish::make(lane));
            }
            Tail::Node(last) if ptr::eq(last, &raw const lane.inline) => {}
            Tail::Node(_) => return false,
        }
        spin_loop();
    }
    false
}

/// Lets a thread that looks at the lane [again and again](try_take_soon) go first, if that is soon.
#[inline]
pub(crate) fn give_way(lane: &Lane) {
    for _ in 0..READERS_LOOKS {
        // Ordering: a hint.
        if !lane.wished.load(Ordering::Relaxed) {
            return;
        }
        spin_loop();
    }
}

/// Asks readers to stay out for a moment, until it is dropped: where a reader always comes before the last one goes, no
/// writer would ever find the lane idle. If another wish ends, this one ends too.
struct Wish<'a>(&'a Lane);

impl<'a> Wish<'a> {
    fn make(lane: &'a Lane) -> Self {
        // Ordering: a hint.
        lane.wished.store(true, Ordering::Relaxed);
        Self(lane)
    }
}

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        // Ordering: a hint.
        self.0.wished.store(false, Ordering::Relaxed);
    }
}
