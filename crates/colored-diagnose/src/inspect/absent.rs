//! Systems without Unix sockets.

use super::Launch;
use crate::subject::Subject;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// There is none.
#[derive(Debug)]
pub struct Server(Infallible);

impl Server {
    /// On this system: an error.
    ///
    /// # Errors
    ///
    /// `Unsupported`.
    pub fn start(path: &Path, _: Arc<dyn Subject>, _: &str, _: Launch<'_>) -> io::Result<Self> {
        let text = format!(
            "inspect({path:?}): the system has no Unix sockets; leave it out, and the variable COLORED_INSPECT"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    }

    /// There is nothing to stop.
    pub fn stop(self, _: bool) {
        match self.0 {}
    }
}
