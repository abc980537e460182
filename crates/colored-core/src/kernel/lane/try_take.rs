//! Taking an idle lane exclusively, by the lane's own node: an inline call, or a lane of a set.

use crate::kernel::lane::base::Lane;
use crate::kernel::queue::Tail;
use crate::sync::{Ordering, spin_loop};
use std::ptr::{self, NonNull};

/// How often a thread looks again at a lane that an inline call or readers have, some 5 µs in all: about the cost of
/// queueing, including the others that come meanwhile. Of 16, 32, 64 and 128 the last was the best for reads of a
/// microsecond with a write among 20, and none was better for transfers between two accounts.
#[cfg(not(colored_loom))]
const LOOKS: u32 = 128;
#[cfg(colored_loom)]
const LOOKS: u32 = 1;

/// How often a reader looks whether such a thread has gone, and then how often at the lane itself. Less often than
/// `LOOKS`: if two threads each have the lane that the other wants, one gives way before both queue.
#[cfg(not(colored_loom))]
pub(crate) const READERS_LOOKS: u32 = LOOKS / 2;
#[cfg(colored_loom)]
pub(crate) const READERS_LOOKS: u32 = 1;

/// True if the lane was idle: then it is the caller's, with its own node at the head.
#[inline]
pub(crate) fn try_take(lane: &Lane) -> bool {
    // SAFETY: the node lives in the lane, and is reset whenever it leaves the chain.
    unsafe { lane.chain.try_take(NonNull::from(&lane.inline)) }
}

/// As [`try_take`], again and again for a moment, while only an inline call, another set's closure, or readers have
/// the lane: these are soon over as a rule. A thread that queues instead forces all to queue that come
/// before the lane has been run empty. If it wants other lanes too, it keeps these lanes until a worker comes to this
/// one.
///
/// No thread spins at a lane that others are queued on, so few of the threads that contend for it spin.
#[cold]
pub(crate) fn try_take_soon(lane: &Lane) -> bool {
    let mut wish = None;
    for _ in 0..LOOKS {
        match lane.chain.tail() {
            Tail::Idle if try_take(lane) => return true,
            Tail::Idle => {}
            Tail::Readers(_) => {
                wish.get_or_insert_with(|| Wish::make(lane));
            }
            Tail::Node(last) if ptr::eq(last, &raw const lane.inline) => {}
            Tail::Node(_) => return false,
        }
        spin_loop();
    }
    false
}

/// Lets a thread that looks at the lane [again and again](try_take_soon) go first, if that is soon.
#[inline]
pub(crate) fn give_way(lane: &Lane) {
    for _ in 0..READERS_LOOKS {
        // Ordering: a hint.
        if !lane.wished.load(Ordering::Relaxed) {
            return;
        }
        spin_loop();
    }
}

/// Asks readers to stay out for a moment, until it is dropped: where a reader always comes before the last one goes, no
/// writer would ever find the lane idle. If another wish ends, this one ends too.
struct Wish<'a>(&'a Lane);

impl<'a> Wish<'a> {
    fn make(lane: &'a Lane) -> Self {
        // Ordering: a hint.
        lane.wished.store(true, Ordering::Relaxed);
        Self(lane)
    }
}

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        // Ordering: a hint.
        self.0.wished.store(false, Ordering::Relaxed);
    }
}
