//! Readers: any number of them at once, under a lane that nobody else runs meanwhile.
//!
//! While the gate is open the lane's own node is at the head of its chain, as during an inline call,
//! so the lane is held, by nobody in particular. The word `readers` counts those inside:
//!
//! | `readers` | own node at the head | |
//! |---|---|---|
//! | 0 | no | the lane is idle, queued or run; nobody reads |
//! | 0 | yes | an inline call, or the gate is about to open, or about to go |
//! | n > 0 | yes | the gate is open, and n readers are inside |
//!
//! * **Open**: who holds the lane, and has its own node at the head, sets the word from 0 to n and lets
//!   go of the lane without giving it to anybody. n readers owe a leave.
//! * **Enter**: from n > 0 to n + 1, and only while the lane's own node is also the last of the chain.
//! * **Leave**: from n to n - 1. Who leaves 0 behind is the lane's holder from then on: takes the node
//!   out, and hands on what is behind it.
//!
//! So the right to run the lane has at most one owner at any time, as ever: while the gate is open it is
//! nobody's, and the one exchange that leaves 0 makes it somebody's again (G1).
//!
//! # Order, and no starvation
//!
//! A writer that comes while readers are inside stands behind the lane's own node. From then on nobody
//! enters: later readers see that another node is the last one, and stand behind the writer. What a
//! reader must come after (G2) was pushed before it looked, so it is either done, or the reader sees that
//! the lane's own node is not the last one. When a reader's turn comes, those right behind it go in with
//! it, up to [`GROUP`] of them.
//!
//! # Readers that had to wait
//!
//! The holder who lets them in does not run them one after another: each is sent to a spare lane of a
//! fresh color, where it is a callback like any other, and idle workers take such lanes. The reader
//! itself is a [`Visit`].

use super::claim;
use super::current::Hold;
use super::slice::After;
use super::{Lane, LanePtr, LaneRef, ReadyLane, callback};
use crate::contain::contain;
use crate::memory;
use crate::queue::{Kind, Node};
use crate::sync::{Ordering, spin_loop};
use std::alloc::Layout;
use std::ptr::NonNull;

/// How many readers that wait go in at once. As many as a slice has polls.
const GROUP: usize = 64;

/// How often a reader looks again while the lane's own node is at the head and nobody is inside: as
/// a rule a gate is about to open or to go, within some ten instructions. The number comes out of thin
/// air.
#[cfg(not(colored_loom))]
const SPINS: u32 = 64;
#[cfg(colored_loom)]
const SPINS: u32 = 1;

/// Runs `f` beside other readers, on this thread; gives it back if the lane is held by somebody who
/// does not read, or if somebody waits.
///
/// # Panics
///
/// If `f` does.
#[inline]
pub(crate) fn read_inline<F: FnOnce() -> R, R>(lane: &LaneRef, f: F) -> Result<R, F> {
    if !try_enter(lane) {
        return Err(f);
    }
    // SAFETY: entered; `lane` outlives the guard.
    let _inside = unsafe { Inside::new(lane.ptr()) };
    Ok(f())
}

/// Enters, and may have opened the gate for it. False if that cannot be now.
#[inline]
pub(super) fn try_enter(lane: &Lane) -> bool {
    let own = NonNull::from(&lane.inline);
    for _ in 0..=SPINS {
        let last = lane.chain.last();
        if last.is_null() {
            // SAFETY: the node lives in the lane, and is reset whenever it leaves the chain.
            if unsafe { lane.chain.try_claim(own) } {
                // Ordering: Release hands what this thread has acquired with the lane to those who
                // enter.
                lane.readers.store(1, Ordering::Release);
                return true;
            }
        } else if !std::ptr::eq(last, own.as_ptr()) {
            return false;
        } else if count_in(lane) {
            return true;
        }
        spin_loop();
    }
    false
}

/// Counts one more, if there are some.
#[inline]
fn count_in(lane: &Lane) -> bool {
    // Ordering: hint only, the exchange decides.
    let mut readers = lane.readers.load(Ordering::Relaxed);
    while readers > 0 {
        // Ordering: Acquire pairs with the Release of who opened the gate. It is still open: the
        // word counts the others, so this one owes a leave too.
        match lane.readers.compare_exchange_weak(
            readers,
            readers + 1,
            Ordering::Acquire,
            Ordering::Relaxed,
        ) {
            Ok(_) => return true,
            Err(now) => readers = now,
        }
    }
    false
}

/// Leaves. The last one takes the gate away and hands the lane on.
///
/// # Safety
///
/// The caller owes the leave, and keeps the lane alive up to the end of this call.
#[inline]
pub(super) unsafe fn leave(ptr: LanePtr) {
    // SAFETY: by contract.
    let lane = unsafe { ptr.get() };
    // Ordering: Release orders this reader's looks before the next writer, whose way leads over the
    // last one's Acquire.
    if lane.readers.fetch_sub(1, Ordering::AcqRel) == 1 {
        let closing = lane.port.is_closing();
        // SAFETY: nobody is inside any more, so the lane is this thread's, with its own node at the
        // head; the caller keeps it alive.
        unsafe { ptr.end_hold(After::Inline, Hold::begin(ptr), Some(closing)) };
    }
}

/// One who is inside, and leaves when this is dropped.
struct Inside(LanePtr);

impl Inside {
    /// # Safety
    ///
    /// The caller has entered and gives that away. The lane outlives the guard.
    unsafe fn new(lane: LanePtr) -> Self {
        Self(lane)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // SAFETY: by the contract of `new`.
        unsafe { leave(self.0) };
    }
}

/// What reads when its turn comes. It keeps the lane alive.
pub(crate) trait Visit: Send + 'static {
    /// Whether it still wants to, now that its turn has come. What it would have needed is dropped here
    /// otherwise, and if `closing`: the caller holds the lane.
    fn begin(&mut self, closing: bool) -> bool;
    /// Reads, beside others, on some thread.
    fn run(&mut self);
    /// The runtime has shut down after `begin`. Does nothing after `run`.
    fn cancel(&mut self);
}

/// What a waiting reader begins with, of either sort.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Waiting {
    node: Node,
    vtable: &'static Vtable,
}

/// What the holder does with a waiting reader.
#[derive(Debug)]
pub(super) struct Vtable {
    /// As [`Visit::begin`]. The holder calls it, once, when the node is out of the chain.
    pub(super) begin: unsafe fn(NonNull<Node>, bool) -> bool,
    /// It is counted in: sees that it runs, and leaves. Takes the node.
    pub(super) admit: unsafe fn(NonNull<Node>),
    /// It did not want in. Takes the node.
    pub(super) free: unsafe fn(NonNull<Node>),
}

impl Waiting {
    pub(super) fn new(kind: Kind, vtable: &'static Vtable) -> Self {
        Self { node: Node::new(kind, 0), vtable }
    }
}

/// # Safety
///
/// `node` begins a [`Waiting`] that is alive.
unsafe fn vtable(node: NonNull<Node>) -> &'static Vtable {
    // SAFETY: by contract.
    unsafe { node.cast::<Waiting>().as_ref() }.vtable
}

#[repr(C)]
struct Visitor<V> {
    waiting: Waiting,
    lane: LanePtr,
    visit: V,
}

/// Schedules a reader behind all that is scheduled on the lane.
pub(crate) fn post<V: Visit>(lane: &LaneRef, visit: V) {
    let visitor = Visitor {
        waiting: Waiting::new(
            Kind::Read,
            &Vtable { begin: begin::<V>, admit: admit::<V>, free: free::<V> },
        ),
        lane: lane.ptr(),
        visit,
    };
    let place = memory::allocate(Layout::new::<Visitor<V>>()).cast::<Visitor<V>>();
    // SAFETY: the place is new, and of the visitor's layout.
    unsafe { place.write(visitor) };
    // SAFETY: in no chain, freed when it is out of it, and the visit keeps the lane.
    unsafe { lane.ptr().push(place.cast()) };
}

unsafe fn begin<V: Visit>(node: NonNull<Node>, closing: bool) -> bool {
    // SAFETY: a visitor of this type, which is nobody else's since it is out of its chain.
    let visitor = unsafe { &mut *node.cast::<Visitor<V>>().as_ptr() };
    visitor.visit.begin(closing)
}

/// Takes the visit out, and frees the node.
///
/// # Safety
///
/// `node` begins a visitor of this type, is in no chain, and is not used again.
unsafe fn take<V>(node: NonNull<Node>) -> (V, LanePtr) {
    let place = node.cast::<Visitor<V>>();
    // SAFETY: by contract.
    let visitor = unsafe { place.read() };
    // SAFETY: allocated with this layout, and moved out of.
    unsafe { memory::release(place.cast(), Layout::new::<Visitor<V>>()) };
    (visitor.visit, visitor.lane)
}

unsafe fn admit<V: Visit>(node: NonNull<Node>) {
    // SAFETY: the caller gives the node.
    let (visit, lane) = unsafe { take::<V>(node) };
    let admitted = Admitted(visit, lane);
    // SAFETY: the visit keeps the lane alive.
    let spare = unsafe { lane.get() }.spare();
    callback::post(&spare, move || admitted.run());
}

unsafe fn free<V: Visit>(node: NonNull<Node>) {
    // SAFETY: the caller gives the node.
    let (visit, _lane) = unsafe { take::<V>(node) };
    // It may have been the last to keep the cell.
    contain(|| drop(visit));
}

/// A visit that is counted in.
struct Admitted<V: Visit>(V, LanePtr);

// SAFETY: a pointer to a lane may go anywhere, and the visit is `Send`.
unsafe impl<V: Visit> Send for Admitted<V> {}

impl<V: Visit> Admitted<V> {
    fn run(mut self) {
        self.0.run();
    }
}

impl<V: Visit> Drop for Admitted<V> {
    fn drop(&mut self) {
        contain(|| self.0.cancel());
        // SAFETY: counted in by `let_in`; the visit, which is dropped after this, keeps the lane.
        unsafe { leave(self.1) };
    }
}

/// What became of a lane with a reader at its head.
pub(super) enum LetIn {
    /// The gate is open; the lane is nobody's.
    Open,
    /// Nobody wanted in any more: the lane's own node is at the head, has had its turn, and owns a
    /// reference.
    Nobody(ReadyLane),
    /// A producer behind the reader is half done.
    Stalled(ReadyLane),
}

/// Opens the gate for the reader at the head, and for those right behind it.
///
/// # Safety
///
/// A node of [`Kind::Read`] is at the head of the lane, which `hold` is of.
#[cold]
pub(super) unsafe fn let_in(ready: ReadyLane, hold: &Hold, closing: bool) -> LetIn {
    let ptr = ready.0;
    // SAFETY: the right to run keeps the lane alive.
    let lane = unsafe { ptr.get() };
    let first = lane.chain.head();
    // SAFETY: the lane's own node is in no chain while a slice runs, and was reset when it left.
    if !unsafe { lane.chain.replace_head(NonNull::from(&lane.inline)) } {
        return LetIn::Stalled(ready);
    }
    let mut group = [None; GROUP];
    let (mut wanted, mut taken) = (0, 1);
    let mut next = Some(first);
    while let Some(node) = next {
        // SAFETY: a reader, out of the chain.
        let vtable = unsafe { vtable(node) };
        // SAFETY: the lane is held.
        if unsafe { (vtable.begin)(node, closing) } {
            group[wanted] = Some(node);
            wanted += 1;
        } else {
            // SAFETY: it did not want in.
            unsafe { (vtable.free)(node) };
        }
        next = if taken < GROUP { lane.chain.take_second(Kind::Read) } else { None };
        taken += 1;
    }
    if wanted == 0 {
        // Who keeps the lane may have gone with those.
        hold.owe(1);
        return LetIn::Nobody(ready);
    }
    // SAFETY: the hold is of this lane, which those in the group keep alive.
    unsafe { ptr.settle(hold) };
    hold.has_ended();
    let _shared = ready.into_raw();
    // Ordering: as in `try_enter`. From here on the lane may be somebody's any time; those of the group
    // who have not been admitted yet keep it alive.
    lane.readers.store(wanted, Ordering::Release);
    for node in group.into_iter().flatten() {
        // SAFETY: a reader, out of the chain.
        let vtable = unsafe { vtable(node) };
        // SAFETY: counted in just now.
        unsafe { (vtable.admit)(node) };
    }
    LetIn::Open
}

/// What shared claims are, as readers.
pub(super) const CLAIM: &Vtable =
    &Vtable { begin: claim::begins, admit: claim::admit, free: claim::never_freed };
