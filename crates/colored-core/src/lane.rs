//! A lane: the live queue of one color, and the right to run it.
//!
//! # Kinds of reference
//!
//! | type | is | counted |
//! |---|---|---|
//! | [`LaneRef`] | an owner: a cell, a cache, a look-up that is about to push | yes |
//! | [`LanePtr`] | a task's pointer to its lane; the task counts as an owner until it completes | no |
//! | [`ReadyLane`] | **the right to run the lane**, a value that cannot be copied | no |
//!
//! Everything in a lane's chain owns one reference, or relies on a cell's reference, which is given back only after
//! something that is scheduled later: so a lane that is held or queued is alive. Only the lane's holder gives a task's
//! reference back, and only after it has given the right away: while it runs a slice, the holder counts in a
//! thread-local ([`current`]) and settles once.
//!
//! # Exclusion (G1)
//!
//! A `ReadyLane` is made in three places: by the push, or the claim, that found the chain idle; by the wake of a task
//! that has kept the lane; and by the last reader that leaves a lane in which something waits. It is consumed by [`ReadyLane::run`], which gives it back, or ends with the chain idle, or
//! leaves it to the task at the head: that task keeps the lane while it waits (`lane/section.rs`), and its state says
//! which thread gets the right. So there is at most one for a lane at any time, and only its owner polls. A lane in a
//! deque is a `ReadyLane` in a deque: a thief takes the lane idle and whole.
//!
//! # States
//!
//! One table over all words of a lane. The state follows from the chain, the kind of its head, and the word `readers`.
//!
//! | state | head of the chain | `readers` | the right to run | transitions |
//! |---|---|---|---|---|
//! | **idle** | none | 0 | belongs to no thread | a push: queued. The own node is pushed: inline. A reader enters: shared |
//! | **queued** | any | 0 | a [`ReadyLane`] in a queue | a worker takes it: running |
//! | **running** | any but the own node | 0 | the thread's that runs the slice | the slice ends: queued, or idle. A task waits in a section: parked. A claim has its turn: taken. A reader has its turn: shared, or awaited |
//! | **stalled** | has had its turn; a producer behind it is half done (`stalled`) | 0 | as queued | as queued; the next slice begins with what remains |
//! | **parked** | a task with an open section, which waits | 0 | in the state word of that task | the wake of the task: queued |
//! | **taken** | a claim that has had its turn | 0 | the behavior's | its closure is over: running |
//! | **inline** | the own node | 0 | the thread's that has put the node there | the call is over: idle, or queued |
//! | **shared** | none; the tail counts the readers | 0 | belongs to no thread | the last reader leaves: idle. A push: awaited |
//! | **awaited** | any | n > 0 | belongs to no thread | the last reader leaves: queued |
//!
//! The other words do not depend on the state, with two exceptions: `refs` is not 0 unless the lane is idle, and
//! `inner` and `stalled` are touched only with the right to run. `refs` also tells whether the table has the lane
//! (`count.rs`); the priority word counts urgent nodes and says whether the queue is one by class (`priority.rs`); `home`,
//! `wished` and `asked` are hints.
//!
//! # A turn
//!
//! [`ReadyLane::run`] gives one turn after the other to the node at the head. The turn of a node is code of the node's
//! own kind (`lane/node.rs`): it answers what becomes of the node ([`Then`]), and does what remains when the node is out
//! of the chain.
//!
//! # Order (G2)
//!
//! The chain is first-in first-out in the order of the swaps on its tail, and it belongs to the
//! lane, not to a worker: stealing the lane moves it unchanged.

mod at_once;
pub(crate) mod behavior;
pub(crate) mod callback;
mod close;
mod color_address;
pub(crate) mod common;
mod count;
pub(crate) mod current;
mod dispatch;
pub(crate) mod held;
pub(crate) mod locals;
mod node;
#[cfg(feature = "record")]
pub(crate) mod order;
#[cfg(not(feature = "record"))]
#[path = "lane/order/absent.rs"]
pub(crate) mod order;
pub(crate) mod points;
mod poll;
pub(crate) mod priority;
pub(crate) mod readers;
mod record;
mod refs;
pub(crate) mod section;
mod slice;
pub(crate) mod snapshot;
mod try_take;
mod turn_end;
mod wake;

pub(crate) use self::behavior::BehaviorRef;
pub(crate) use self::behavior::line::Wanted;
pub(crate) use self::behavior::order::Order;
pub(crate) use self::count::GivenBack;
pub(crate) use self::dispatch::{Dispatch, Observe, Owner};
pub(crate) use self::record::Recorder;
pub(crate) use self::refs::LaneRef;
pub(crate) use self::section::parked::SectionKey;
pub(crate) use self::slice::{POLL_WEIGHT, Runner, Slice};

pub use self::color_address::Address;
pub use self::priority::Priority;

use self::count::Count;
use self::held::Held;
use self::node::Then;
use self::order::LaneOrder;
use self::priority::PriorityWord;
use crate::color::{Color, ColorKind};
use crate::meter::Place;
use crate::queue::{Chain, Kind, Node, ReaderCount};
use crate::sync::{Arc, AtomicBool, AtomicU16, Ordering, UnsafeCell};
use crate::task::LiveList;
use std::ptr::{self, NonNull};

/// The lane of one color. The fields that every turn uses come first: one cache line and one word, without padding.
#[repr(C)]
pub(crate) struct Lane {
    chain: Chain,
    refs: Count,
    /// Holder only.
    inner: UnsafeCell<Inner>,
    port: Arc<dyn Dispatch>,
    /// What becomes of the head, which has had its turn: a producer behind it was half done. Holder only.
    stalled: UnsafeCell<Option<Then>>,
    /// With `number` the color.
    kind: ColorKind,
    /// The worker on which it last ran, from 1; 0 if it has not run. Holder only.
    home: AtomicU16,
    /// Whether a thread spins until no reader is inside ([`try_take`]). A hint.
    wished: AtomicBool,
    /// Whether a dump asks the holder to show the lane ([`snapshot`]). A hint.
    asked: AtomicBool,
    /// The queue by class in which it is, or was last ([`priority`]).
    class_place: AtomicU16,
    /// How many readers the node at the head waits for ([`readers`]).
    readers: ReaderCount,
    priority: PriorityWord,
    number: u64,
    /// Made when the lane is recorded first.
    meter: Place,
    /// The order of its turns, if that is recorded or replayed.
    order: LaneOrder,
    /// At the head while a call runs inline.
    inline: Node,
}

struct Inner {
    live: LiveList<LanePtr>,
    /// The color's own values, if it has any.
    locals: Option<Box<locals::Locals>>,
    /// The task at the head has waited with the lane, and the scheduler knows it.
    section: Option<SectionKey>,
    /// Whether the task at the head has had a section since it came there.
    holds: section::Holds,
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
        let order = port.common().recording.of(color);
        Self {
            chain: Chain::new(),
            refs: Count::new(tenure == Tenure::Published),
            inner: UnsafeCell::new(Inner {
                live: LiveList::new(),
                locals: None,
                section: None,
                holds: section::Holds::default(),
            }),
            port,
            stalled: UnsafeCell::new(None),
            kind: color.kind(),
            home: AtomicU16::new(0),
            wished: AtomicBool::new(false),
            asked: AtomicBool::new(false),
            class_place: AtomicU16::new(0),
            readers: ReaderCount::new(),
            priority: PriorityWord::new(),
            number: color.number(),
            meter: Place::default(),
            order,
            inline: Node::new(Kind::Inline, 0),
        }
    }

    /// Makes an unreferenced lane that was in no table, or has left it, into a fresh one.
    pub(crate) fn renew(&mut self, color: Color) {
        (self.kind, self.number) = (color.kind(), color.number());
        self.order = self.port.common().recording.of(color);
        self.refs.renew();
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
    fn rank(&self) -> (Color, usize) {
        // Fresh colors sort in the order in which they were made, whatever else has made some: else a simulation could
        // not be run again.
        (self.color(), ptr::from_ref(self).addr())
    }

    /// How urgent the color is at the moment.
    pub(crate) fn priority(&self) -> Priority {
        self.priority.class()
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

    /// The scheduler that the lane belongs to.
    pub(crate) fn port(&self) -> &Arc<dyn Dispatch> {
        &self.port
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
    fn publish(&self, lane: LanePtr) {
        if self.refs.publish() {
            self.port.publish(lane);
        }
    }

    /// The worker that `set_home` has been given last.
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
        self.refs.retain(refs);
    }
}

/// A pointer to a lane that something else keeps alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LanePtr(NonNull<Lane>);

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

/// The color that this thread runs under; look-ups can find it from now on.
pub(crate) fn current_color() -> Option<Color> {
    let ptr = current::lane()?;
    Held::with_current(|lane| {
        let lane = lane?;
        lane.publish(ptr);
        Some(lane.color())
    })
}

/// As [`current_color`], for a text: a fresh color gets no entry in the table.
#[cfg(feature = "tracing")]
pub(crate) fn shown_color() -> Option<Color> {
    Held::with_current(|lane| Some(lane?.color()))
}

/// The time in the scheduler of the lane that this thread holds; see [`Observe::noted_time`].
#[inline]
pub(crate) fn noted_time() -> Option<u64> {
    Held::with_current(|lane| Some(lane?.port.noted_time()))
}

/// The right to run a lane. Its owner must run the lane or hand it on.
#[must_use]
#[derive(Debug)]
pub(crate) struct ReadyLane(LanePtr);

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
