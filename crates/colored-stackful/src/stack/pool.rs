//! The stacks that no task uses, by size.
//!
//! A stack that comes back is used next, with the memory that it has. Of each size the pool keeps some stacks with their
//! memory; the memory of further ones goes back to the system at once, and only their addresses stay.

use super::system::{Memory, Source};
use crate::size::{LARGEST, SMALLEST};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stacks of each size keep at most so many bytes, and at least one stack does. A guess: a burst of a thousand tasks ends
/// within it if each has touched 16 KiB.
const KEPT_BYTES: usize = 16 << 20;

const CLASSES: usize = (LARGEST / SMALLEST).trailing_zeros() as usize + 1;

static POOL: [Mutex<Class>; CLASSES] = [const { Mutex::new(Class::new()) }; CLASSES];

struct Class {
    /// With the memory that their last tasks have touched.
    kept: Vec<Memory>,
    /// Without memory.
    empty: Vec<Memory>,
    source: Source,
}

impl Class {
    const fn new() -> Self {
        Self { kept: Vec::new(), empty: Vec::new(), source: Source::new() }
    }
}

/// The class of the smallest stacks with at least `size` bytes.
pub(super) fn class_of(size: usize) -> usize {
    let size = size.clamp(SMALLEST, LARGEST).next_power_of_two();
    (size / SMALLEST).trailing_zeros() as usize
}

/// The bytes of a stack of this class.
pub(super) fn size_of(class: usize) -> usize {
    SMALLEST << class
}

fn lock(class: usize) -> MutexGuard<'static, Class> {
    POOL[class].lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn take(class: usize) -> io::Result<Memory> {
    let mut of = lock(class);
    match of.kept.pop().or_else(|| of.empty.pop()) {
        Some(memory) => Ok(memory),
        None => of.source.make(size_of(class)),
    }
}

pub(super) fn give_back(class: usize, memory: Memory) {
    let mut of = lock(class);
    if of.kept.len() < (KEPT_BYTES / size_of(class)).max(1) {
        return of.kept.push(memory);
    }
    drop(of);
    memory.discard();
    lock(class).empty.push(memory);
}

/// Gives the memory of all stacks that no task uses back to the system. Their addresses stay reserved.
///
/// Without this call the pool keeps at most 16 MiB for each size of stacks. Costs a system call for each stack that has
/// memory.
pub fn release_idle_stacks() {
    for class in 0..CLASSES {
        let kept = std::mem::take(&mut lock(class).kept);
        kept.iter().for_each(Memory::discard);
        lock(class).empty.extend(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, class_of, size_of};

    #[test]
    fn a_class_holds_what_it_is_asked_for() {
        for size in [0, 1, 16 << 10, (16 << 10) + 1, 65536, 100_000, 1 << 20, 1 << 30, usize::MAX] {
            let class = class_of(size);
            assert!(class < CLASSES);
            assert!(size_of(class) >= size.min(1 << 30), "{size}");
            assert!(class == 0 || size_of(class - 1) < size.min(1 << 30), "{size}");
        }
    }
}
