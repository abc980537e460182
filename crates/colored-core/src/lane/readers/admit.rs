//! Admission of readers that had to wait.
//!
//! When the turn of a node of [`Kind::Read`] comes, the holder puts the lane's own node in its place, and opens the
//! [gate](crate::lane::readers) for that reader and for the readers right behind it. The holder does so as the
//! **admitter**: the one thread that may take nodes out of the chain while readers are inside. The admitter is counted
//! among the readers, so the gate cannot close meanwhile. There is at most one admitter. One bit of the word `readers`
//! says that there is one, another that a thread asked it to look again.
//!
//! # No reader stays behind an open gate
//!
//! A reader in the line has looked at the gate before. The gate may have been shut then, and be open now, held open by
//! a behavior that waits for other lanes. A section may hold one of these lanes and await this very reader. So no
//! reader may wait without need: if the gate is open, and only readers are before it in the line, it is admitted.
//!
//! * A thread that has put a reader into the line looks once more. If the gate is open, the thread becomes the
//!   admitter, or asks the present one to look again. The present admitter cannot miss it: the exchange that ends its
//!   role fails then.
//! * A holder that opens the gate gives the role up by the same exchange, and looks at the line before. A fence on
//!   either side separates "there is a place in the line" from "the gate is open", so one of the two threads sees the
//!   other.
//! * Where a producer is half done, or a group is full, a callback under a fresh color continues the admission.
//! * The search for deadlocks looks as the admitter ([`survey`]): a reader that it finds in the line does have to wait.
//!
//! A plainer design admits readers only as the batch that the holder finds when their turn comes. Six models of
//! `model/admit.rs` fail then: a reader that loses the race against the opening waits for all readers inside. Where one
//! of these is a behavior that lacks a color, and a section that has that color awaits the reader, the race decides
//! whether the program gets a [`Deadlock`](crate::Deadlock).
//!
//! An inline read opens the gate, and looks at the line afterwards without a fence. So a reader that comes within the
//! same few nanoseconds may wait for that read. A reader that came while the thread had lost its core does not. The
//! inline read itself waits for nothing, and before a reader is admitted beside it, an admitter has looked at the line.
//!
//! The closure of a reader that was abandoned in the line is dropped under the lane, and so not while others are
//! inside. The reader's node stays where it is, and the readers behind it are admitted past it.

use crate::lane::node::{Then, Turn};
use crate::lane::readers;
use crate::lane::readers::batch::{Admitted, Read, ReadBatch};
use crate::lane::{LanePtr, LaneRef, callback};
use crate::queue::{Kind, Node};
use crate::sync::{Ordering, fence};
use std::mem;
use std::ptr::NonNull;

/// How many readers are admitted at once. As many as a slice has polls.
const GROUP: usize = 64;

/// The head of every node that waits to read: a queued read or a claim.
#[derive(Debug)]
#[repr(C)]
pub(in crate::lane) struct Waiting {
    node: Node,
    vtable: &'static Vtable,
}

/// The operations on a node that waits to read. The node is out of the chain, unless stated otherwise.
#[derive(Debug)]
pub(in crate::lane) struct Vtable {
    /// Whether the reader still wants in. The caller holds the lane. If the second argument is true, or the answer
    /// false, the reader's closure is dropped there.
    pub(in crate::lane) begin: unsafe fn(NonNull<Node>, bool) -> bool,
    /// As `begin`, but readers are inside, the caller is the admitter and the node is still in the chain. Nothing is
    /// dropped. After the answer true, later calls answer true again.
    pub(in crate::lane) begin_beside: unsafe fn(NonNull<Node>) -> bool,
    /// The reader was not admitted. Takes the node.
    pub(in crate::lane) free: unsafe fn(NonNull<Node>),
    pub(in crate::lane) admit: Admit,
}

/// How a reader goes on once it is counted in.
#[derive(Debug)]
pub(in crate::lane) enum Admit {
    /// A claim: runs its behavior when the behavior has all its lanes, and leaves then. Takes the node.
    Claim(unsafe fn(NonNull<Node>)),
    /// Goes to a [`ReadBatch`].
    QueuedRead(Read),
}

impl Waiting {
    pub(in crate::lane) fn new(kind: Kind, urgent: bool, vtable: &'static Vtable) -> Self {
        Self { node: Node::new(kind, 0).urged(urgent), vtable }
    }

    pub(in crate::lane) fn node(&self) -> &Node {
        &self.node
    }

    pub(in crate::lane) fn is_urgent(&self) -> bool {
        self.node.urgent
    }

    /// The node is not in a chain yet.
    pub(in crate::lane) fn urge(&mut self, urgent: bool) {
        self.node.urgent = urgent;
    }
}

/// # Safety
///
/// `node` begins a [`Waiting`] that is alive.
unsafe fn vtable(node: NonNull<Node>) -> &'static Vtable {
    // SAFETY: the caller promises that `node` begins a `Waiting` that is alive.
    unsafe { node.cast::<Waiting>().as_ref() }.vtable
}

/// Whether it is a behavior's claim that waits to read.
///
/// # Safety
///
/// `node` is of [`Kind::Read`], and alive.
pub(in crate::lane) unsafe fn is_claim(node: NonNull<Node>) -> bool {
    // SAFETY: the caller promises that it is of `Kind::Read`, which begins a `Waiting`, and alive.
    matches!(unsafe { vtable(node) }.admit, Admit::Claim(_))
}

/// The turn of a reader at the head: opens the gate for it, and for the readers right behind it. If no reader was
/// admitted, the lane's own node is at the head afterwards, has had its turn, and owns a reference.
#[cold]
pub(in crate::lane) fn let_in(turn: &Turn<'_>) -> Then {
    debug_assert_eq!(turn.head.kind, Kind::Read);
    let (lane, hold) = (turn.lane(), turn.hold);
    let first = turn.head.node;
    // SAFETY: the lane's own node is in no chain while a slice runs, and had an empty link when it left.
    if !unsafe { lane.chain.replace_head(NonNull::from(&lane.inline)) } {
        return Then::Stalled;
    }
    lane.record_taken();
    let mut group = [None; GROUP];
    let (mut wanted, mut taken) = (0_u32, 1);
    let mut next = Some(first);
    while let Some(node) = next {
        // SAFETY: the node is of `Kind::Read`, which begins a `Waiting`; this thread took it out of the chain, and
        // nothing else frees it.
        let vtable = unsafe { vtable(node) };
        // SAFETY: this thread has the node, out of its chain, and has not given it away yet.
        lane.settle_admitted(unsafe { node.as_ref() });
        // SAFETY: this thread holds the lane, and the node is out of its chain.
        if unsafe { (vtable.begin)(node, turn.closing) } {
            group[wanted as usize] = Some(node);
            wanted += 1;
        } else {
            // SAFETY: the reader did not want in, so it is not admitted, and this thread gives its node away here.
            unsafe { (vtable.free)(node) };
        }
        let own = NonNull::from(&lane.inline);
        next = if taken < GROUP { lane.chain.take_behind(own, Kind::Read) } else { None };
        taken += 1;
    }
    if wanted == 0 {
        // The owners that kept the lane may have gone with the readers just freed.
        hold.owe(1);
        return Then::Done;
    }
    hold.settle();
    hold.end();
    lane.retain(1);
    // SAFETY: `retain` has just counted the reference.
    let admitter = Admitter::open(unsafe { LaneRef::from_counted(lane.ptr()) }, wanted);
    let mut batch = ReadBatch::new();
    for node in group.into_iter().flatten() {
        // SAFETY: the node is of `Kind::Read`, out of its chain, and still this thread's.
        match unsafe { vtable(node) }.admit {
            // SAFETY: the node begins a claim, is out of its chain, and `open` has counted it in.
            Admit::Claim(admit) => unsafe { admit(node) },
            Admit::QueuedRead(read) => {
                // SAFETY: the node is out of its chain, and still this thread's.
                let urgent = unsafe { node.as_ref() }.urgent;
                // SAFETY: `read` is of the node's own vtable, `open` has counted the reader in, and this thread gives
                // the node away here.
                let admitted = unsafe { Admitted::new(node, read) };
                if urgent {
                    admitted.read_elsewhere(&admitter.lane, true);
                } else {
                    batch.invite(admitted, wanted as usize);
                }
            }
        }
    }
    batch.read_elsewhere(&admitter.lane);
    admitter.go();
    Then::Took
}

/// Each thread that has just queued a reader calls this: it admits the readers that an open gate would have left
/// behind, perhaps its own.
///
/// # Safety
///
/// Something else keeps the lane alive up to the end of this call.
#[cold]
pub(in crate::lane) unsafe fn look_again(ptr: LanePtr) {
    // SAFETY: the caller promises that something keeps the lane alive up to the end of this call.
    let lane = unsafe { ptr.get() };
    // Ordering: pairs with the fence in `Admitter::open`: either this thread sees that the gate is open, or the thread
    // that opens it sees the place in the line.
    fence(Ordering::SeqCst);
    if lane.readers.become_admitter() {
        lane.retain(1);
        // SAFETY: `retain` has just counted the reference.
        Admitter { admitting: Admitting(ptr), lane: unsafe { LaneRef::from_counted(ptr) } }.go();
    }
}

/// As the admitter of an open gate: admits the readers that need not wait, then calls `f` with the node behind which
/// the others are queued. True if the first of them is a writer, and so keeps out readers behind it. `None`, and no
/// call, if there is another admitter, or something is half done.
///
/// # Safety
///
/// A reader is inside up to the end of this call, and keeps the lane.
pub(in crate::lane) unsafe fn survey(ptr: LanePtr, f: impl FnOnce(NonNull<Node>)) -> Option<bool> {
    // SAFETY: the caller promises that a reader inside keeps the lane up to the end of this call.
    let lane = unsafe { ptr.get() };
    if !lane.readers.become_admitter() {
        return None;
    }
    lane.retain(1);
    // SAFETY: `retain` has just counted the reference.
    let lane_ref = unsafe { LaneRef::from_counted(ptr) };
    let admitter = Admitter { admitting: Admitting(ptr), lane: lane_ref };
    let mut last = NonNull::from(&lane.inline);
    let found = (0..GROUP).map(|_| admitter.next(&mut last)).find(|next| *next != Next::Admitted);
    let is_shut = match found {
        Some(Next::Writer) => Some(true),
        Some(Next::None) => Some(false),
        _ => None,
    };
    if is_shut.is_some() {
        f(last);
    }
    admitter.go();
    is_shut
}

/// As [`look_again`], soon, on some worker.
pub(in crate::lane) fn look_again_soon(lane: LaneRef) {
    let spare = lane.spare();
    // SAFETY: the closure owns the reference `lane`, and drops it after the call.
    callback::post(&spare, move || unsafe { look_again(lane.ptr()) });
}

/// The admitter of a lane's gate, which is open.
struct Admitter {
    admitting: Admitting,
    /// Dropped after `admitting`.
    lane: LaneRef,
}

impl Admitter {
    /// Opens the gate for that many readers, and for itself. The caller holds the lane, with its own node at the head,
    /// and gives that away.
    fn open(lane: LaneRef, readers: u32) -> Self {
        lane.readers.open_as_admitter(readers);
        // Ordering: pairs with the fence in `look_again`.
        fence(Ordering::SeqCst);
        Self { admitting: Admitting(lane.ptr()), lane }
    }

    /// Admits all readers that need not wait, and leaves.
    fn go(mut self) {
        let mut last = NonNull::from(&self.lane.inline);
        for _ in 0..GROUP {
            if self.lane.is_closing() || self.lane.readers.is_full() {
                return;
            }
            match self.next(&mut last) {
                Next::Admitted => continue,
                Next::Stalled => break,
                Next::Writer | Next::None => {}
            }
            match self.admitting.end() {
                Ok(()) => return,
                Err(admitting) => self.admitting = admitting,
            }
        }
        let spare = self.lane.spare();
        callback::post(&spare, move || self.go());
    }

    /// Admits the first reader behind `last` that is not abandoned, and moves `last` past the abandoned ones.
    fn next(&self, last: &mut NonNull<Node>) -> Next {
        let chain = &self.lane.chain;
        while let Some((node, kind)) = chain.next(*last) {
            if kind != Kind::Read {
                return Next::Writer;
            }
            // SAFETY: the node is of `Kind::Read`, in a chain from which only this thread, the admitter, takes nodes
            // now.
            let vtable = unsafe { vtable(node) };
            // SAFETY: readers are inside, this thread is the admitter, and the node is still in the chain.
            if !unsafe { (vtable.begin_beside)(node) } {
                *last = node;
                continue;
            }
            if chain.take_behind(*last, Kind::Read).is_none() {
                return Next::Stalled;
            }
            // SAFETY: this thread took the node out of the chain, and has not admitted it yet.
            self.lane.settle_admitted(unsafe { node.as_ref() });
            self.lane.readers.count_beside();
            match vtable.admit {
                // SAFETY: the node begins a claim, is out of the chain, and `count_beside` has counted it in.
                Admit::Claim(admit) => unsafe { admit(node) },
                Admit::QueuedRead(read) => {
                    // SAFETY: the node is out of the chain, and still this thread's.
                    let urgent = unsafe { node.as_ref() }.urgent;
                    // SAFETY: `read` is of the node's own vtable, `count_beside` has counted it in, and this thread
                    // gives the node away here.
                    unsafe { Admitted::new(node, read) }.read_elsewhere(&self.lane, urgent);
                }
            }
            return Next::Admitted;
        }
        Next::None
    }
}

/// The next node behind the abandoned readers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Admitted,
    /// A producer that is half done: behind a reader, or right here.
    Stalled,
    /// A node that does not read.
    Writer,
    /// The end of the line.
    None,
}

/// The role, and a count of the gate. Given up when this is dropped; the lane outlives it.
struct Admitting(LanePtr);

impl Admitting {
    /// Gives the role up, and leaves; unless it was asked to look again.
    fn end(self) -> Result<(), Self> {
        // SAFETY: the admitter's reference, which is dropped after this value, keeps the lane.
        if !unsafe { self.0.get() }.readers.stop_admitting() {
            return Err(self);
        }
        // SAFETY: the role's own count owes this leave, and `forget` prevents another; the admitter's reference keeps
        // the lane.
        unsafe { readers::leave(self.0) };
        mem::forget(self);
        Ok(())
    }
}

impl Drop for Admitting {
    fn drop(&mut self) {
        // SAFETY: the admitter's reference, which is dropped after this value, keeps the lane.
        unsafe { self.0.get() }.readers.abandon_admitting();
        // SAFETY: the role's own count owes this leave, which `end` has not made; the admitter's reference keeps the
        // lane.
        unsafe { readers::leave(self.0) };
    }
}
