//! Readers of a chain: any number of them are inside at once, and no thread holds the chain meanwhile.
//!
//! ```text
//!   tail == readers(n), n > 0        n readers are inside, and nothing waits; there is no head
//!   head -> a -> b <- tail           with a count n > 0 beside it: `a` waits for n readers
//! ```
//!
//! While nothing waits, the tail itself counts the readers, as an odd number in place of an address. So a reader that
//! comes decides by one exchange: it is inside, or it is in line behind a node. It never stands behind readers only.
//!
//! The push that finds readers takes their number out of the tail. Its node is the head from then on, and the readers
//! are counted in a word of their own, the [`ReaderCount`], which belongs to the lane. The pusher adds the number after
//! it has set the head, and readers may have left before: for a moment the word may be negative. The exchange that makes
//! it 0, of the last reader or of the pusher, makes its thread the holder.
//!
//! # Why it is sound
//!
//! * A reader that is inside is counted either in the tail or in the word. A tail that counts becomes a node's address by
//!   a push, and an address does not become a count before all readers have left: only the holder changes it so.
//! * Accesses of a reader are released by its leave. The next holder acquires the tail and the word, and every change of
//!   either in between is a read-modify-write, which continues the release.

use super::{Chain, Node};
use crate::sync::{AtomicU32, Ordering};
use std::ptr::{self, NonNull};

/// What the tail of a chain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// There is no node and no reader.
    Idle,
    /// So many readers are inside, at least one.
    Readers(usize),
    /// The last node.
    Node(*const Node),
}

impl Tail {
    #[inline]
    pub(super) fn of(tail: *mut Node) -> Self {
        let word = tail.addr();
        match word {
            0 => Self::Idle,
            _ if word & 1 == 1 => Self::Readers(word >> 1),
            _ => Self::Node(tail),
        }
    }
}

/// The result of letting readers in.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// They are inside.
    Done,
    /// A node is behind them, which the caller has not seen.
    More,
    /// A producer behind them is half done.
    Stalled,
}

/// The tail that counts so many readers.
#[inline]
fn counting(readers: usize) -> *mut Node {
    if readers == 0 { ptr::null_mut() } else { ptr::without_provenance_mut(readers << 1 | 1) }
}

impl Chain {
    /// The tail. Any thread may call this; may be out of date.
    #[inline]
    pub(crate) fn tail(&self) -> Tail {
        // Ordering: a hint. An exchange decides.
        Tail::of(self.tail.load(Ordering::Relaxed))
    }

    /// A reader enters, if nothing waits and no thread holds the chain. Otherwise returns the last node.
    #[inline]
    pub(crate) fn enter(&self) -> Result<(), *const Node> {
        // Ordering: a hint, the exchange decides.
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            let readers = match Tail::of(tail) {
                Tail::Idle => 0,
                Tail::Readers(readers) => readers,
                Tail::Node(last) => return Err(last),
            };
            // Ordering: Acquire pairs with the Release of the last holder.
            match self.tail.compare_exchange_weak(
                tail,
                counting(readers + 1),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(now) => tail = now,
            }
        }
    }

    /// A reader enters, true; or its node is added behind the others, false. After false neither the chain nor the node
    /// may be touched any more.
    ///
    /// # Safety
    ///
    /// As for [`Chain::try_take`].
    pub(crate) unsafe fn enter_or_push(&self, node: NonNull<Node>) -> bool {
        loop {
            let Err(last) = self.enter() else { return true };
            // Ordering: as for the swap in `push`; nothing is read after a failure.
            let pushed = self.tail.compare_exchange(
                last.cast_mut(),
                node.as_ptr(),
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if let Ok(previous) = pushed {
                // SAFETY: the exchange found this node as the tail, and the caller gives the next one.
                unsafe { Self::link(previous, node) };
                return false;
            }
        }
    }

    /// Takes the nodes from the head to `last` out, and lets `readers` readers in. `behind` is the node behind `last`, if
    /// the caller has seen one. Only the holder calls this, and is not the holder any more after [`Admission::Done`];
    /// otherwise nothing changes.
    ///
    /// `ahead` is the count of this chain, which is 0, and `readers` is not.
    pub(crate) fn admit(
        &self,
        last: NonNull<Node>,
        behind: Option<NonNull<Node>>,
        readers: usize,
        ahead: &ReaderCount,
    ) -> Admission {
        if let Some(behind) = behind {
            self.set_head(behind.as_ptr());
            ahead.set(readers);
            return Admission::Done;
        }
        // Ordering: Release hands what the holder did to the readers that enter, and to the next holder. After a failure
        // only the link is read, which is acquired on its own.
        let admitted = self.tail.compare_exchange(
            last.as_ptr(),
            counting(readers),
            Ordering::Release,
            Ordering::Relaxed,
        );
        match admitted {
            Ok(_) => Admission::Done,
            Err(_) if Self::await_next(last).is_some() => Admission::More,
            Err(_) => Admission::Stalled,
        }
    }

    /// A reader leaves. True if it is the last one and a node waits: then the caller is the holder.
    ///
    /// `ahead` is the count of this chain.
    #[inline]
    pub(crate) fn leave(&self, ahead: &ReaderCount) -> bool {
        // Ordering: a hint, the exchange decides. An address that is read here is no older than this reader.
        let mut tail = self.tail.load(Ordering::Relaxed);
        while let Tail::Readers(readers) = Tail::of(tail) {
            // Ordering: Release orders this reader's accesses before the next holder.
            match self.tail.compare_exchange_weak(
                tail,
                counting(readers - 1),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return false,
                Err(now) => tail = now,
            }
        }
        ahead.leave()
    }
}

/// How many readers are inside that the node at the head of a chain waits for.
#[derive(Debug)]
pub(crate) struct ReaderCount(AtomicU32);

impl ReaderCount {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The readers that the push of the first node has found. True if they have left: then the caller is the holder.
    #[cold]
    pub(crate) fn add(&self, readers: usize) -> bool {
        let readers = narrow(readers);
        // Ordering: Release hands the head, and the readers that have left by the tail, to the reader that leaves last.
        // Acquire takes the readers that have left by this word.
        self.0.fetch_add(readers, Ordering::AcqRel) == readers.wrapping_neg()
    }

    fn set(&self, readers: usize) {
        // Ordering: hands the chain to the reader that leaves last.
        self.0.store(narrow(readers), Ordering::Release);
    }

    fn leave(&self) -> bool {
        // Ordering: Release orders this reader's accesses before the next holder, which is the reader that leaves last:
        // it acquires them, and the chain.
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether readers are inside, and the head that waits for them is set. The caller keeps one of them inside.
    pub(crate) fn has_head(&self) -> bool {
        // Ordering: Acquire pairs with the thread that has set the head. The word is negative before that.
        self.0.load(Ordering::Acquire).cast_signed() > 0
    }
}

/// Each reader inside has a thread's stack or an allocation.
fn narrow(readers: usize) -> u32 {
    debug_assert!(readers < 1 << 31, "fewer than 2³¹ readers");
    readers as u32
}
