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
//! A writer that has not queued yet may [look](super::push::try_take) at the lane for a moment. Readers that come
//! meanwhile let it go first: a hint, and only for a moment.
//!
//! # Readers that had to wait
//!
//! A reader that finds the lane held by a writer, or finds that something waits, becomes a node of the chain like any other.
//! When the turn of a node of [`Kind::Read`] comes, the holder takes it out together with the nodes of this kind right behind
//! it, as far as they are linked. It counts them in by one exchange, and sends each on: a claim belongs to its behavior, and
//! the other readers run in a batch. If nothing is behind them, readers that come later enter at once.
//!
//! A closure that was abandoned in line is dropped before the exchange, while this thread still holds the lane. Its reader
//! leaves right after the exchange: nothing is scheduled for it, so the lane does not wait for another worker.
//!
//! # Batches
//!
//! A lane for each reader would cost more than many a read: it is made, queued, found, run and retired. So the readers
//! run as a batch: as many lanes as there are workers, each under a fresh color, take readers from the batch, one after
//! the other, in the order in which the readers came. An urgent reader runs alone, before the batch.
//!
//! A lane leaves the batch after [`TURNS`] readers, or after [`LONG_NANOS`]; if there are more readers, another
//! fresh lane goes on, so that other work comes in between. A lane also leaves the batch after a reader that has
//! left a value under the lane's color, or has asked for that color: no other reader finds the same color.
//!
//! In a shutdown, the first lane drops all readers that no lane has taken: a reader that runs may wait for one of them.

use crate::hooks::{self, Act};
use crate::kernel::chain::{Admission, Chain, Kind, Node};
use crate::kernel::lane::base::{AfterTurn, Held, Lane, LanePtr, ReadyLane};
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::lane::push::{self, READERS_LOOKS, give_way};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::lane::turn::{Reader, Table, TableNode, table};
use crate::kernel::memory::Boxed;
use crate::kernel::task::contain;
use crate::sync::{Arc, Mutex, spin_loop};
use std::mem;
use std::ptr::NonNull;
use std::task::Waker;
use std::vec::IntoIter;

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
    // SAFETY: the readers, which have not been sent on yet, keep the lane.
    let lane = unsafe { LaneRef::counted(hold.ptr()) };
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
    read_elsewhere(reads, lane);
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
    let urgent = hooks::is_lent_urgency(lane);
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
        hooks::raise(lane);
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
            hooks::lower(self);
        }
    }
}

/// Readers are admitted, and never freed by their lane.
pub(in crate::kernel::lane) unsafe fn not_freed(_: NonNull<Node>) {
    unreachable!("readers are admitted");
}

/// How many readers one lane takes: as many as a worker polls between two looks at the clock.
#[cfg(not(colored_loom))]
const TURNS: usize = 8;
#[cfg(colored_loom)]
const TURNS: usize = 1;

/// Nanoseconds after which a lane takes no more readers. From then on a worker, too, looks at the clock after each
/// poll.
const LONG_NANOS: u64 = 16_000;

/// Takes a reader, which reads, or is dropped if the second argument is true, and then leaves. Returns the waker to
/// wake.
type Read = unsafe fn(NonNull<Node>, bool) -> Option<Waker>;

/// A reader that is counted in, and has not begun. It leaves when this is dropped.
struct AdmittedRead {
    node: NonNull<Node>,
    read: Read,
}

// SAFETY: a queued read is `Send`, and an `AdmittedRead` owns its queued read.
unsafe impl Send for AdmittedRead {}

impl AdmittedRead {
    /// # Safety
    ///
    /// `read` takes nodes such as `node`, which is in no chain and has been counted in. The caller gives it.
    unsafe fn new(node: NonNull<Node>, read: Read) -> Self {
        Self { node, read }
    }

    fn is_urgent(&self) -> bool {
        // SAFETY: `new` was given the node, which is in no chain.
        unsafe { self.node.as_ref() }.urgent
    }

    /// Reads, and leaves. The task that waits for it is woken behind the tasks that are in the line.
    fn read(self) {
        let Self { node, read } = self;
        mem::forget(self);
        // SAFETY: `new` was given a node that `read` takes, and this is its only use, since the `Drop` is forgotten.
        if let Some(waker) = unsafe { read(node, false) } {
            current::wake_last(waker);
        }
    }

    /// Sends the reader to a fresh lane of the same scheduler.
    fn read_elsewhere(self, lane: &Lane) {
        push::post_urged(&lane.spare(), self.is_urgent(), move || self.read());
    }
}

impl Drop for AdmittedRead {
    fn drop(&mut self) {
        // SAFETY: `new` was given a node that `read` takes, and this is its only use, since a reader that reads is
        // forgotten.
        let _nobody = unsafe { (self.read)(self.node, true) };
    }
}

/// Sends the readers to as many fresh lanes of the same scheduler as may run at once.
fn read_elsewhere(mut readers: Vec<AdmittedRead>, lane: &Lane) {
    if readers.len() < 2 {
        if let Some(only) = readers.pop() {
            only.read_elsewhere(lane);
        }
        return;
    }
    let lanes = readers.len().min(lane.port.common().lanes_at_once);
    let batch = Arc::new(Mutex::new(readers.into_iter()));
    for _ in 0..lanes {
        BatchTurn(Some(Arc::clone(&batch))).read_elsewhere(lane);
    }
}

/// Readers that are counted in, and wait for a lane to run on.
type Batch = Mutex<IntoIter<AdmittedRead>>;

fn drop_all(batch: &Batch) {
    let rest = mem::take(&mut *batch.lock());
    drop(rest);
}

/// The turn of a lane. If it is dropped unused, in a shutdown, no reader runs any more.
struct BatchTurn(Option<Arc<Batch>>);

impl BatchTurn {
    fn read_elsewhere(self, lane: &Lane) {
        let spare = lane.spare();
        let here = spare.clone();
        push::post(&spare, move || self.read(&here));
    }

    /// Runs under `here`, in a callback.
    fn read(mut self, here: &LaneRef) {
        let Some(batch) = self.0.take() else { return };
        let start = here.port.now();
        for _ in 0..TURNS {
            if here.is_closing() {
                return drop_all(&batch);
            }
            let next = batch.lock().next();
            let Some(admitted) = next else { return };
            admitted.read();
            // This runs in a callback under `here`.
            let has_locals = Held::with_current(|lane| lane.is_some_and(Held::has_locals));
            let is_known = has_locals || here.is_published() || !here.chain.has_head_only();
            if is_known || here.port.now() > start + LONG_NANOS {
                break;
            }
        }
        if batch.lock().len() > 0 {
            Self(Some(batch)).read_elsewhere(here);
        }
    }
}

impl Drop for BatchTurn {
    fn drop(&mut self) {
        if let Some(batch) = self.0.take() {
            drop_all(&batch);
        }
    }
}
