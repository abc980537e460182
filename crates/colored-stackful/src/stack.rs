//! [`Stack`]: the memory of a stack, from a pool by size.

#[cfg(unix)]
mod guard;
mod pool;
#[cfg(unix)]
mod refusal;
#[cfg(unix)]
#[path = "stack/unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "stack/windows.rs"]
mod system;

pub use self::pool::release_idle_stacks;

use self::system::Memory;
use corosensei::stack::StackPointer;
#[cfg(windows)]
use corosensei::stack::StackTebFields;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;

/// The memory of one stack; dropping it gives it back to the pool.
pub(crate) struct Stack {
    memory: ManuallyDrop<Memory>,
    class: usize,
}

impl Stack {
    /// A stack of at least `size` bytes.
    ///
    /// # Errors
    ///
    /// If the system has no memory, or no mapping, for it.
    pub(crate) fn take(size: usize) -> io::Result<Self> {
        let class = pool::class_of(size);
        Ok(Self { memory: ManuallyDrop::new(pool::take(class)?), class })
    }

    /// The addresses that no access reaches, below the stack.
    pub(crate) fn guard(&self) -> Range<usize> {
        self.memory.guard()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the memory is taken out once, here.
        let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
        pool::give_back(self.class, memory);
    }
}

// SAFETY: the memory has a guard below it, is at least `SMALLEST` bytes large, and stays until this is dropped.
unsafe impl corosensei::stack::Stack for Stack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.memory.base()
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.memory.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> StackTebFields {
        self.memory.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.memory.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}
