//! Without the feature `tokio-context` there is no tokio runtime.

use std::time::Instant;

/// No tokio runtime.
#[derive(Debug, Default)]
pub(crate) struct TokioPlace {}

impl TokioPlace {
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn enter(&self) -> Option<()> {
        None
    }

    #[cfg(feature = "sim")]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn has_tasks(&self) -> bool {
        false
    }

    #[cfg(feature = "sim")]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn run_tasks(&self) {}

    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn shut_down(&self, _: Option<Instant>) {}
}
