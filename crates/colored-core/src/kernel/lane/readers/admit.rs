//! Admission of readers that had to wait.
//!
//! When the turn of a node of [`Kind::Read`] comes, the holder takes it out together with the nodes of this kind right
//! behind it, as far as they are linked. It counts them in by one exchange, and sends each on: a claim belongs to its
//! behavior, and the other readers run in a [batch]. If nothing is behind them, readers that come later enter at once.
//!
//! A closure that was abandoned in line is dropped before the exchange, while this thread still holds the lane. Its reader
//! leaves right after the exchange: nothing is scheduled for it, so the lane does not wait for another worker.

use crate::hooks;
use crate::kernel::lane::base::AfterTurn;
use crate::kernel::lane::held::Turn;
use crate::kernel::lane::readers::batch::{self, AdmittedRead, Read};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::queue::{Admission, Chain, Kind, Node};
use std::ptr::NonNull;

/// How many readers are admitted together at most: some 100 µs of work for the holder.
const MOST: usize = 1024;

/// The head of every node that waits to read: a queued read or a claim.
#[derive(Debug)]
#[repr(C)]
pub(in crate::kernel::lane) struct Waiting {
    node: Node,
    reader: &'static Reader,
}

/// What is done with the node of a reader.
#[derive(Debug)]
pub(in crate::kernel::lane) enum Reader {
    /// A claim, whose behavior leaves when it has run. The function takes the node of an admitted claim.
    Claim(unsafe fn(NonNull<Node>)),
    /// A queued read. `begin` takes the closure out of the reach of its future, or drops it there: if it was abandoned, or
    /// if the second argument says that the runtime shuts down. The caller holds the lane. It may be called again.
    /// Returns whether there is something to read. `read` takes the node of an admitted read.
    Queued { begin: unsafe fn(NonNull<Node>, bool) -> bool, read: Read },
}

/// A node whose reader has begun.
struct Begun {
    node: NonNull<Node>,
    /// It has nothing to read.
    is_abandoned: bool,
}

impl Waiting {
    pub(in crate::kernel::lane) fn new(kind: Kind, urgent: bool, reader: &'static Reader) -> Self {
        Self { node: Node::new(kind, 0).urged(urgent), reader }
    }

    pub(in crate::kernel::lane) fn node(&self) -> &Node {
        &self.node
    }

    pub(in crate::kernel::lane) fn is_urgent(&self) -> bool {
        self.node.urgent
    }

    /// The node is not in a chain yet.
    pub(in crate::kernel::lane) fn urge(&mut self, urgent: bool) {
        self.node.urgent = urgent;
    }
}

/// # Safety
///
/// `node` is of [`Kind::Read`], and alive.
unsafe fn reader(node: NonNull<Node>) -> &'static Reader {
    // SAFETY: the caller promises that it is of `Kind::Read`, which begins a `Waiting`, and alive.
    unsafe { node.cast::<Waiting>().as_ref() }.reader
}

/// Whether it is a behavior's claim that waits to read.
///
/// # Safety
///
/// `node` is of [`Kind::Read`], and alive.
pub(in crate::kernel::lane) unsafe fn is_claim(node: NonNull<Node>) -> bool {
    // SAFETY: the caller promises the same.
    matches!(unsafe { reader(node) }, Reader::Claim(_))
}

/// The turn of a reader: admits it, and the readers right behind it.
#[cold]
pub(in crate::kernel::lane) fn let_in(turn: &Turn<'_>) -> AfterTurn {
    debug_assert_eq!(turn.head.kind, Kind::Read);
    let (lane, hold) = (turn.lane(), turn.hold);
    hooks::taken(&lane);
    let mut begun = vec![Begun { node: turn.head.node, is_abandoned: false }];
    loop {
        // SAFETY: this thread holds the lane, and the nodes are its first ones, of `Kind::Read`.
        let behind = unsafe { begin_run(&lane.chain, &mut begun, turn.closing) };
        if behind.is_none() {
            // The last reader may leave the lane idle.
            lane.ensure_found(turn.closing);
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
