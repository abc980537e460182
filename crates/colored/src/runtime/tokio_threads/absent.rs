//! Without the feature `tokio-context` there is no tokio runtime.

use crate::launch::Launch;
use crate::runtime::Handle;
use std::io;

/// No tokio runtime.
#[derive(Clone, Debug, Default)]
pub(in crate::runtime) enum Tokio {
    #[default]
    None,
}

impl Tokio {
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(in crate::runtime) fn start(
        self,
        _: &Handle,
        _: &str,
        _: &Launch,
        _: bool,
    ) -> io::Result<()> {
        Ok(())
    }
}
