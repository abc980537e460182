//! A lane: the live queue of one color, and the right to run it.
//!
//! # Kinds of reference
//!
//! | type | is | counted |
//! |---|---|---|
//! | [`LaneRef`] | an owner: a cell, a cache, the lookup that is about to push | yes |
//! | [`LanePtr`] | a task's pointer to its lane; the task counts as an owner until it completes | no |
//! | [`ReadyLane`] | **the right to run the lane**, a value that cannot be copied | no |
//!
//! Everything in a lane's chain owns one reference, or relies on a cell's, which goes with
//! something that is scheduled later: so a lane that is held or queued is alive. A task's reference
//! is given back by the lane's holder only, and after it has given the right away: while it runs a
//! slice, the holder counts in a thread-local ([`current`]) and settles once.
//!
//! # Exclusion (G1)
//!
//! A `ReadyLane` is made in two places: by the push, or the claim, that found the chain idle; and
//! by the wake of a task that has kept the lane. It is consumed by [`ReadyLane::run`], which gives
//! it back, or ends with the chain idle, or leaves it to the task at the head: that one keeps the
//! lane while it waits (`lane/keep.rs`), and its state says to whom the right goes. So there is at
//! most one for a lane at any time, and only its owner polls. A lane in a deque is a `ReadyLane` in
//! a deque: what a thief takes is idle and whole.
//!
//! # Order (G2)
//!
//! The chain is first-in first-out in the order of the swaps on its tail, and it belongs to the
//! lane, not to a worker: stealing the lane moves it unchanged.

pub(crate) mod callback;
pub(crate) mod claim;
pub(crate) mod current;
mod desk;
pub(crate) mod gate;
pub(crate) mod inside;
mod keep;
pub(crate) mod locals;
mod order;
mod release;
mod slice;
mod ticket;
pub(crate) mod visit;
mod waiting;
pub(crate) mod want;

pub(crate) use self::keep::Keeper;
pub(crate) use self::order::Order;
pub(crate) use self::slice::{Runner, Slice};
pub(crate) use self::ticket::{Counted, FlatQueues, Ticket};

pub use self::desk::Priority;

use self::desk::Desk;
use crate::color::Color;
use crate::queue::{Chain, Kind, Node, Pushed};
use crate::sync::{Arc, AtomicBool, AtomicU16, AtomicU32, AtomicUsize, Ordering, UnsafeCell};
use crate::task::{LiveList, Schedule, TaskRef};
use std::ptr::{self, NonNull};

/// What a lane needs of the scheduler above it.
pub(crate) trait Dispatch: Send + Sync {
    /// Takes a lane that has just become runnable, if this thread is a worker of the scheduler.
    /// `pin` is the thread that must run it, 0 for any worker.
    ///
    /// Nothing that the lane keeps alive may be touched after the lane is published.
    fn dispatch_here(&self, lane: ReadyLane, pin: u32) -> Result<(), ReadyLane>;

    /// As `dispatch_here` from any other thread; the caller keeps `self` alive meanwhile.
    fn dispatch(&self, lane: ReadyLane, pin: u32);

    /// Gives back `refs` references which were the last when the caller looked. Frees the lane if
    /// they still are.
    fn retire(&self, lane: LanePtr, refs: usize);

    /// Remembers a lane that has waiting tasks and is in no table; false if the scheduler is
    /// closing and the lane must be cancelled instead.
    fn track(&self, lane: LanePtr) -> Result<u64, Closing>;

    /// Makes a lane findable by its color. The caller holds it.
    fn publish(&self, lane: LanePtr);

    /// Remembers a task that is about to wait and keeps its lane, so that a shutdown can abort it:
    /// what is pushed on such a lane has no turn. Not if the scheduler is closing.
    fn enter_keeper(&self, task: TaskRef<LanePtr>) -> Result<Keeper, Closing>;

    /// Forgets the task again, before it leaves the lane.
    fn remove_keeper(&self, keeper: Keeper);

    /// Whether everything is to be cancelled.
    fn is_closing(&self) -> bool;

    /// An unused lane, made into one of that color, if this thread has one at hand.
    fn spare(&self, color: Color) -> Option<Box<Lane>>;

    /// What those who want several lanes at once take turns by.
    fn order(&self) -> &Order;

    /// Something that any worker may run was scheduled on a lane that is held or queued. Only told
    /// while there are [`FlatQueues`].
    fn announce(&self, _lane: &LaneRef) {}

    /// A lane that waits in a queue has become more urgent than that.
    fn rise(&self, _lane: &LaneRef, _to: Priority) {}

    /// Whether waits are recorded.
    fn is_watched(&self) -> bool;
}

/// The scheduler is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closing;

/// Not tracked.
pub(crate) const UNTRACKED: u64 = u64::MAX;

/// One color's lane.
#[repr(C)]
pub(crate) struct Lane {
    chain: Chain,
    refs: AtomicUsize,
    /// Holder only.
    inner: UnsafeCell<Inner>,
    port: Arc<dyn Dispatch>,
    /// At the head while a call runs inline, or while readers are inside.
    inline: Node,
    // The rest leaves no gap.
    /// The color, in two parts.
    number: u64,
    unique: bool,
    /// Whether waits were recorded when it was made: then those of all its tasks are.
    watched: bool,
    /// Whether the table has it. Set once, by the holder.
    published: AtomicBool,
    /// The worker on which it last ran, from 1; 0 if nobody asked for it. Holder only.
    home: AtomicU16,
    /// How many readers are inside ([`gate`]).
    readers: AtomicU32,
    desk: Desk,
}

struct Inner {
    live: LiveList<LanePtr>,
    /// The head has run, but could not be unlinked yet.
    stalled: Option<slice::After>,
    /// The task at the head has waited with the lane, and the scheduler knows it.
    keeper: Option<Keeper>,
    track: u64,
    /// The color's own values, if it has any.
    locals: Option<Box<locals::Locals>>,
}

// SAFETY: `inner` is touched by the holder only, and the right to hold moves between threads with
// the chain's release and acquire; the tasks behind it are made to move (`Cell::allocate`).
unsafe impl Send for Lane {}
// SAFETY: as for `Send`.
unsafe impl Sync for Lane {}

/// Whether the table knows a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tenure {
    Published,
    /// Not until somebody asks for its color.
    Unpublished,
}

impl Lane {
    /// A lane with one reference.
    pub(crate) fn new(color: Color, port: Arc<dyn Dispatch>, tenure: Tenure) -> Self {
        let watched = port.is_watched();
        Self {
            chain: Chain::new(),
            refs: AtomicUsize::new(1),
            inner: UnsafeCell::new(Inner {
                live: LiveList::new(),
                stalled: None,
                keeper: None,
                track: UNTRACKED,
                locals: None,
            }),
            port,
            inline: Node::new(Kind::Inline, 0),
            readers: AtomicU32::new(0),
            number: color.number(),
            unique: color.is_unique(),
            watched,
            published: AtomicBool::new(tenure != Tenure::Unpublished),
            home: AtomicU16::new(0),
            desk: Desk::new(),
        }
    }

    /// Makes an unreferenced lane that was in no table, or has left it, into a fresh one.
    pub(crate) fn renew(&mut self, color: Color) {
        (self.number, self.unique) = (color.number(), color.is_unique());
        self.watched = self.port.is_watched();
        // Ordering: exclusive access.
        self.refs.store(1, Ordering::Relaxed);
        self.published.store(false, Ordering::Relaxed);
        self.home.store(0, Ordering::Relaxed);
        self.inner.with_mut(|inner| {
            // SAFETY: exclusive access.
            let inner = unsafe { &mut *inner };
            debug_assert!(inner.live.is_empty() && inner.stalled.is_none());
            debug_assert!(inner.keeper.is_none() && inner.locals.is_none());
            debug_assert!(inner.track == UNTRACKED);
        });
    }

    pub(crate) fn color(&self) -> Color {
        Color::from_parts(self.number, self.unique)
    }

    /// Where the lane is in an order of all lanes, by which several are taken.
    fn rank(&self) -> (u64, bool, usize) {
        (self.number, self.unique, ptr::from_ref(self).addr())
    }

    /// A lane of the same scheduler under a fresh color.
    fn spare(&self) -> LaneRef {
        let color = Color::unique();
        let lane = self.port.spare(color).unwrap_or_else(|| {
            Box::new(Self::new(color, Arc::clone(&self.port), Tenure::Unpublished))
        });
        // SAFETY: a fresh lane has one reference.
        unsafe { LaneRef::from_counted(LanePtr::from_box(lane)) }
    }

    /// Whether this is a lane of that scheduler.
    pub(crate) fn is_of<D: Dispatch>(&self, scheduler: &D) -> bool {
        ptr::addr_eq(&raw const *self.port, scheduler)
    }

    /// Whether tasks of this lane may have begun to wait before waits were recorded, and nobody who
    /// looked for such lanes may have found it.
    fn is_to_be_roused(&self) -> bool {
        !self.watched && self.port.is_watched()
    }

    pub(crate) fn is_published(&self) -> bool {
        // Ordering: set by the holder; others learn it through the table's lock, and the last owner
        // through the count (`LanePtr::release`).
        self.published.load(Ordering::Relaxed)
    }

    /// The worker that `set_home` has named last.
    pub(crate) fn home(&self) -> Option<usize> {
        // Ordering: the holder reads what a holder wrote, ordered by the chain; a hint for others.
        usize::from(self.home.load(Ordering::Relaxed)).checked_sub(1)
    }

    /// Remembers a worker. Holder only.
    pub(crate) fn set_home(&self, worker: usize) {
        let home = u16::try_from(worker + 1).expect("fewer than 2¹⁶ workers");
        // Ordering: see `home`.
        self.home.store(home, Ordering::Relaxed);
    }

    /// Adds a reference to one that exists, or under the lock of the table that has the lane.
    #[inline]
    pub(crate) fn retain(&self, refs: usize) {
        // Ordering: as for any reference count.
        self.refs.fetch_add(refs, Ordering::Relaxed);
    }

    /// Adds a reference unless there is none left: for a registry whose lock keeps the memory, but
    /// not the lane, alive.
    pub(crate) fn try_retain(&self) -> bool {
        // Ordering: as for any reference count.
        self.refs
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |refs| (refs > 0).then(|| refs + 1))
            .is_ok()
    }

    /// Marks the lane as findable. Holder only; false if it was.
    pub(crate) fn set_published(&self) -> bool {
        // Ordering: see `is_published`.
        !self.published.swap(true, Ordering::Relaxed)
    }

    /// Takes `refs` references back under the table's lock; true if none is left.
    pub(crate) fn release_last(&self, refs: usize) -> bool {
        // Ordering: Release orders this owner's use before the free, Acquire the others'.
        self.refs.fetch_sub(refs, Ordering::AcqRel) == refs
    }

    /// Where the registry of unpublished lanes has it; the caller takes it out there.
    ///
    /// # Safety
    ///
    /// The lane is unreferenced.
    pub(crate) unsafe fn untrack(&self) -> u64 {
        // SAFETY: nobody holds an unreferenced lane.
        unsafe { self.with_inner(|inner| std::mem::replace(&mut inner.track, UNTRACKED)) }
    }
}

/// A pointer to a lane that something else keeps alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LanePtr(NonNull<Lane>);

// SAFETY: a lane is `Send` and `Sync`, and the pointer says nothing about its life.
unsafe impl Send for LanePtr {}
// SAFETY: as for `Send`.
unsafe impl Sync for LanePtr {}

impl LanePtr {
    /// A pointer for a task that is never put on a lane.
    pub(crate) fn nowhere() -> Self {
        Self(NonNull::dangling())
    }

    pub(crate) fn from_box(lane: Box<Lane>) -> Self {
        Self(NonNull::from(Box::leak(lane)))
    }

    /// # Safety
    ///
    /// Made by [`LanePtr::from_box`], and nobody uses the lane any more.
    pub(crate) unsafe fn into_box(self) -> Box<Lane> {
        // SAFETY: by contract.
        unsafe { Box::from_raw(self.0.as_ptr()) }
    }

    /// # Safety
    ///
    /// The lane is alive while the reference is used.
    #[inline]
    pub(crate) unsafe fn get<'a>(self) -> &'a Lane {
        // SAFETY: by contract.
        unsafe { self.0.as_ref() }
    }

    /// Gives `refs` references back.
    ///
    /// # Safety
    ///
    /// The caller owns them and does not use the lane afterwards.
    pub(crate) unsafe fn release(self, refs: usize) {
        // SAFETY: the caller's references.
        let lane = unsafe { self.get() };
        // Ordering: Acquire pairs with the Release below: whoever is the last must see what all
        // holders did, above all whether one has published the lane.
        let mut before = lane.refs.load(Ordering::Acquire);
        while before > refs {
            // Ordering: Release orders this owner's use before the free. Never to zero: that
            // happens under the table's lock, so that a lookup cannot meet a dead lane.
            match lane.refs.compare_exchange_weak(
                before,
                before - refs,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
        let port = Arc::clone(&lane.port);
        port.retire(self, refs);
    }

    /// Adds a node and sees that it will run.
    ///
    /// # Safety
    ///
    /// As for [`Chain::push`], and the node owns a reference to this lane or is
    /// [`Kind::Uncounted`].
    #[inline(always)]
    pub(crate) unsafe fn push(self, node: NonNull<Node>) {
        // SAFETY: by contract.
        unsafe { self.push_under(node, ()) };
    }

    /// As [`push`](Self::push). `guard` is dropped when the node has its place, and before anybody is
    /// told, which may run foreign code.
    ///
    /// # Safety
    ///
    /// As for `push`.
    #[inline(always)]
    pub(crate) unsafe fn push_under<G>(self, node: NonNull<Node>, guard: G) {
        // SAFETY: the node's reference, or the caller's.
        let lane = unsafe { self.get() };
        // SAFETY: in no chain yet, so it is ours to read.
        let Node { pin, urgent, .. } = *unsafe { node.as_ref() };
        if urgent | ticket::are_announced() {
            // SAFETY: by contract.
            return unsafe { self.push_unusual(node, pin, urgent, guard) };
        }
        // SAFETY: by contract.
        let pushed = unsafe { lane.chain.push(node) };
        drop(guard);
        if let Pushed::Claimed = pushed {
            lane.dispatch(ReadyLane(self), pin);
        }
    }
}

/// Kept out of the way of the workers.
#[inline(never)]
fn dispatch_from_outside(port: &Arc<dyn Dispatch>, lane: ReadyLane, pin: u32) {
    Arc::clone(port).dispatch(lane, pin);
}

impl Lane {
    /// Hands this lane to a thread that may run what is pinned to `pin`.
    #[inline(always)]
    fn dispatch(&self, ready: ReadyLane, pin: u32) {
        // The right to run keeps the lane alive up to the hand-over.
        if let Err(ready) = self.port.dispatch_here(ready, pin) {
            dispatch_from_outside(&self.port, ready, pin);
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
    unsafe fn schedule(self, node: NonNull<Node>) {
        // SAFETY: a task that is not complete owns a reference to its lane.
        unsafe { self.push(node) };
    }

    unsafe fn resume(self, node: NonNull<Node>) {
        // SAFETY: a task that is not complete owns a reference to its lane.
        let lane = unsafe { self.get() };
        // SAFETY: at the head of the chain of a lane that is the caller's to run.
        let pin = unsafe { node.as_ref() }.pin;
        lane.dispatch(ReadyLane(self), pin);
    }
}

/// An owner of a lane.
pub(crate) struct LaneRef(LanePtr);

impl LaneRef {
    /// # Safety
    ///
    /// The caller gives one reference.
    pub(crate) unsafe fn from_counted(lane: LanePtr) -> Self {
        Self(lane)
    }

    /// A reference to the lane that this thread holds, if it holds one. Counted as by
    /// [`LaneRef::for_node`], and for the same use.
    fn of_holder() -> Option<Self> {
        let lane = current::lane()?;
        current::retain(lane);
        Some(Self(lane))
    }

    /// A reference for a node that is pushed on this lane next. The holder counts it only when its
    /// slice ends: nobody else can run the node, and so give the reference back, before.
    #[inline]
    pub(crate) fn for_node(&self) -> Self {
        if !current::retain(self.0) {
            self.retain(1);
        }
        Self(self.0)
    }

    /// Gives the reference to something else.
    #[inline]
    pub(crate) fn into_counted(self) -> LanePtr {
        let lane = self.0;
        std::mem::forget(self);
        lane
    }

    #[inline]
    pub(crate) fn ptr(&self) -> LanePtr {
        self.0
    }

    /// Whether the calling thread holds this lane right now.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        current::is(self.0)
    }
}

impl std::ops::Deref for LaneRef {
    type Target = Lane;

    #[inline]
    fn deref(&self) -> &Lane {
        // SAFETY: this reference keeps it alive.
        unsafe { self.0.get() }
    }
}

impl Clone for LaneRef {
    /// Counts at once, also for the holder: a clone can leave the thread, and be given back on
    /// another one before this slice ends.
    #[inline]
    fn clone(&self) -> Self {
        self.retain(1);
        Self(self.0)
    }
}

impl Drop for LaneRef {
    #[inline]
    fn drop(&mut self) {
        if !current::give_back(self.0) {
            // SAFETY: this reference, not used again.
            unsafe { self.0.release(1) };
        }
    }
}

/// The color that this thread runs under, findable from now on.
pub(crate) fn current_color() -> Option<Color> {
    let lane = current::lane()?;
    // SAFETY: this thread holds it.
    let lane_ref = unsafe { lane.get() };
    if lane_ref.set_published() {
        lane_ref.port.publish(lane);
        if lane_ref.is_to_be_roused() {
            // It may have come too late to be found when that began.
            current::retain(lane);
            // SAFETY: just counted.
            callback::rouse(&unsafe { LaneRef::from_counted(lane) });
        }
    }
    Some(lane_ref.color())
}

/// The right to run a lane. Whoever has it must run the lane or hand it on.
#[must_use]
#[derive(Debug)]
pub(crate) struct ReadyLane(LanePtr);

impl ReadyLane {
    /// The lane. Alive: it is runnable, so its chain has a node, which keeps it.
    pub(crate) fn lane(&self) -> &Lane {
        // SAFETY: see above.
        unsafe { self.0.get() }
    }

    /// For a slot of one machine word.
    pub(crate) fn into_raw(self) -> *mut Lane {
        self.0.0.as_ptr()
    }

    /// # Safety
    ///
    /// From [`ReadyLane::into_raw`], once.
    pub(crate) unsafe fn from_raw(lane: NonNull<Lane>) -> Self {
        Self(LanePtr(lane))
    }
}
