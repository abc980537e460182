//! Without the feature `diagnose`, a runtime does not observe itself.

use crate::services::Services;
use crate::services::observer::{Observer, Unobserved};
use crate::thread_settings::ThreadSettings;
use colored_core::SchedulerHandle;
use std::io;
use std::sync::Arc;

/// There are none.
#[derive(Clone, Default)]
pub(crate) struct Options {}

impl Options {
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn add_to(&self, _: &mut colored_core::Options) {}

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(crate) fn prepare(self, _: &str, _: usize) -> io::Result<(Box<dyn Observer>, Start)> {
        Ok((Box::new(Unobserved), Start))
    }
}

/// There is nothing to start.
pub(crate) struct Start;

impl Start {
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(crate) fn start(
        self,
        _: &SchedulerHandle,
        _: &Arc<Services>,
        _: &ThreadSettings,
        _: &str,
        _: bool,
    ) -> io::Result<()> {
        Ok(())
    }
}
