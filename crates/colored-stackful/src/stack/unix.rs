//! Stacks in large mappings, each with a guard below it.
//!
//! From Linux 6.13 on, `MADV_GUARD_INSTALL` marks the guards inside of one mapping. Elsewhere the pages of a guard are
//! protected, which makes two mappings of each stack, and the system limits their number: on Linux to 65,530 for a process
//! (`vm.max_map_count`), which is enough for some 32,000 stacks.

use super::{guard, refusal};
use corosensei::stack::StackPointer;
use std::io;
use std::ops::Range;
use std::ptr;

/// The bytes of a guard. Code in Rust touches each page of its frames in order, so a page would do; code in C may skip
/// some.
const GUARD: usize = 64 << 10;

/// A mapping has about so many bytes.
const MAPPING: usize = 64 << 20;

/// A part of a mapping: a guard, and a stack above it. It is never unmapped.
pub(super) struct Memory {
    /// The lowest address of the guard.
    limit: usize,
    /// The bytes of the stack.
    size: usize,
}

impl Memory {
    pub(super) fn base(&self) -> StackPointer {
        StackPointer::new(self.limit + GUARD + self.size).expect("no mapping ends at 0")
    }

    pub(super) fn limit(&self) -> StackPointer {
        StackPointer::new(self.limit).expect("no mapping begins at 0")
    }

    pub(super) fn guard(&self) -> Range<usize> {
        self.limit..self.limit + GUARD
    }

    /// Gives the memory back to the system. The next access finds zeros.
    pub(super) fn discard(&self) {
        let start = ptr::with_exposed_provenance_mut::<libc::c_void>(self.limit + GUARD);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let advice = libc::MADV_DONTNEED;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let advice = libc::MADV_FREE;
        // SAFETY: the range is mapped, and no code uses a stack that is in no task. A failure leaves the memory there.
        unsafe { libc::madvise(start, self.size, advice) };
    }
}

/// The mapping whose parts were not all used yet.
pub(super) struct Source {
    /// Where its next part begins.
    next: usize,
    end: usize,
}

impl Source {
    pub(super) const fn new() -> Self {
        Self { next: 0, end: 0 }
    }

    /// A stack of `size` bytes, a multiple of the system's page.
    pub(super) fn make(&mut self, size: usize) -> io::Result<Memory> {
        let part = size + GUARD;
        if self.end - self.next < part {
            let bytes = (MAPPING / part).max(1) * part;
            self.next = map(bytes)?;
            self.end = self.next + bytes;
        }
        let memory = Memory { limit: self.next, size };
        guard::install(memory.limit, GUARD)?;
        self.next += part;
        Ok(memory)
    }
}

/// Reserves so many bytes of addresses, which get memory when they are used.
fn map(bytes: usize) -> io::Result<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: a new anonymous mapping at an address that the system chooses touches nothing that exists.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(refusal::of_addresses(io::Error::last_os_error(), bytes));
    }
    // One huge page would hold several stacks, each of which uses a few kilobytes.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the range was mapped above. Without huge pages in the system it fails, and changes nothing.
    unsafe {
        libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE)
    };
    Ok(start.expose_provenance())
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::{GUARD, Source};
    use std::ptr;

    #[test]
    fn a_stack_that_was_discarded_is_empty_and_still_there() {
        let memory = Source::new().make(16 << 10).unwrap();
        let word = ptr::with_exposed_provenance_mut::<u64>(memory.base().get() - 8);
        // SAFETY: the word is inside of the stack, which nobody else uses.
        unsafe { word.write_volatile(7) };
        memory.discard();
        // SAFETY: as above.
        assert_eq!(unsafe { word.read_volatile() }, 0);
        assert_eq!(memory.base().get() - memory.guard().end, 16 << 10);
        assert_eq!(memory.guard().len(), GUARD);
    }

    #[test]
    fn the_parts_of_a_mapping_follow_each_other() {
        let mut source = Source::new();
        let (a, b) = (source.make(64 << 10).unwrap(), source.make(64 << 10).unwrap());
        assert_eq!(b.limit(), a.base());
    }
}
