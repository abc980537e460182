//! One process has a directory at a time.

use std::fs::File;
use std::io;
use std::path::Path;

/// Takes the lock of a directory until the file is dropped.
#[cfg(unix)]
pub(crate) fn lock(directory: &Path) -> io::Result<File> {
    use rustix::fs::{FlockOperation, flock};
    let path = directory.join("lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(error) if error == rustix::io::Errno::WOULDBLOCK => Err(in_use(&path)),
        Err(error) => Err(error.into()),
    }
}

/// Takes the lock of a directory until the file is dropped.
#[cfg(windows)]
pub(crate) fn lock(directory: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARING_VIOLATION: i32 = 32;
    let path = directory.join("lock");
    let mut options = File::options();
    // Nobody else may open it.
    options.create(true).truncate(false).write(true).share_mode(0);
    options.open(&path).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => in_use(&path),
        _ => error,
    })
}

fn in_use(path: &Path) -> io::Error {
    let text = format!("{} is locked: another engine has the directory open", path.display());
    io::Error::new(io::ErrorKind::WouldBlock, text)
}
