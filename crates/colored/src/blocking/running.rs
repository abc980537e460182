//! The blocking call that a thread runs.

use colored_core::Id;
#[cfg(feature = "sim")]
use colored_core::port::OfStack;
use std::cell::Cell;

thread_local!(static RUNNING: Cell<Option<Id>> = const { Cell::new(None) });

/// Of what runs on this stack.
#[cfg(feature = "sim")]
pub(crate) static RUNNING_OF_STACK: OfStack<Cell<Option<Id>>> = OfStack(&RUNNING);

/// Runs `call`, which has this id.
pub(super) fn within(id: Id, call: impl FnOnce()) {
    let _outer = Restore(RUNNING.replace(Some(id)));
    call();
}

/// The id of the call that this thread runs, if it runs one.
pub(crate) fn id() -> Option<Id> {
    RUNNING.get()
}

struct Restore(Option<Id>);

impl Drop for Restore {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_id_of_its_innermost_call() {
        let new_id = || colored_core::blocking(|| ()).1.id();
        let (outer, inner) = (new_id(), new_id());
        within(outer, || {
            within(inner, || assert_eq!(id(), Some(inner)));
            assert_eq!(id(), Some(outer));
        });
        assert_eq!(id(), None);
        std::panic::catch_unwind(|| within(outer, || panic!("ends the call"))).unwrap_err();
        assert_eq!(id(), None);
    }
}
