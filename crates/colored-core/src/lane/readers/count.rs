//! The word that counts the readers inside a lane; see [`readers`](crate::lane::readers).

use crate::sync::{AtomicU32, Ordering};

/// There is an admitter, which is counted too.
const ADMITTER: u32 = 1 << 31;
/// The admitter was asked to look at the line again.
const ASKED: u32 = 1 << 30;
/// The readers inside, and the admitter.
const COUNT: u32 = ASKED - 1;
/// How many there can be: a reader that comes then waits. Not exact, so it is far below what can be counted.
const MOST: u32 = 1 << 29;

/// The readers inside, and whether there is an admitter among them.
#[derive(Debug)]
pub(in crate::lane) struct ReaderCount(AtomicU32);

impl ReaderCount {
    pub(in crate::lane) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Opens the gate for that many readers. The caller holds the lane, with its own node at the head, and gives that
    /// away.
    pub(in crate::lane) fn open(&self, readers: u32) {
        // Ordering: Release hands what this thread has acquired with the lane to the readers that enter.
        self.0.store(readers, Ordering::Release);
    }

    /// As [`open`](Self::open), also for the caller, which becomes the admitter.
    pub(in crate::lane) fn open_as_admitter(&self, readers: u32) {
        // Ordering: as in `open`.
        self.0.store((readers + 1) | ADMITTER, Ordering::Release);
    }

    /// Counts one more reader, if some are counted already.
    #[inline]
    pub(in crate::lane) fn enter(&self) -> bool {
        // Ordering: hint only, the exchange decides.
        let mut readers = self.0.load(Ordering::Relaxed);
        while (1..MOST).contains(&(readers & COUNT)) {
            // Ordering: Acquire pairs with the Release of the thread that opened the gate. The gate is still open: the
            // word counts other readers, so this one owes a leave too.
            match self.0.compare_exchange_weak(
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

    /// Counts one more reader. The caller is inside, and has looked whether the lane [is full](Self::is_full).
    pub(in crate::lane) fn count_beside(&self) {
        // Ordering: this thread tells the reader later that it is counted. An exchange breaks no chain from a Release
        // to an Acquire.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One reader leaves; true if it was the last, and the caller holds the lane now.
    #[inline]
    pub(in crate::lane) fn leave(&self) -> bool {
        // Ordering: Release orders this reader's accesses before the next writer, which is reached through the last
        // reader's Acquire.
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether a reader is inside. A hint.
    pub(in crate::lane) fn is_open(&self) -> bool {
        // Ordering: a hint.
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Whether no more readers can be counted.
    pub(in crate::lane) fn is_full(&self) -> bool {
        // Ordering: only the order of magnitude matters.
        self.0.load(Ordering::Relaxed) & COUNT >= MOST
    }

    /// Makes the caller the admitter and counts it, if the gate is open and there is no admitter. Otherwise asks the
    /// present admitter to look again.
    pub(in crate::lane) fn become_admitter(&self) -> bool {
        // Ordering: the exchange decides. The fence before ensures that a 0 read here is no older than the gate's last
        // opening.
        let mut word = self.0.load(Ordering::Relaxed);
        while (1..MOST).contains(&(word & COUNT)) {
            let is_free = word & ADMITTER == 0;
            let next = if is_free { (word + 1) | ADMITTER } else { word | ASKED };
            // Ordering: Release hands this thread's place in the line to the admitter that is asked, also if it has
            // been asked before. Acquire takes the chain from the last admitter.
            match self.0.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return is_free,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Gives the role up. False if the admitter was asked to look again, which it must do now. It stays counted.
    pub(in crate::lane) fn stop_admitting(&self) -> bool {
        // Ordering: the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let asked = word & ASKED != 0;
            let next = word & !if asked { ASKED } else { ADMITTER };
            // Ordering: Acquire takes the asking thread's place in the line; Release hands the chain to the next
            // admitter.
            match self.0.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return !asked,
                Err(now) => word = now,
            }
        }
    }

    /// Gives the role up, even if the admitter was asked to look again. Then all that waits, waits until the last
    /// reader leaves.
    pub(in crate::lane) fn abandon_admitting(&self) {
        // Ordering: as in `stop_admitting`.
        self.0.fetch_and(!(ADMITTER | ASKED), Ordering::Release);
    }

    /// Whether a reader is counted beside the admitter, if there is one.
    #[cfg(all(test, colored_loom))]
    pub(in crate::lane) fn has_readers(&self) -> bool {
        // Ordering: a reader that was told that it is inside sees itself counted, or a later value.
        let word = self.0.load(Ordering::Relaxed);
        word & COUNT > u32::from(word & ADMITTER != 0)
    }
}
