//! Systems without Unix sockets.

use crate::runtime::handle::Handle;
use crate::thread_settings::ThreadSettings;
use std::convert::Infallible;
use std::io;
use std::path::Path;

/// There is none.
pub(in crate::runtime) struct Server(Infallible);

impl Server {
    pub(in crate::runtime) fn start(
        path: &Path,
        _: Handle,
        _: &ThreadSettings,
        _: &str,
    ) -> io::Result<Self> {
        let text = format!(
            "inspect({path:?}): the system has no Unix sockets; leave it out, and the variable COLORED_INSPECT"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    }

    pub(in crate::runtime) fn stop(self, _: bool) {
        match self.0 {}
    }
}
