//! The lines of the caches, and which cores have them.

use std::collections::HashMap;

const LINE: usize = 64;

/// A set of cores.
#[derive(Clone, Copy, Debug, Default)]
struct Cores([u64; 3]);

impl Cores {
    fn of(core: usize) -> Self {
        let mut one = Self::default();
        one.add(core);
        one
    }

    fn add(&mut self, core: usize) {
        self.0[core / 64] |= 1 << (core % 64);
    }

    fn has(&self, core: usize) -> bool {
        self.0[core / 64] & (1 << (core % 64)) != 0
    }
}

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    has: Cores,
    /// The core that may write it.
    writer: Option<usize>,
    /// More than one core has used it.
    shared: bool,
    /// When its last move ends.
    free_at: u64,
}

/// How an access ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Came {
    /// The core had the line.
    Own,
    /// The line has come from another core: from when, until when.
    Moved(u64, u64),
}

impl Line {
    fn of(core: usize) -> Self {
        Self { has: Cores::of(core), writer: Some(core), shared: false, free_at: 0 }
    }

    /// The core reads it.
    pub(super) fn read(&mut self, core: usize, now: u64, cost: u64) -> Came {
        if self.has.has(core) {
            return Came::Own;
        }
        self.shared = true;
        let start = now.max(self.free_at);
        // The caches serve several readers at once, unless one core has written.
        if self.writer.take().is_some() {
            self.free_at = start + cost;
        }
        self.has.add(core);
        Came::Moved(start, start + cost)
    }

    /// The core writes it, for so long beside the move.
    pub(super) fn write(&mut self, core: usize, now: u64, cost: u64, holds: u64) -> Came {
        if self.writer == Some(core) {
            return Came::Own;
        }
        self.shared |= !self.has.has(core) || self.writer.is_none();
        let start = now.max(self.free_at);
        self.free_at = start + cost + holds;
        (self.has, self.writer) = (Cores::of(core), Some(core));
        Came::Moved(start, start + cost)
    }
}

#[derive(Debug, Default)]
pub(super) struct Lines(HashMap<usize, Line>);

impl Lines {
    /// Whether another core has used the line too.
    pub(super) fn is_shared(&self, address: usize, core: usize) -> bool {
        self.0.get(&(address / LINE)).is_some_and(|line| line.shared || !line.has.has(core))
    }

    pub(super) fn line(&mut self, address: usize, core: usize) -> &mut Line {
        self.0.entry(address / LINE).or_insert_with(|| Line::of(core))
    }
}
