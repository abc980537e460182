//! The intrusive many-producer queue of one lane, whose head *is* the right to run it.
//!
//! It is the queue lock of Mellor-Crummey and Scott (1991) turned into a run queue: a node is added by one swap of
//! `tail` and one store into its predecessor. A producer that finds no predecessor has taken an idle lane exclusively,
//! and is its **holder** until [`Chain::unlink_head`] answers [`Unlinked::Idle`]. The node at the head stays in the
//! queue while it runs, so a running lane is never empty and no thread can take it a second time.
//!
//! ```text
//!   tail == null                     idle: the next push takes it
//!   tail -> n  (head == n)           held, one node, perhaps running
//!   head -> a -> b -> n <- tail      held, three nodes
//!   head -> a    n <- tail           held; a producer is between its swap and its store
//! ```
//!
//! In the last state the holder knows that there is more but cannot reach it. It waits for a
//! bounded number of spins and then reports [`Unlinked::Stalled`]: on a machine with few cores the
//! producer may have been preempted, and spinning on it would stop the very core it needs.
//!
//! Readers share a chain: [`readers`].
//!
//! # Why it is sound
//!
//! * A producer writes into its predecessor after its swap. The predecessor is alive: it can leave
//!   the queue only by an unlink that found its `next` set (then the producer has written) or
//!   that moved `tail` from it to null (then no producer got it as predecessor).
//! * Nodes that are taken out together leave by the same rule: the link of the last one is set, or
//!   `tail` is moved from it.
//! * Holder-only data is handed from holder to holder: the releasing compare-exchange to null
//!   happens before the swap that reads that null, and takes the chain.

mod readers;

pub(crate) use self::readers::{Admission, ReaderCount, Tail};

use crate::hooks::mark::Mark;
use crate::sync::{AtomicPtr, AtomicU32, Ordering, UnsafeCell, spin_loop};
use std::ptr::{self, NonNull};

/// How often the holder looks again for a node whose producer is half done.
#[cfg(not(colored_loom))]
const SPINS: u32 = 64;
#[cfg(colored_loom)]
const SPINS: u32 = 1;

/// The kind of a node, for the lane that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The first field of a task.
    Task,
    /// The first field of a callback: a closure that runs once.
    Callback,
    /// A callback that owns no reference to its lane.
    Uncounted,
    /// The lane's own node, at its head while a call runs inline.
    Inline,
    /// The first field of a claim: takes the whole lane for a behavior.
    Claim,
    /// The first field of a reader's node: it reads the color's data beside other readers.
    Read,
}

/// The link with which every node of a [`Chain`] begins.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Node {
    next: AtomicPtr<Node>,
    /// The thread that must run it; 0 is any worker.
    pin: AtomicU32,
    pub(crate) kind: Kind,
    /// Whether it raises the priority of its lane while it is scheduled. Written before the node is first pushed.
    pub(crate) urgent: bool,
    /// For listeners ([`hooks`](crate::hooks)).
    pub(crate) mark: Mark,
}

impl Node {
    pub(crate) fn new(kind: Kind, pin: u32) -> Self {
        Self {
            next: AtomicPtr::new(ptr::null_mut()),
            pin: AtomicU32::new(pin),
            kind,
            urgent: false,
            mark: Mark::none(),
        }
    }

    /// The thread that must run it; 0 is any worker.
    #[inline]
    pub(crate) fn pin(&self) -> u32 {
        // Ordering: the holder of the lane changes it, in the turn of the node, and the hand-over of the lane orders it.
        self.pin.load(Ordering::Relaxed)
    }

    /// From now on this thread must run it. The caller holds the lane, and the node has its turn.
    pub(crate) fn pin_to(&self, pin: u32) {
        // Ordering: as in `pin`.
        self.pin.store(pin, Ordering::Relaxed);
    }

    /// The node, which raises the priority of its lane if `urgent`.
    pub(crate) fn urged(self, urgent: bool) -> Self {
        Self { urgent, ..self }
    }
}

/// The result of a push.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The chain was idle: the caller is now its holder and must ensure that it is run.
    Taken,
    /// Another thread holds the chain and will come to the node.
    Behind,
    /// So many readers are inside, and the node is the head: the caller [adds](ReaderCount::add) them to the count.
    BehindReaders(usize),
}

/// The result of taking out the head.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unlinked {
    /// It is out; another node is at the head.
    More,
    /// It is out and was the last: the caller is no longer the holder.
    Idle,
    /// It is still in: a producer behind it is half done.
    Stalled,
}

/// The result of moving a head that wants to run again.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rotated {
    /// It is the last in line now.
    Moved,
    /// It is the only node and stays where it is.
    Alone,
    /// It is still at the head: a producer behind it is half done.
    Stalled,
}

#[derive(Debug)]
pub(crate) struct Chain {
    tail: AtomicPtr<Node>,
    /// The oldest node. Only the holder uses it.
    head: UnsafeCell<*mut Node>,
}

// SAFETY: only the holder uses `head`, and the right to hold moves between threads by the release and acquire of `tail`
// (module documentation).
unsafe impl Send for Chain {}
// SAFETY: any thread may use `tail`, which is atomic; a shared reference reaches `head` in the hands of the holder
// only.
unsafe impl Sync for Chain {}

impl Chain {
    pub(crate) fn new() -> Self {
        Self { tail: AtomicPtr::new(ptr::null_mut()), head: UnsafeCell::new(ptr::null_mut()) }
    }

    /// Adds a node behind all others.
    ///
    /// After [`Pushed::Behind`] neither the chain nor the node may be touched any more: the
    /// holder may have run the node and freed both.
    ///
    /// # Safety
    ///
    /// * `node` is in no chain and stays alive, and unmoved, until it is unlinked.
    /// * The chain is alive until the node is unlinked.
    #[inline]
    pub(crate) unsafe fn push(&self, node: NonNull<Node>) -> Pushed {
        // SAFETY: the caller promises that the node is alive and in no chain, so no other thread reads or writes its
        // link.
        let next = unsafe { &node.as_ref().next };
        // Ordering: published by the swap below.
        next.store(ptr::null_mut(), Ordering::Relaxed);
        // Ordering: Release publishes the node's contents to the holder's Acquire load of `next`
        // or of the chain that was taken; Acquire pairs with the Release of `unlink_head` that left null,
        // and with the push of the predecessor, whose link is written next.
        let previous = self.tail.swap(node.as_ptr(), Ordering::AcqRel);
        match Tail::of(previous) {
            Tail::Node(_) => {
                // SAFETY: the swap found this node as the tail, and gave `node` the place behind it.
                unsafe { Self::link(previous, node) };
                Pushed::Behind
            }
            Tail::Idle => {
                self.set_head(node.as_ptr());
                Pushed::Taken
            }
            Tail::Readers(readers) => {
                self.set_head(node.as_ptr());
                Pushed::BehindReaders(readers)
            }
        }
    }

    /// # Safety
    ///
    /// An exchange of this thread has found `previous` as the tail, and has made `node` the tail.
    #[inline]
    unsafe fn link(previous: *mut Node, node: NonNull<Node>) {
        // SAFETY: a node whose `next` is null and that is not `tail` cannot be unlinked.
        let link = unsafe { &(*previous).next };
        // Ordering: pairs with the holder's Acquire load in `next_of`.
        link.store(node.as_ptr(), Ordering::Release);
    }

    /// Takes the right to run an idle chain, with `node` as its head; false if it is held.
    ///
    /// Several threads may try with the same node: it is not touched before one has won.
    ///
    /// # Safety
    ///
    /// As for [`Chain::push`], and the node is fresh, or [`Chain::unlink_head`] or [`Chain::try_release`] of this chain
    /// has taken it out.
    #[inline]
    pub(crate) unsafe fn try_take(&self, node: NonNull<Node>) -> bool {
        // Ordering: as for the swap in `push`; nothing is read after a failure.
        let taken = self
            .tail
            .compare_exchange(ptr::null_mut(), node.as_ptr(), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok();
        if taken {
            self.set_head(node.as_ptr());
        }
        taken
    }

    /// Gives an idle chain back that was taken by [`Chain::try_take`] with this node; false if something has been
    /// pushed since. Only the holder calls this, and is not the holder any more after true.
    #[inline]
    pub(crate) fn try_release(&self, node: NonNull<Node>) -> bool {
        // Ordering: as in `unlink_head`. The link is still null: no producer had the node as predecessor.
        self.tail
            .compare_exchange(node.as_ptr(), ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// The node whose turn it is. Only the holder calls this, or a thread that keeps a reader inside which the head
    /// [waits for](ReaderCount::has_head).
    #[inline]
    pub(crate) fn head(&self) -> NonNull<Node> {
        let head = self.head.with(|head| {
            // SAFETY: no other thread changes `head`: the caller is the holder, or keeps the next one out.
            unsafe { *head }
        });
        NonNull::new(head).expect("a held chain has a head")
    }

    /// Whether no thread holds it; may be out of date.
    pub(crate) fn is_idle(&self) -> bool {
        // Ordering: a hint; a push that the caller knows of, it sees.
        self.tail.load(Ordering::Relaxed).is_null()
    }

    /// Whether a node behind the head can be seen. Only the holder calls this; false may be out of date.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.behind(self.head()).is_some()
    }

    /// The node behind `before`, if it can be seen. `before` is in the chain. The caller is the holder, or no other
    /// thread takes out nodes behind `before`.
    #[inline]
    pub(crate) fn behind(&self, before: NonNull<Node>) -> Option<NonNull<Node>> {
        NonNull::new(Self::next_of(before))
    }

    /// Takes the head out, with an empty link. `behind` is the node behind it, if the caller has seen one. Only the holder
    /// calls this, and is not the holder any more after [`Unlinked::Idle`].
    #[inline]
    pub(crate) fn unlink_head(
        &self,
        head: NonNull<Node>,
        behind: Option<NonNull<Node>>,
    ) -> Unlinked {
        if let Some(next) = behind {
            self.pass_head(head, next.as_ptr());
            return Unlinked::More;
        }
        // Ordering: Release hands all that the holder did to the Acquire of the next thread that takes the chain; after a
        // failure only `next` is read, which is acquired on its own.
        if self
            .tail
            .compare_exchange(head.as_ptr(), ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
            .is_ok()
        {
            return Unlinked::Idle;
        }
        match Self::await_next(head) {
            Some(next) => {
                self.pass_head(head, next);
                Unlinked::More
            }
            None => Unlinked::Stalled,
        }
    }

    /// Moves the head behind all others. Only the holder calls this.
    #[inline]
    pub(crate) fn rotate_head(&self) -> Rotated {
        let head = self.head();
        let mut next = Self::next_of(head);
        if next.is_null() {
            // Ordering: a push that this load misses is ordered after the head's own turn.
            if self.tail.load(Ordering::Relaxed) == head.as_ptr() {
                return Rotated::Alone;
            }
            match Self::await_next(head) {
                Some(node) => next = node,
                None => return Rotated::Stalled,
            }
        }
        self.set_head(next);
        // SAFETY: the head has just been taken out, and its owner keeps it alive while it is
        // scheduled.
        let pushed = unsafe { self.push(head) };
        debug_assert_eq!(pushed, Pushed::Behind, "the caller holds the chain");
        Rotated::Moved
    }

    #[inline]
    fn pass_head(&self, head: NonNull<Node>, next: *mut Node) {
        // SAFETY: the head is alive: only the caller, the holder, takes it out.
        let link = unsafe { &head.as_ref().next };
        // Ordering: published by the exchange that makes the chain idle.
        link.store(ptr::null_mut(), Ordering::Relaxed);
        self.set_head(next);
    }

    fn set_head(&self, node: *mut Node) {
        self.head.with_mut(|head| {
            // SAFETY: the caller is the holder, also after a push or a `try_take` that found the chain idle, or its push found
            // readers, and it has not counted them yet; no other thread uses `head`.
            unsafe { *head = node }
        });
    }

    #[inline]
    fn next_of(node: NonNull<Node>) -> *mut Node {
        // SAFETY: the node is in the chain, and no other thread takes nodes out there meanwhile, so the node is alive.
        let next = unsafe { &node.as_ref().next };
        // Ordering: pairs with the Release store in `push`: the next node's contents are visible.
        next.load(Ordering::Acquire)
    }

    #[cold]
    fn await_next(node: NonNull<Node>) -> Option<*mut Node> {
        for _ in 0..SPINS {
            let next = Self::next_of(node);
            if !next.is_null() {
                return Some(next);
            }
            spin_loop();
        }
        None
    }
}

impl Chain {
    /// Whether no node is behind the head. Only the holder calls this. True only if the caller knows of no push behind
    /// the head.
    #[inline]
    pub(crate) fn has_head_only(&self) -> bool {
        // Ordering: a push that the caller knows of happened before this load, which so sees that tail or a later one.
        self.tail.load(Ordering::Relaxed) == self.head().as_ptr()
    }

    /// As [`behind`](Self::behind), with the kind.
    pub(crate) fn next(&self, before: NonNull<Node>) -> Option<(NonNull<Node>, Kind)> {
        let node = self.behind(before)?;
        // SAFETY: the node is in the chain behind `before`, where no other thread takes nodes out, so it is alive.
        Some((node, unsafe { node.as_ref() }.kind))
    }
}
