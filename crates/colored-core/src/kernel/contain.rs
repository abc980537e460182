//! [`contain`]: runs user code whose panic has no receiver.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f` and goes on, whatever `f` does. The panic hook has reported a panic; its payload is
/// dropped.
pub fn contain(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // The payload may panic when it is dropped, and that one's payload too.
        let again = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        mem::forget(again);
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::contain;
    use std::panic::panic_any;

    struct Poison(u32);

    impl Drop for Poison {
        fn drop(&mut self) {
            panic_any(Poison(self.0 + 1));
        }
    }

    #[test]
    fn a_payload_that_panics_for_ever_is_contained() {
        contain(|| panic_any(Poison(0)));
    }
}
