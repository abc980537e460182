//! Stacks of `corosensei`, which keeps what Windows has to know about each.

use corosensei::stack::{DefaultStack, Stack, StackPointer, StackTebFields};
use std::io;
use std::ops::Range;

pub(super) struct Memory(DefaultStack);

impl Memory {
    pub(super) fn base(&self) -> StackPointer {
        self.0.base()
    }

    pub(super) fn limit(&self) -> StackPointer {
        self.0.limit()
    }

    /// Windows itself tells of an overflow, and does not say of which task.
    pub(super) fn guard(&self) -> Range<usize> {
        0..0
    }

    pub(super) fn teb_fields(&self) -> StackTebFields {
        self.0.teb_fields()
    }

    pub(super) fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.0.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }

    /// Windows grows a stack page by page, and has no way to shrink it.
    pub(super) fn discard(&self) {}
}

pub(super) struct Source;

impl Source {
    pub(super) const fn new() -> Self {
        Self
    }

    pub(super) fn make(&mut self, size: usize) -> io::Result<Memory> {
        DefaultStack::new(size).map(Memory)
    }
}
