//! Systems without Unix sockets: there is nothing to connect to.

use std::io;
use std::path::Path;

pub(super) type Stream = io::Empty;

pub(super) fn connect(_: &Path) -> io::Result<Stream> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no Unix sockets"))
}
