//! The connection, where there are Unix sockets.

use std::io;
use std::path::Path;

pub(super) use std::os::unix::net::UnixStream as Stream;

pub(super) fn connect(path: &Path) -> io::Result<Stream> {
    Stream::connect(path)
}
