//! The thread that is inside a color. A word says which thread it is. A number beside it changes without an atomic,
//! so that Miri and the sanitizers see two threads at once as well.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicU64, Ordering};

/// A witness for each color of a program.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The thread that is inside; 0 if none is.
    holder: AtomicU64,
    entries: UnsafeCell<u64>,
}

// SAFETY: only the thread inside the color changes `entries`; the programs check exactly that. Were two threads
// inside, `holder` and Miri would tell.
unsafe impl Sync for Witness {}

impl Witness {
    /// Notes that this thread is inside from now on. Returns the thread that was inside before: this one itself,
    /// further up its stack, or 0 for none.
    pub(crate) fn enter(&self) -> u64 {
        let me = this_thread();
        // Ordering: relaxed, so that the witness orders nothing that the scheduler leaves unordered.
        let before = self.holder.swap(me, Ordering::Relaxed);
        assert!(before == 0 || before == me, "two threads are under one color");
        // SAFETY: this thread runs under the color, so no other thread changes `entries`.
        unsafe { *self.entries.get() += 1 };
        before
    }

    pub(crate) fn leave(&self, before: u64) {
        // SAFETY: this thread still runs under the color, so no other thread changes `entries`.
        unsafe { *self.entries.get() += 1 };
        // Ordering: as in `enter`.
        let me = self.holder.swap(before, Ordering::Relaxed);
        assert!(me == this_thread(), "another thread came under the color of this one");
    }
}

/// The number of this thread, which is not zero.
fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static ME: Cell<u64> = const { Cell::new(0) });
    let me = ME.get();
    if me != 0 {
        return me;
    }
    // Ordering: the numbers differ, and nothing else matters.
    ME.set(NEXT.fetch_add(1, Ordering::Relaxed));
    ME.get()
}
