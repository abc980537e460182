//! Readers: any number of them run at once under a lane, and no writer runs meanwhile.
//!
//! The lane's chain counts the readers that are inside (`queue/chain/readers.rs`):
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
//! * When the turn of a queued reader comes, the holder **admits** it ([`admit`]), together with the readers right behind
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
//! A writer that has not queued yet may [look](super::try_take) at the lane for a moment. Readers that come meanwhile let
//! it go first: a hint, and only for a moment.

pub(in crate::kernel::lane) mod admit;
pub(in crate::kernel::lane) mod batch;
pub(crate) mod queued;

use crate::hooks::{self, Act};
use crate::kernel::lane::base::{Lane, LanePtr, ReadyLane};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::lane::try_take::{READERS_LOOKS, give_way};
use crate::kernel::queue::{Node, Pushed};
use crate::sync::spin_loop;
use std::ptr::NonNull;

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
    /// As for [`Chain::push`](crate::kernel::queue::Chain::push).
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
    /// As for [`Chain::try_take`](crate::kernel::queue::Chain::try_take), and something else keeps the lane alive during this
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
