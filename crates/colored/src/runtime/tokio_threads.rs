//! The tokio runtime beside a runtime, and its threads in ours.

use super::handle::{EnterGuard, Handle};
use crate::thread_settings::{Hook, ThreadSettings};
use crate::tokio_context::TokioContext;
use std::cell::RefCell;
use std::io;
use std::sync::Arc;

/// The tokio runtime that threads are in.
#[derive(Clone, Debug, Default)]
pub(super) enum Tokio {
    /// Nobody has said which.
    #[default]
    Default,
    None,
    Own,
    Of(tokio::runtime::Handle),
    /// One without a thread.
    #[cfg(feature = "sim")]
    Stepped,
}

// Of a thread of the tokio runtime: from its begin to its end.
thread_local!(static INSIDE: RefCell<Option<EnterGuard>> = const { RefCell::new(None) });

impl Tokio {
    /// One whose tasks run where its runtime says so.
    #[cfg(feature = "sim")]
    #[expect(clippy::unnecessary_wraps, reason = "as without the feature")]
    pub(super) fn stepped() -> io::Result<Self> {
        Ok(Self::Stepped)
    }

    /// Gives the runtime of this handle its tokio runtime, before its own threads start.
    ///
    /// An embedded runtime has no thread unless it is asked for.
    ///
    /// # Errors
    ///
    /// The system's, if there is no thread or no selector.
    pub(super) fn start(
        self,
        handle: &Handle,
        name: &str,
        thread_settings: &ThreadSettings,
        is_embedded: bool,
    ) -> io::Result<()> {
        let context = match self {
            Self::None => return Ok(()),
            Self::Default if is_embedded => return Ok(()),
            Self::Default | Self::Own => {
                let ours = handle.clone();
                let enter: Hook = Arc::new(move || INSIDE.set(Some(ours.enter())));
                let leave = || drop(INSIDE.take());
                TokioContext::start(name, thread_settings.stack_size, enter, leave)?
            }
            Self::Of(theirs) => TokioContext::of(theirs),
            #[cfg(feature = "sim")]
            Self::Stepped => TokioContext::stepped()?,
        };
        handle.services.tokio.set(context);
        Ok(())
    }
}
