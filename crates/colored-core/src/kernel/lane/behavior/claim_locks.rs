//! The order in which behaviors that want several lanes are queued on them.
//!
//! A behavior ([`behavior`](crate::kernel::lane::behavior)) puts one node on each of its lanes, and waits until all of them are
//! at the head. If two behaviors could be queued on two common lanes in different orders, each would wait for the other
//! for ever. So the pushes of one behavior are one step for all others that have a lane in common: the behavior takes
//! the locks of all its lanes first, in the order of the locks' addresses, and gives them back when the last node is in
//! its chain. No thread waits for a lane under a lock, and no foreign code runs there.
//!
//! This is two-phase locking, of the enqueueing only, as in the queues of Behaviour-Oriented Concurrency (Cheeseman and
//! others, OOPSLA 2023). Hence one order holds for all lanes. Say that one behavior comes before another if it does so
//! on some lane. Then it gave that lane's lock back before the other took it, and so before the other had all of its
//! locks. *The moment at which a behavior has all its locks* grows along every such pair, and a cycle would have to
//! lead back to an earlier one.
//!
//! A node that wants only one lane waits for no other lane, and so is part of no cycle: tasks, posts, calls, and
//! behaviors over one lane take no lock. A thread that takes idle lanes at once, or gives up, takes none either: it
//! never waits.

use crate::sync::Mutex;
use crossbeam_utils::CachePadded;
use std::ptr;

/// How many locks a scheduler has. The number is arbitrary: two behaviors without a common lane collide at one in so
/// many.
#[cfg(not(colored_loom))]
const LOCKS: usize = 64;
#[cfg(colored_loom)]
const LOCKS: usize = 2;

/// The locks of one scheduler.
#[derive(Debug)]
pub(crate) struct ClaimLocks([CachePadded<Mutex<()>>; LOCKS]);

impl Default for ClaimLocks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| CachePadded::default()))
    }
}

impl ClaimLocks {
    /// That of the lanes of a color with this number.
    pub(crate) fn of(&self, lane: u64) -> &Mutex<()> {
        // The bits in the middle of the product depend on most bits of the color.
        let mixed = u128::from(lane) * 0x9e37_79b9_7f4a_7c15;
        &self.0[(mixed >> 61) as usize % LOCKS]
    }
}

/// Runs `enqueue`, which puts nodes on several lanes, as one step for all behaviors that share a lane. These are the lanes'
/// locks.
pub(crate) fn as_one_step<'l, R, L>(locks: L, enqueue: impl FnOnce() -> R) -> R
where
    L: ExactSizeIterator<Item = &'l Mutex<()>> + Clone,
{
    if locks.len() < 2 { enqueue() } else { lock_above(ptr::null(), locks, enqueue) }
}

/// Takes the locks behind `below`, one by one.
fn lock_above<'l, R, L>(below: *const Mutex<()>, locks: L, enqueue: impl FnOnce() -> R) -> R
where
    L: Iterator<Item = &'l Mutex<()>> + Clone,
{
    let above = locks.clone().filter(|lock| ptr::from_ref(*lock) > below);
    let Some(lock) = above.min_by_key(|lock| ptr::from_ref(*lock)) else { return enqueue() };
    let _guard = lock.lock();
    lock_above(lock, locks, enqueue)
}
