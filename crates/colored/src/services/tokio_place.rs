//! [`TokioPlace`]: where the threads of a runtime find the tokio runtime beside it.

use crate::tokio_context::TokioContext;
use std::sync::OnceLock;
use std::time::Instant;
use tokio::runtime::EnterGuard;

/// The tokio runtime for libraries, if there is one.
#[derive(Debug, Default)]
pub(crate) struct TokioPlace(OnceLock<TokioContext>);

impl TokioPlace {
    /// To be called once at most, before any thread asks.
    pub(crate) fn set(&self, tokio: TokioContext) {
        let is_first = self.0.set(tokio).is_ok();
        debug_assert!(is_first, "a runtime has one tokio runtime");
    }

    /// Lets this thread be in the tokio runtime until the guard is dropped.
    pub(crate) fn enter(&self) -> Option<EnterGuard<'_>> {
        self.0.get().and_then(TokioContext::enter)
    }

    /// Whether a tokio runtime without a thread has something to run.
    #[cfg(feature = "sim")]
    pub(crate) fn has_tasks(&self) -> bool {
        self.0.get().is_some_and(TokioContext::has_tasks)
    }

    /// Runs that.
    #[cfg(feature = "sim")]
    pub(crate) fn run_tasks(&self) {
        self.0.get().into_iter().for_each(TokioContext::run_tasks);
    }

    /// Ends the tokio runtime if it was made for this one, and waits for its threads until `deadline`.
    pub(crate) fn shut_down(&self, deadline: Option<Instant>) {
        if let Some(tokio) = self.0.get() {
            tokio.shut_down(deadline);
        }
    }
}
