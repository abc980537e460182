//! Guards inside of a mapping, which take no mapping of their own: from Linux 6.13 on.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Linux's advice to refuse all accesses to pages, which `libc` does not name yet.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// The system is older.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

/// Marks the pages, which nobody uses. `false` if the system cannot.
pub(super) fn mark(start: usize, bytes: usize) -> bool {
    // Ordering: a hint. A thread that misses it asks the system itself.
    if IS_REFUSED.load(Ordering::Relaxed) {
        return false;
    }
    let place = ptr::with_exposed_provenance_mut(start);
    // SAFETY: the caller has the pages of a mapping, and nobody uses them.
    let is_marked = unsafe { libc::madvise(place, bytes, MADV_GUARD_INSTALL) } == 0;
    if !is_marked {
        // Ordering: as above.
        IS_REFUSED.store(true, Ordering::Relaxed);
    }
    is_marked
}
