//! [`Tag`]: which source has pushed a node, while its scheduler records or replays.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use colored_record::{Source, SourceKind};

/// The lowest bits of the word: the kind of the source.
const KIND: u32 = 0xf;
/// No turn has pushed it.
const OUTSIDE: u32 = 1 << 4;
/// The source is the node's own, whatever pushes it.
const OWN: u32 = 1 << 5;

/// Written by the owner that may push the node, and read by the holder of the lane.
#[derive(Debug)]
pub(crate) struct Tag {
    word: AtomicU32,
    /// The task's number in its lane, from 1; 0 before its first turn there.
    task: AtomicU32,
    number: AtomicU64,
}

impl Tag {
    pub(crate) fn new() -> Self {
        let word = SourceKind::Stranger as u32 | OUTSIDE;
        Self { word: AtomicU32::new(word), task: AtomicU32::new(0), number: AtomicU64::new(0) }
    }

    /// The tag of a node that has this source whatever pushes it.
    pub(crate) fn of(source: Source) -> Self {
        let this = Self::new();
        this.set_own(source);
        this
    }

    /// The node is about to be pushed by this source, or from outside.
    pub(crate) fn set(&self, source: Option<Source>) {
        // Ordering: the chain, or the lock of what comes early, hands the node over.
        if self.word.load(Ordering::Relaxed) & OWN == 0 {
            let stranger = Source { kind: SourceKind::Stranger, number: 0 };
            let outside = if source.is_none() { OUTSIDE } else { 0 };
            self.write(source.unwrap_or(stranger), outside);
        }
    }

    fn write(&self, source: Source, flags: u32) {
        // Ordering: as in `set`.
        self.word.store(source.kind as u32 | flags, Ordering::Relaxed);
        self.number.store(source.number, Ordering::Relaxed);
    }

    pub(crate) fn source(&self) -> Source {
        // Ordering: as in `set`.
        let kind = (self.word.load(Ordering::Relaxed) & KIND) as u8;
        let kind = SourceKind::from_byte(kind).expect("`write` has written it");
        Source { kind, number: self.number.load(Ordering::Relaxed) }
    }

    /// Whether no turn has pushed it.
    pub(crate) fn is_from_outside(&self) -> bool {
        // Ordering: as in `set`.
        self.word.load(Ordering::Relaxed) & OUTSIDE != 0
    }

    /// The number of the task in its lane, if it has had a turn there.
    pub(crate) fn task(&self) -> Option<u32> {
        // Ordering: as in `set`.
        self.task.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(crate) fn set_task(&self, task: Option<u32>) {
        // Ordering: as in `set`.
        self.task.store(task.map_or(0, |task| task + 1), Ordering::Relaxed);
        if task.is_some() {
            // Ordering: as in `set`.
            let word = self.word.load(Ordering::Relaxed);
            self.word.store(word & !OWN, Ordering::Relaxed);
        }
    }

    /// The next push is by this source, whatever thread makes it.
    pub(crate) fn set_own(&self, source: Source) {
        self.write(source, OWN);
    }
}
