//! Readers: any number of them run at once under a lane, and no writer runs meanwhile.
//!
//! While the gate is open the lane's own node is at the head of its chain, as during an inline call. So the lane is
//! held, but no single thread holds it. The word `readers` counts the readers inside:
//!
//! | `readers` | own node at the head | |
//! |---|---|---|
//! | 0 | no | the lane is idle, queued or run; no reader is inside |
//! | 0 | yes | an inline call, or the gate is about to open or to close |
//! | n > 0 | yes | the gate is open, and n readers are inside |
//!
//! * **Open**: a holder of the lane whose own node is at the head sets the word from 0 to n, and lets go of the lane
//!   without giving it to another thread. The n readers owe a leave each.
//! * **Enter**: from n > 0 to n + 1, and only while the lane's own node is also the last of the
//!   chain.
//! * **Leave**: from n to n - 1. The reader that leaves 0 behind is the lane's holder from then on: it takes the node
//!   out, and hands on the nodes behind it.
//!
//! A leave takes no count but its own: a reader is counted before it is woken, and the admitter is counted as long as
//! it has the role.
//!
//! So the right to run the lane has at most one owner at any time: while the gate is open no thread has it, and the one
//! exchange that leaves 0 gives it to one thread again (G1).
//!
//! # Order, and no starvation
//!
//! A writer that comes while readers are inside is queued behind the lane's own node. From then on no reader enters:
//! later readers see that another node is the last one, and queue behind the writer. A node that a reader must come
//! after (G2) was pushed before the reader looked. So either it is done, or the reader sees that the lane's own node is
//! not the last one. When a reader's turn comes, the readers right behind it go in with it, up to a bound.
//!
//! A writer that has not queued yet may [look](super::try_take) at the lane for a moment. Readers that come meanwhile let
//! it go first: a hint, and only for a moment.
//!
//! The admitter admits the readers that had to wait ([`admit`]). Two more bits of the word say whether there is one,
//! and whether it was asked to look again.

pub(in crate::lane) mod admit;
pub(in crate::lane) mod batch;
pub(in crate::lane) mod count;
pub(crate) mod queued;
use crate::lane::current::Hold;
use crate::lane::try_take::{READERS_LOOKS, give_way};
use crate::lane::{LanePtr, LaneRef};
use crate::sync::spin_loop;
use std::ptr::NonNull;

/// Runs `f` beside other readers, on this thread. Gives it back if a writer holds the lane, or if something waits.
///
/// # Panics
///
/// If `f` does.
#[inline]
pub(crate) fn read_inline<F: FnOnce() -> R, R>(lane: &LaneRef, f: F) -> Result<R, F> {
    if !try_enter(lane) {
        return Err(f);
    }
    // SAFETY: this thread has entered, and `lane` outlives the guard.
    let _inside = unsafe { Inside::new(lane.ptr()) };
    Ok(f())
}

/// Enters, and opens the gate for that if need be. False if this thread cannot enter now: something waits, or a writer
/// has the lane and still has it after some looks. A gate that is about to open or to close does so within some ten
/// instructions.
#[inline]
pub(in crate::lane) fn try_enter(lane: &LaneRef) -> bool {
    let own = NonNull::from(&lane.inline);
    give_way(lane);
    for _ in 0..=READERS_LOOKS {
        let last = lane.chain.last();
        if last.is_null() {
            // SAFETY: the node lives in the lane, and is reset whenever it leaves the chain.
            if unsafe { lane.chain.try_claim(own) } {
                lane.readers.open(1);
                if !std::ptr::eq(lane.chain.last(), own.as_ptr()) {
                    look_for_new_nodes(lane);
                }
                return true;
            }
        } else if !std::ptr::eq(last, own.as_ptr()) {
            return false;
        } else if lane.readers.enter() {
            return true;
        }
        spin_loop();
    }
    false
}

/// This thread has opened the gate, and a node is in the line already, perhaps since before. A thread may lose its core
/// between the claim and the opening; a reader that came meanwhile would wait for all that this one does.
#[cold]
fn look_for_new_nodes(lane: &LaneRef) {
    admit::look_again_soon(lane.clone());
}

/// Whether a reader is counted beside the admitter, if there is one.
#[cfg(all(test, colored_loom))]
pub(crate) fn has_readers(lane: &LaneRef) -> bool {
    lane.readers.has_readers()
}

/// Leaves. The last one closes the gate and hands the lane on.
///
/// # Safety
///
/// The caller owes the leave, and keeps the lane alive up to the end of this call.
#[inline]
pub(in crate::lane) unsafe fn leave(ptr: LanePtr) {
    // SAFETY: the caller keeps the lane alive up to the end of this call.
    let lane = unsafe { ptr.get() };
    if lane.readers.leave() {
        // SAFETY: no reader is inside any more, so the lane is this thread's. The caller keeps it alive.
        let hold = unsafe { Hold::begin(ptr) };
        lane.record_idle();
        hold.lane().ensure_found(lane.is_closing());
        // SAFETY: the own node is at the head, the waiting tasks are known, and the caller keeps the lane alive.
        unsafe { hold.end_inline() };
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
