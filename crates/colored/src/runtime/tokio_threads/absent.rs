//! Without the feature `tokio-context` there is no tokio runtime.

use crate::runtime::Handle;
use crate::thread_settings::ThreadSettings;
use std::io;

/// No tokio runtime.
#[derive(Clone, Debug, Default)]
pub(in crate::runtime) enum Tokio {
    #[default]
    None,
}

impl Tokio {
    /// There is none.
    #[cfg(feature = "sim")]
    pub(in crate::runtime) fn stepped() -> io::Result<Self> {
        let text = "`Builder::tokio` needs the feature `tokio-context` of `colored-rt`";
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(in crate::runtime) fn start(
        self,
        _: &Handle,
        _: &str,
        _: &ThreadSettings,
        _: bool,
    ) -> io::Result<()> {
        Ok(())
    }
}
