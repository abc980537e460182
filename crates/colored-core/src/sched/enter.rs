//! Which scheduler a thread works for: as a worker, as a guest, or because it has been told so.

use super::{Handle, guest, local};
use std::cell::RefCell;
use std::marker::PhantomData;

std::thread_local!(static ENTERED: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) });

/// Calls `f` with the handle of the scheduler that this thread works for.
#[inline]
pub(crate) fn with_handle<R>(f: impl FnOnce(Option<&Handle>) -> R) -> R {
    local::with(|local| match local {
        Some(local) => f(Some(local.handle())),
        None => guest::with_handle(|handle| match handle {
            Some(handle) => f(Some(handle)),
            None => {
                let entered = ENTERED.with(|entered| entered.borrow().last().cloned());
                f(entered.as_ref())
            }
        }),
    })
}

impl Handle {
    /// Lets this thread spawn on the scheduler without naming it, until the guard is dropped.
    /// Guards must be dropped in the reverse order of their making.
    pub fn enter(&self) -> Entered {
        ENTERED.with(|entered| entered.borrow_mut().push(self.clone()));
        Entered { _this_thread: PhantomData }
    }
}

/// The guard of [`Handle::enter`].
#[derive(Debug)]
#[must_use = "dropping the guard leaves the scheduler"]
pub struct Entered {
    _this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // A thread that ends drops its thread-locals in any order.
        let handle = ENTERED.try_with(|entered| entered.borrow_mut().pop());
        drop(handle);
    }
}
