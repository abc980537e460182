//! Entering a runtime's driver, and leaving it.

use super::current::{self, Context};
use super::filed;
use std::sync::Arc;

/// Makes `context` this thread's until the guard is dropped.
pub(crate) fn enter(context: Context) -> Entered {
    Entered { outer: current::replace(Some(Arc::new(context))) }
}

/// Gives the thread back to the runtime it was in before, if any.
#[derive(Debug)]
pub(crate) struct Entered {
    outer: Option<Arc<Context>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        filed::drop_last();
        drop(current::replace(self.outer.take()));
    }
}
