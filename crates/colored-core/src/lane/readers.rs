//! Readers: any number of them at once, under a lane that nobody else runs meanwhile.
//!
//! While the gate is open the lane's own node is at the head of its chain, as during an inline
//! call, so the lane is held, by nobody in particular. The word `readers` counts those inside:
//!
//! | `readers` | own node at the head | |
//! |---|---|---|
//! | 0 | no | the lane is idle, queued or run; nobody reads |
//! | 0 | yes | an inline call, or the gate is about to open, or about to go |
//! | n > 0 | yes | the gate is open, and n readers are inside |
//!
//! * **Open**: who holds the lane, and has its own node at the head, sets the word from 0 to n and
//!   lets go of the lane without giving it to anybody. n readers owe a leave.
//! * **Enter**: from n > 0 to n + 1, and only while the lane's own node is also the last of the
//!   chain.
//! * **Leave**: from n to n - 1. Who leaves 0 behind is the lane's holder from then on: takes the
//!   node out, and hands on what is behind it.
//!
//! A leave takes no count but its own: whoever is let in is counted before it is told, and the admitter is
//! counted as long as it has the role.
//!
//! So the right to run the lane has at most one owner at any time, as ever: while the gate is open
//! it is nobody's, and the one exchange that leaves 0 makes it somebody's again (G1).
//!
//! # Order, and no starvation
//!
//! A writer that comes while readers are inside stands behind the lane's own node. From then on
//! nobody enters: later readers see that another node is the last one, and stand behind the writer.
//! What a reader must come after (G2) was pushed before it looked, so it is either done, or the
//! reader sees that the lane's own node is not the last one. When a reader's turn comes, those
//! right behind it go in with it, up to a bound.
//!
//! A writer that does not stand in line yet, but [looks](super::alone) for a moment, is let go first by
//! those who come: a hint, and only for a moment.
//!
//! An admitter lets in the readers that had to wait ([`admit`]); two more bits of the word say whether there is one.

pub(in crate::lane) mod admit;
pub(in crate::lane) mod batch;
pub(crate) mod queued;

use crate::lane::after::After;
use crate::lane::alone::{READERS_LOOKS, give_way};
use crate::lane::current::Hold;
use crate::lane::{Lane, LanePtr, LaneRef};
use crate::sync::{Ordering, spin_loop};
use std::ptr::NonNull;

/// There is an admitter, who is counted too.
const ADMITTER: u32 = 1 << 31;
/// It was asked to look at the line again.
const ASKED: u32 = 1 << 30;
/// Those inside.
const COUNT: u32 = ASKED - 1;
/// How many there can be: whoever comes then waits. Not exact, so it is far below what can be counted.
const MOST: u32 = 1 << 29;

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

/// Enters, and may have opened the gate for it. False if that cannot be now: somebody waits, or somebody
/// who does not read has the lane, and still has it after some looks. A gate that is about to open, or to
/// go, is so within some ten instructions.
#[inline]
pub(in crate::lane) fn try_enter(lane: &LaneRef) -> bool {
    let own = NonNull::from(&lane.inline);
    give_way(lane);
    for _ in 0..=READERS_LOOKS {
        let last = lane.chain.last();
        if last.is_null() {
            // SAFETY: the node lives in the lane, and is reset whenever it leaves the chain.
            if unsafe { lane.chain.try_claim(own) } {
                // Ordering: Release hands what this thread has acquired with the lane to those who
                // enter.
                lane.readers.store(1, Ordering::Release);
                if !std::ptr::eq(lane.chain.last(), own.as_ptr()) {
                    look_for_who_came(lane);
                }
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

/// This thread has opened the gate, and somebody stands in line already, perhaps since before. A thread may lose its core
/// between the claim and the opening; a reader that came meanwhile would wait for all that this one does.
#[cold]
fn look_for_who_came(lane: &LaneRef) {
    admit::look_again_soon(lane.clone());
}

/// Counts one more, if there are some.
#[inline]
fn count_in(lane: &Lane) -> bool {
    // Ordering: hint only, the exchange decides.
    let mut readers = lane.readers.load(Ordering::Relaxed);
    while (1..MOST).contains(&(readers & COUNT)) {
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

/// Opens the gate for so many, and for an admitter, who is the caller. It holds the lane, with its own
/// node at the head, and gives that away.
pub(in crate::lane) fn open(lane: &Lane, readers: u32) {
    // Ordering: as in `try_enter`.
    lane.readers.store((readers + 1) | ADMITTER, Ordering::Release);
}

/// Whether somebody is inside. A hint.
pub(in crate::lane) fn is_open(lane: &Lane) -> bool {
    // Ordering: a hint.
    lane.readers.load(Ordering::Relaxed) != 0
}

/// Whether no more can be counted.
pub(in crate::lane) fn is_full(lane: &Lane) -> bool {
    // Ordering: only the order of magnitude matters.
    lane.readers.load(Ordering::Relaxed) & COUNT >= MOST
}

/// Counts one more. The caller is inside, and has looked whether it [is full](is_full).
pub(in crate::lane) fn count_beside(lane: &Lane) {
    // Ordering: whoever is counted is told later, by this thread. An exchange breaks no chain from a
    // Release to an Acquire.
    lane.readers.fetch_add(1, Ordering::Relaxed);
}

/// Makes the caller the admitter, and counts it, if the gate is open and there is none; asks the one
/// there is to look again otherwise.
pub(in crate::lane) fn become_admitter(lane: &Lane) -> bool {
    // Ordering: the exchange decides. That 0 is no older than the gate's last opening is by the fence
    // before.
    let mut word = lane.readers.load(Ordering::Relaxed);
    while (1..MOST).contains(&(word & COUNT)) {
        let is_free = word & ADMITTER == 0;
        let next = if is_free { (word + 1) | ADMITTER } else { word | ASKED };
        // Ordering: Release hands this thread's place in the line to the admitter that is asked, also
        // if it has been asked before; Acquire takes the chain from the last admitter.
        match lane.readers.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return is_free,
            Err(now) => word = now,
        }
    }
    false
}

/// Gives the role up; false if the admitter was asked to look again, which it must do now. It stays
/// counted.
pub(in crate::lane) fn stop_admitting(lane: &Lane) -> bool {
    // Ordering: the exchange decides.
    let mut word = lane.readers.load(Ordering::Relaxed);
    loop {
        let asked = word & ASKED != 0;
        let next = word & !if asked { ASKED } else { ADMITTER };
        // Ordering: Acquire takes the place in the line of who asked; Release hands the chain to
        // the next admitter.
        match lane.readers.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return !asked,
            Err(now) => word = now,
        }
    }
}

/// Gives the role up, whoever asks. Then what waits, waits for the last one inside.
pub(in crate::lane) fn abandon_admitting(lane: &Lane) {
    // Ordering: as in `stop_admitting`.
    lane.readers.fetch_and(!(ADMITTER | ASKED), Ordering::Release);
}

/// Whether somebody is counted beside the admitter, if there is one.
#[cfg(all(test, colored_loom))]
pub(crate) fn has_readers(lane: &Lane) -> bool {
    // Ordering: who was told that it is inside sees itself counted, or what came later.
    let word = lane.readers.load(Ordering::Relaxed);
    word & COUNT > u32::from(word & ADMITTER != 0)
}

/// Leaves. The last one takes the gate away and hands the lane on.
///
/// # Safety
///
/// The caller owes the leave, and keeps the lane alive up to the end of this call.
#[inline]
pub(in crate::lane) unsafe fn leave(ptr: LanePtr) {
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
