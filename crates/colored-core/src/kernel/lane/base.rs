//! A lane: its fields, the pointers to it, and its port to the scheduler above.
//!
//! All other files of the folder stand on this one.
//!
//! # The order of behaviors
//!
//! Behaviors that want several lanes are queued on them in one order ([`as_one_step`]).
//!
//! A behavior ([`behavior`](crate::kernel::lane::behavior)) puts one node on each of its lanes, and waits until all of them are
//! at the head. If two behaviors could be queued on two common lanes in different orders, each would wait for the other
//! for ever. So the pushes of one behavior are one step for all others that have a lane in common: the behavior takes
//! the locks of all its lanes first, in the order of the locks' addresses, and gives them back when the last node is in
//! its chain. No thread waits for a lane under a lock, and no foreign code runs there.
//!
//! This is two-phase locking, of the enqueueing only, as in the queues of Behaviour-Oriented Concurrency (Cheeseman and
//! others, OOPSLA 2023). Hence one order holds for all lanes. Say that one behavior comes before another if it does so
//! on some lane. Then it gave that lane's lock back before the other took it, and so before the other had all of its
//! locks. *The moment at which a behavior has all its locks* grows along every such pair, and a cycle would have to
//! lead back to an earlier one.
//!
//! A node that wants only one lane waits for no other lane, and so is part of no cycle: tasks, posts, calls, and
//! behaviors over one lane take no lock. A thread that takes idle lanes at once, or gives up, takes none either: it
//! never waits.

use crate::hooks::slots::{LaneSlot, Listen, Priority, PriorityWord, SchedulerSlot};
use crate::kernel::chain::{Chain, Kind, Node, ReaderCount};
use crate::kernel::color::{Color, ColorKind};
use crate::kernel::lane::Count;
use crate::kernel::task::{Holds, LiveList, ParkedSections, SectionKey, TaskPanic};
use crate::sync::{Arc, AtomicBool, AtomicU16, Mutex, Ordering, UnsafeCell};
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// The lane of one color. The fields that every turn uses come first: one cache line and one word, without padding.
#[repr(C)]
pub(crate) struct Lane {
    pub(crate) chain: Chain,
    pub(crate) refs: Count,
    /// Holder only.
    pub(crate) inner: UnsafeCell<Inner>,
    pub(crate) port: Arc<dyn Dispatch>,
    /// What becomes of the head, which has had its turn: a producer behind it was half done. Holder only.
    pub(crate) stalled: UnsafeCell<Option<AfterTurn>>,
    /// With `number` the color.
    pub(crate) kind: ColorKind,
    /// The worker on which it last ran, from 1; 0 if it has not run. Holder only.
    pub(crate) home: AtomicU16,
    /// Whether a thread spins until no reader is inside ([`try_take`](super::push::try_take)). A hint.
    pub(crate) wished: AtomicBool,
    /// The queue by class in which it is, or was last ([`Priority`]).
    pub(crate) class_place: AtomicU16,
    /// How many readers the node at the head waits for ([`readers`](super::readers)).
    pub(crate) readers: ReaderCount,
    pub(crate) priority: PriorityWord,
    pub(crate) number: u64,
    /// What listeners keep here ([`hooks`](crate::hooks)).
    pub(crate) slot: LaneSlot,
    /// At the head while a call runs inline.
    pub(crate) inline: Node,
}

pub(crate) struct Inner {
    pub(crate) live: LiveList<LanePtr>,
    /// The color's own values, if it has any.
    pub(crate) locals: Option<Box<Locals>>,
    /// The task at the head has waited with the lane, and the scheduler knows it.
    pub(crate) section: Option<SectionKey>,
    /// Whether the task at the head has had a section since it came there.
    pub(crate) holds: Holds,
}

// SAFETY: only the holder uses `inner`, and the right to hold moves between threads with the chain's release and
// acquire. The tasks behind it are made to move (`Cell::allocate`).
unsafe impl Send for Lane {}
// SAFETY: a shared reference reaches `inner` and `stalled` only in unsafe functions for the holder; every other field
// is atomic, or never changes while the lane is shared.
unsafe impl Sync for Lane {}

/// Whether the table knows a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tenure {
    Published,
    /// Not until a task waits in it, or code that runs under it asks for its color.
    Unpublished,
}

impl Lane {
    /// A lane with one reference.
    pub(crate) fn new(color: Color, port: Arc<dyn Dispatch>, tenure: Tenure) -> Self {
        Self {
            chain: Chain::new(),
            refs: Count::new(tenure == Tenure::Published),
            inner: UnsafeCell::new(Inner {
                live: LiveList::new(),
                locals: None,
                section: None,
                holds: Holds::default(),
            }),
            port,
            stalled: UnsafeCell::new(None),
            kind: color.kind(),
            home: AtomicU16::new(0),
            wished: AtomicBool::new(false),
            class_place: AtomicU16::new(0),
            readers: ReaderCount::new(),
            priority: PriorityWord::new(),
            number: color.number(),
            slot: LaneSlot::new(),
            inline: Node::new(Kind::Inline, 0),
        }
    }

    /// Makes an unreferenced lane that was in no table, or has left it, into a fresh one.
    pub(crate) fn renew(&mut self, color: Color, tenure: Tenure) {
        (self.kind, self.number) = (color.kind(), color.number());
        self.refs = Count::new(tenure == Tenure::Published);
        // Ordering: exclusive access.
        self.home.store(0, Ordering::Relaxed);
        self.inner.with_mut(|inner| {
            // SAFETY: `&mut self` keeps every other access out.
            let inner = unsafe { &mut *inner };
            debug_assert!(inner.live.is_empty());
            debug_assert!(inner.section.is_none() && inner.locals.is_none());
            debug_assert!(!inner.holds.is_on());
        });
    }

    pub(crate) fn color(&self) -> Color {
        Color::from_parts(self.kind, self.number)
    }

    /// The lane's place in an order of all lanes, by which several are taken.
    pub(crate) fn rank(&self) -> (Color, usize) {
        // Fresh colors sort in the order in which they were made, whatever else has made some: else a simulation could
        // not be run again.
        (self.color(), ptr::from_ref(self).addr())
    }

    /// Whether this is a lane of that scheduler.
    pub(crate) fn is_of<D: Dispatch + ?Sized>(&self, scheduler: &D) -> bool {
        ptr::addr_eq(&raw const *self.port, scheduler)
    }

    /// Whether everything is to be cancelled.
    pub(crate) fn is_closing(&self) -> bool {
        self.port.common().is_closing()
    }

    pub(crate) fn is_published(&self) -> bool {
        self.refs.is_published()
    }

    /// Ensures that look-ups, and a shutdown, find the lane, to which `lane` points. Holder only.
    pub(crate) fn publish(&self, lane: LanePtr) {
        if self.refs.publish() {
            self.port.publish(lane);
        }
    }

    /// The worker that `set_home` has been given last.
    pub(crate) fn home(&self) -> Option<usize> {
        // Ordering: the holder reads what a holder wrote, ordered by the chain; a hint for others.
        usize::from(self.home.load(Ordering::Relaxed)).checked_sub(1)
    }

    /// Whether it is the worker with this number, counted from 1, that `set_home` has been given last.
    #[inline]
    pub(crate) fn is_home(&self, worker: u32) -> bool {
        // Ordering: see `home`.
        u32::from(self.home.load(Ordering::Relaxed)) == worker
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
        self.refs.retain(refs);
    }
}

/// A pointer to a lane that something else keeps alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LanePtr(pub(crate) NonNull<Lane>);

// SAFETY: a lane is `Send` and `Sync`, and the pointer makes no claim about the lane's lifetime.
unsafe impl Send for LanePtr {}
// SAFETY: a shared reference gives no more than a copy of the pointer, and `get` is unsafe.
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
    /// Made by [`LanePtr::from_box`], and no thread uses the lane any more.
    pub(crate) unsafe fn into_box(self) -> Box<Lane> {
        // SAFETY: the caller promises that the pointer is of a leaked box, and that no thread uses the lane any more.
        unsafe { Box::from_raw(self.0.as_ptr()) }
    }

    /// # Safety
    ///
    /// The lane is alive while the reference is used.
    #[inline]
    pub(crate) unsafe fn get<'a>(self) -> &'a Lane {
        // SAFETY: the caller promises that the lane is alive while the reference is used.
        unsafe { self.0.as_ref() }
    }
}

/// The right to run a lane. Its owner must run the lane or hand it on.
#[must_use]
#[derive(Debug)]
pub(crate) struct ReadyLane(pub(crate) LanePtr);

impl ReadyLane {
    /// The lane. It is alive: it is runnable, so its chain has a node, which keeps it.
    pub(crate) fn lane(&self) -> &Lane {
        // SAFETY: the chain has a node while the right to run the lane exists, and that node keeps the lane.
        unsafe { self.0.get() }
    }

    /// The right as a pointer, for a slot of one machine word.
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

/// A lane that this thread holds for `'a`. Only the holder reaches the lane's inner part.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    ptr: LanePtr,
    _on_this_thread: PhantomData<(&'a Lane, *const ())>,
}

impl<'a> Held<'a> {
    /// # Safety
    ///
    /// This thread holds the lane for `'a`, and the lane is alive meanwhile.
    #[inline]
    pub(crate) unsafe fn new(ptr: LanePtr) -> Self {
        Self { ptr, _on_this_thread: PhantomData }
    }

    #[inline]
    pub(crate) fn ptr(self) -> LanePtr {
        self.ptr
    }
}

impl Deref for Held<'_> {
    type Target = Lane;

    #[inline]
    fn deref(&self) -> &Lane {
        // SAFETY: `new` was promised that the lane is alive.
        unsafe { self.ptr.get() }
    }
}

/// What becomes of a head that has had its turn.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterTurn {
    /// The head leaves the chain.
    Unlink,
    /// The head goes behind all other nodes.
    Rotate,
    /// The head stays, and keeps the lane while it waits.
    Park,
    /// The lane has been given away: this thread does not hold it any more.
    LaneGone,
    /// The turn could not begin: a producer behind the head is half done.
    Retry,
}

/// The operations of the scheduler that lanes need.
pub(crate) trait Dispatch: Listen + Any + Send + Sync {
    /// The state that all lanes of the scheduler share.
    fn common(&self) -> &Common;

    /// Takes a lane that has just become runnable. `pin` is the thread that must run it, 0 for any worker.
    ///
    /// Another thread may run and free the lane before this returns, and the lane may be the last owner of the
    /// scheduler. So nothing that the lane keeps alive may be touched after the lane is published. With
    /// [`Owner::Worker`] only a worker of the scheduler takes the lane; any other thread gives it back.
    fn accept(&self, lane: ReadyLane, pin: u32, owner: Owner) -> Result<(), ReadyLane>;

    /// Moves a lane that has become more urgent, and is queued in a lower class, to that class.
    fn raise(&self, lane: &Lane, to: Priority);

    /// Gives back `refs` references which were the last when the caller looked, and frees the lane if they still are.
    /// With [`Owner::Worker`], any thread that is no worker of the scheduler does nothing, and returns false.
    fn retire(&self, lane: LanePtr, refs: usize, owner: Owner) -> bool;

    /// Enters a lane into the table, where look-ups and a shutdown find it. The caller holds it.
    fn publish(&self, lane: LanePtr);

    /// An unused lane, made into one of that color, if this thread has one at hand.
    fn spare(&self, color: Color, tenure: Tenure) -> Option<Box<Lane>>;

    /// Nanoseconds since some time. Costs a read of the clock.
    fn now(&self) -> u64;

    /// The time, for code that runs under a lane of the scheduler: on a worker, the time at which the slice began, or,
    /// while the slice is recorded, at which its last turn ended.
    fn noted_time(&self) -> u64;

    /// A behavior that this thread polls has to wait, and not as a call does.
    fn count_wait(&self);

    /// A task has panicked, on this thread.
    fn panicked(&self, panic: &TaskPanic<'_>);

    /// A slice of a lane begins, which was [asked](LaneSlot::ask) to be shown. The holder calls this.
    fn show(&self, lane: Held<'_>);
}

/// The owner that keeps the scheduler alive during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The worker that this thread is, if it is one of that scheduler.
    Worker,
    /// The caller.
    Caller,
}

/// The state that all lanes of one scheduler share. The scheduler owns it, and lanes reach it through
/// [`Dispatch::common`].
pub(crate) struct Common {
    /// The locks under which the claims of one behavior are pushed.
    pub(crate) claim_locks: ClaimLocks,
    /// The tasks that wait and keep their lanes.
    pub(crate) sections: ParkedSections<LanePtr>,
    /// How many lanes may run at once, if idle workers find the lanes that wait elsewhere; else any number.
    pub(crate) lanes_at_once: usize,
    /// What listeners keep here ([`hooks`](crate::hooks)).
    pub(crate) slot: SchedulerSlot,
    /// A shutdown has begun: all tasks are to be cancelled.
    closing: AtomicBool,
    /// A color has been given a priority.
    classes: AtomicBool,
}

impl Common {
    /// For a scheduler with this number of workers, the spare ones included.
    pub(crate) fn new(workers: usize, lanes_at_once: usize, slot: SchedulerSlot) -> Self {
        Self {
            claim_locks: ClaimLocks::default(),
            sections: ParkedSections::new(workers),
            lanes_at_once,
            slot,
            closing: AtomicBool::new(false),
            classes: AtomicBool::new(false),
        }
    }

    /// Whether a shutdown has begun.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        // Ordering: the close nodes and the table's locks give the order that matters.
        self.closing.load(Ordering::Relaxed)
    }

    /// Begins a shutdown; false if one has begun before.
    pub(crate) fn close(&self) -> bool {
        // Ordering: the lanes' queues and the table's locks carry the flag to the holders.
        !self.closing.swap(true, Ordering::SeqCst)
    }

    /// Whether any color has been given a priority.
    #[inline]
    pub(crate) fn has_classes(&self) -> bool {
        // Ordering: a hint: a thread that has yet to see it works as before (`ext/priority/classes.rs`).
        self.classes.load(Ordering::Relaxed)
    }

    /// Priorities are used from now on; false if they were before.
    pub(crate) fn use_classes(&self) -> bool {
        // Ordering: as in `has_classes`.
        !self.classes.swap(true, Ordering::Relaxed)
    }
}

/// The values of one color, in the order in which they were made.
pub(crate) struct Locals(pub(crate) Vec<Entry>);

pub(crate) struct Entry {
    pub(crate) key: *const (),
    /// `None` once it is dropped, up to the end of the turn in which all are dropped.
    pub(crate) value: Option<Value>,
}

/// Boxed, so that it keeps its place while others are made.
pub(crate) type Value = Box<dyn Any + Send>;

/// How many locks a scheduler has. The number is arbitrary: two behaviors without a common lane collide at one in so
/// many.
#[cfg(not(colored_loom))]
const LOCKS: usize = 64;
#[cfg(colored_loom)]
const LOCKS: usize = 2;

/// The locks of one scheduler.
#[derive(Debug)]
pub(crate) struct ClaimLocks(Box<[CachePadded<Mutex<()>>]>);

impl Default for ClaimLocks {
    fn default() -> Self {
        Self((0..LOCKS).map(|_| CachePadded::default()).collect())
    }
}

impl ClaimLocks {
    /// That of the lanes of a color with this number.
    pub(crate) fn of(&self, lane: u64) -> &Mutex<()> {
        // The bits in the middle of the product depend on most bits of the color.
        let mixed = u128::from(lane) * 0x9e37_79b9_7f4a_7c15;
        &self.0[(mixed >> 61) as usize % LOCKS]
    }
}

/// Runs `enqueue`, which puts nodes on several lanes, as one step for all behaviors that share a lane. These are the lanes'
/// locks.
pub(crate) fn as_one_step<'l, R, L>(locks: L, enqueue: impl FnOnce() -> R) -> R
where
    L: ExactSizeIterator<Item = &'l Mutex<()>> + Clone,
{
    if locks.len() < 2 { enqueue() } else { lock_above(ptr::null(), locks, enqueue) }
}

/// Takes the locks behind `below`, one by one.
fn lock_above<'l, R, L>(below: *const Mutex<()>, locks: L, enqueue: impl FnOnce() -> R) -> R
where
    L: Iterator<Item = &'l Mutex<()>> + Clone,
{
    let above = locks.clone().filter(|lock| ptr::from_ref(*lock) > below);
    let Some(lock) = above.min_by_key(|lock| ptr::from_ref(*lock)) else { return enqueue() };
    let _guard = lock.lock();
    lock_above(lock, locks, enqueue)
}
