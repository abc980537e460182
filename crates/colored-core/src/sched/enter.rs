//! Which scheduler a thread works for: as a worker, as a guest, or because it has been told so.

use super::{Handle, guest, local};
use crate::entries::Entries;
use std::marker::PhantomData;

std::thread_local!(static ENTERED: Entries<Handle> = const { Entries::new() });

/// Calls `f` with the handle of the scheduler that this thread works for.
#[inline]
pub(crate) fn with_handle<R>(f: impl FnOnce(Option<&Handle>) -> R) -> R {
    local::with(|local| match local {
        Some(local) => f(Some(local.handle())),
        None => guest::with_handle(|handle| match handle {
            Some(handle) => f(Some(handle)),
            None => {
                let entered = ENTERED.with(|entered| entered.innermost(|handle| handle.cloned()));
                f(entered.as_ref())
            }
        }),
    })
}

impl Handle {
    /// Lets this thread spawn on the scheduler without naming it, until the guard is dropped. Of
    /// several guards the one that was made last counts; they may be dropped in any order.
    pub fn enter(&self) -> Entered {
        let key = ENTERED.with(|entered| entered.enter(self.clone()));
        Entered { key, _this_thread: PhantomData }
    }
}

/// The guard of [`Handle::enter`].
#[derive(Debug)]
#[must_use = "dropping the guard leaves the scheduler"]
pub struct Entered {
    key: u64,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Dropped outside: it may be the last of its scheduler.
        drop(ENTERED.with(|entered| entered.leave(self.key)));
    }
}
