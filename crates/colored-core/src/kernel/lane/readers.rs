//! Readers: any number of them run at once under a lane, and no writer runs meanwhile.
//!
//! The lane's chain counts the readers that are inside (`chain/readers.rs`):
//!
//! | tail of the chain | `readers` | |
//! |---|---|---|
//! | null | 0 | the lane is idle |
//! | a count *n* | 0 | *n* readers are inside, and nothing waits |
//! | a node | *n* > 0 | *n* readers are inside, and the node at the head waits for them |
//! | a node | 0 | a thread has the right to run the lane |
//!
//! * A reader that comes **enters** at once while nothing waits. Otherwise it is queued like any other work. The one
//!   exchange decides, so a reader never waits for readers only.
//! * When the turn of a queued reader comes, the holder **admits** it ([`let_in`]), together with the readers right behind
//!   it, as one batch. The holder counts them all by one exchange, and gives the right to run the lane away.
//! * Each reader **leaves** once. The last one gets the right to run the lane, if a node waits.
//!
//! So the right to run the lane has at most one owner at any time: while readers are inside no thread has it, and the one
//! exchange that makes the count 0 gives it to one thread again (G1).
//!
//! # Order, and no starvation
//!
//! Work that comes while readers are inside is queued, and no reader enters from then on. So a reader comes after all work
//! that was scheduled before it (G2), endless readers starve no writer, and endless writers no reader.
//!
//! A writer that has not queued yet may [look](super::callback::try_take) at the lane for a moment. Readers that come
//! meanwhile let it go first: a hint, and only for a moment.
//!
//! # Readers that had to wait
//!
//! A reader that finds the lane held by a writer, or finds that something waits, becomes a node of the chain like any other.
//! When the turn of a node of [`Kind::Read`] comes, the holder takes it out together with the nodes of this kind right behind
//! it, as far as they are linked. It counts them in by one exchange, and sends each on: a claim belongs to its behavior, and
//! the other readers run in a [batch]. If nothing is behind them, readers that come later enter at once.
//!
//! A closure that was abandoned in line is dropped before the exchange, while this thread still holds the lane. Its reader
//! leaves right after the exchange: nothing is scheduled for it, so the lane does not wait for another worker.

mod batch;

use self::batch::AdmittedRead;
use crate::hooks::{self, Act};
use crate::kernel::chain::{Admission, Chain, Kind, Node, Pushed};
use crate::kernel::lane::base::{AfterTurn, Lane, LanePtr, ReadyLane};
use crate::kernel::lane::callback::{READERS_LOOKS, give_way};
use crate::kernel::lane::current::{Hold, Reader, Table, TableNode, table};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::memory::Boxed;
use crate::kernel::task::contain;
use crate::sync::spin_loop;
use std::ptr::NonNull;
use std::task::Waker;

/// Runs `f` beside other readers, on this thread. Gives it back if a writer holds the lane, or if something waits.
///
/// # Panics
///
/// If `f` does.
#[inline]
pub(crate) fn read_inline<F: FnOnce() -> R, R>(lane: &LaneRef, f: F) -> Result<R, F> {
    let act = Act::take(lane);
    if !try_enter(lane) {
        return Err(f);
    }
    act.note();
    // SAFETY: this thread has entered, and `lane` outlives the guard.
    let inside = unsafe { Inside::new(lane.ptr()) };
    let result = f();
    drop(inside);
    act.leave();
    Ok(result)
}

/// Enters. False if this thread cannot enter now: something waits, or a writer has the lane. Waits some looks for the end
/// of an inline call.
#[inline]
pub(in crate::kernel::lane) fn try_enter(lane: &Lane) -> bool {
    give_way(lane);
    for _ in 0..=READERS_LOOKS {
        match lane.chain.enter() {
            Ok(()) => return true,
            Err(last) if std::ptr::eq(last, &raw const lane.inline) => spin_loop(),
            Err(_) => return false,
        }
    }
    false
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

    /// Enters, true; or adds the reader's node, false. After false the node may be gone. An urgent node has raised the
    /// lane before.
    ///
    /// # Safety
    ///
    /// As for [`Chain::try_take`](crate::kernel::chain::Chain::try_take), and something else keeps the lane alive during this
    /// call.
    pub(in crate::kernel::lane) unsafe fn enter_or_push(&self, node: NonNull<Node>) -> bool {
        // SAFETY: the node is in no chain yet, so this thread may read it.
        hooks::pushed(self, unsafe { node.as_ref() });
        // SAFETY: the caller promises the same.
        let is_inside = unsafe { self.chain.enter_or_push(node) };
        if is_inside {
            // SAFETY: the node is in no chain.
            self.end_wait_of_reader(unsafe { node.as_ref() });
        }
        is_inside
    }
}

/// Leaves. The last reader hands the lane on, if something waits.
///
/// # Safety
///
/// The caller owes the leave, and keeps the lane alive up to the end of this call.
#[inline]
pub(in crate::kernel::lane) unsafe fn leave(ptr: LanePtr) {
    // SAFETY: the caller keeps the lane alive up to the end of this call.
    let lane = unsafe { ptr.get() };
    hooks::left(lane);
    if lane.chain.leave(&lane.readers) {
        // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
        let pin = unsafe { lane.chain.head().as_ref() }.pin();
        ReadyLane(ptr).dispatch(pin);
    }
}

/// A reader that is inside, and leaves when this is dropped.
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
        // SAFETY: `new` was given the leave that is owed, and the lane outlives this guard.
        unsafe { leave(self.0) };
    }
}

/// How many readers are admitted together at most: some 100 µs of work for the holder.
const MOST: usize = 1024;

/// A node whose reader has begun.
struct Begun {
    node: NonNull<Node>,
    /// It has nothing to read.
    is_abandoned: bool,
}

/// # Safety
///
/// `node` is of [`Kind::Read`], and alive.
unsafe fn reader(node: NonNull<Node>) -> &'static Reader {
    // SAFETY: the caller promises that it is of `Kind::Read`, which begins a `TableNode`, and alive.
    unsafe { table(node) }.reader.as_ref().expect("it reads")
}

/// Whether it is a behavior's claim that waits to read.
///
/// # Safety
///
/// `node` is of [`Kind::Read`], and alive.
pub(crate) unsafe fn is_claim(node: NonNull<Node>) -> bool {
    // SAFETY: the caller promises the same.
    matches!(unsafe { reader(node) }, Reader::Claim(_))
}

/// The turn of a reader: admits it, and the readers right behind it.
#[cold]
pub(in crate::kernel::lane) unsafe fn let_in(
    node: NonNull<Node>,
    hold: &Hold,
    closing: bool,
) -> AfterTurn {
    let lane = hold.lane();
    hooks::taken(&lane);
    let mut begun = vec![Begun { node, is_abandoned: false }];
    loop {
        // SAFETY: this thread holds the lane, and the nodes are its first ones, of `Kind::Read`.
        let behind = unsafe { begin_run(&lane.chain, &mut begun, closing) };
        if behind.is_none() {
            // The last reader may leave the lane idle.
            lane.ensure_found(closing);
        }
        hold.count_refs();
        let last = begun[begun.len() - 1].node;
        match lane.chain.admit(last, behind, begun.len(), &lane.readers) {
            Admission::Done => break,
            Admission::More => {}
            Admission::Stalled => return AfterTurn::Retry,
        }
    }
    hold.end();
    let ptr = hold.ptr();
    // SAFETY: the readers, which have not been sent on yet, keep the lane.
    unsafe { ptr.get() }.retain(1);
    // SAFETY: `retain` has just counted the reference.
    let lane = unsafe { LaneRef::from_counted(ptr) };
    // SAFETY: the nodes are of `Kind::Read`, and `admit` has taken them out and has counted them in.
    unsafe { send_on(&lane, begun) };
    AfterTurn::LaneGone
}

/// Adds the nodes of [`Kind::Read`] right behind `begun`, and begins all of them, the last one of `begun` too. Returns the
/// node behind them, if it can be seen.
///
/// # Safety
///
/// This thread holds the chain, and `begun` are its first nodes, at least one, and of [`Kind::Read`].
unsafe fn begin_run(chain: &Chain, begun: &mut Vec<Begun>, closing: bool) -> Option<NonNull<Node>> {
    let mut next = begun.pop().map(|last| (last.node, Kind::Read));
    while let Some((node, Kind::Read)) = next
        && begun.len() < MOST
    {
        // SAFETY: the node is of `Kind::Read`, and in the chain, which this thread holds.
        let is_abandoned = match unsafe { reader(node) } {
            // SAFETY: the function is the node's own, and this thread holds the lane.
            Reader::Queued { begin, .. } => !unsafe { begin(node, closing) },
            Reader::Claim(_) => false,
        };
        begun.push(Begun { node, is_abandoned });
        next = chain.next(node);
    }
    next.map(|(node, _)| node)
}

/// Gives the nodes away, each to the thread that goes on with its reader. Those without anything to read leave.
///
/// # Safety
///
/// The nodes are of [`Kind::Read`], out of the chain of `lane`, and counted in.
unsafe fn send_on(lane: &LaneRef, begun: Vec<Begun>) {
    let mut reads = Vec::new();
    for Begun { node, is_abandoned } in begun {
        // SAFETY: the caller promises that the node is out of the chain, and it has not been given away yet.
        lane.end_wait_of_reader(unsafe { node.as_ref() });
        // SAFETY: the caller promises that the node is of `Kind::Read`, and it has not been given away yet.
        match unsafe { reader(node) } {
            // SAFETY: the node begins a claim, is out of the chain, and counted in.
            Reader::Claim(admit) => unsafe { admit(node) },
            Reader::Queued { read, .. } => {
                // SAFETY: the function is the node's own, which is out of the chain, counted in, and given away here.
                let admitted = unsafe { AdmittedRead::new(node, *read) };
                if is_abandoned {
                    drop(admitted);
                } else if admitted.is_urgent() {
                    admitted.read_elsewhere(lane);
                } else {
                    reads.push(admitted);
                }
            }
        }
    }
    batch::read_elsewhere(reads, lane);
}

/// A reader that runs when its turn comes. It keeps the lane alive.
pub(crate) trait QueuedRead: Send + 'static {
    /// Its turn has come. The caller holds the lane, or has just made the reader. If no future waits any more, or if
    /// `closing`, its closure is dropped here. Returns whether there is something to read. May be called again.
    fn begin(&mut self, closing: bool) -> bool;
    /// Reads, beside others, on some thread, unless its closure has been dropped. Returns the waker to wake when the lane
    /// has been left.
    fn run(&mut self) -> Option<Waker>;
    /// The runtime has shut down after `begin`. Does nothing after `run`.
    fn cancel(&mut self);
}

#[repr(C)]
struct ReadNode<V> {
    head: TableNode,
    lane: LanePtr,
    queued: V,
}

/// Schedules a reader, which is waited for, behind all that is scheduled on the lane. If nothing is any more, it reads at
/// once, on this thread.
pub(crate) fn post<V: QueuedRead>(lane: &LaneRef, queued: V) {
    let urgent = lane.is_lent_urgency();
    let table = const {
        &Table {
            run: let_in,
            free: not_freed,
            reader: Some(Reader::Queued { begin: begin::<V>, read: read::<V> }),
        }
    };
    let head = TableNode { node: Node::new(Kind::Read, 0).urged(urgent), table };
    let node = ReadNode { head, lane: lane.ptr(), queued };
    let node = Boxed::new(node).into_raw().cast();
    let act = Act::push(lane);
    if urgent {
        lane.raise();
    }
    // SAFETY: the node is new, it is freed when it is out of its chain, and the caller's reference keeps the lane.
    let is_inside = unsafe { lane.enter_or_push(node) };
    act.end();
    if is_inside {
        // SAFETY: the node begins a `ReadNode<V>`, is in no chain, and was made here.
        unsafe { begin::<V>(node, false) };
        // SAFETY: `read` takes such a node, which is in no chain, counted in, and given away here.
        unsafe { AdmittedRead::new(node, read::<V>) }.read();
    }
}

unsafe fn begin<V: QueuedRead>(node: NonNull<Node>, closing: bool) -> bool {
    // SAFETY: this function is in the `Reader` of a `ReadNode<V>`, and only the caller uses its queued read: the holder of
    // the lane, or the thread that has made it.
    let queued = unsafe { &mut (*node.cast::<ReadNode<V>>().as_ptr()).queued };
    queued.begin(closing)
}

unsafe fn read<V: QueuedRead>(node: NonNull<Node>, cancel: bool) -> Option<Waker> {
    // SAFETY: this function is in the `Reader` of a `ReadNode<V>`, and the caller gives the node, which is in no chain.
    let ReadNode { lane, queued, .. } =
        unsafe { Boxed::from_raw(node.cast::<ReadNode<V>>()) }.into_inner();
    let mut admitted = InsideGuard(queued, lane);
    if cancel { None } else { admitted.0.run() }
}

/// A queued read that is counted in, and leaves when this is dropped.
struct InsideGuard<V: QueuedRead>(V, LanePtr);

impl<V: QueuedRead> Drop for InsideGuard<V> {
    fn drop(&mut self) {
        contain(|| self.0.cancel());
        // SAFETY: the reader was counted in, and this is its one leave. The queued read, which is dropped after this, keeps
        // the lane.
        unsafe { leave(self.1) };
    }
}

impl Lane {
    /// The wait of a node is over without a turn: its reader is inside.
    fn end_wait_of_reader(&self, node: &Node) {
        hooks::entered(self, node);
        if node.urgent {
            self.priority.lower();
        }
    }
}

/// Readers are admitted, and never freed by their lane.
pub(in crate::kernel::lane) unsafe fn not_freed(_: NonNull<Node>) {
    unreachable!("readers are admitted");
}
