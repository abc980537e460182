//! One process has a directory at a time.

use crate::log::Lock;
use colored::fs::OpenOptions;
use colored::time::{Duration, Instant, sleep};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How long an engine that was dropped may go on to write, at most, before it counts as another one.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes the lock of a directory until the file is dropped. `None` in a simulation, whose hosts have one process each.
pub(crate) async fn take(directory: &Path) -> io::Result<Lock> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match lock(directory).await {
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline =>
            {
                sleep(Duration::from_millis(10)).await;
            }
            taken => return taken.map(|file| file.map(Arc::new)),
        }
    }
}

#[cfg(unix)]
async fn lock(directory: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{FlockOperation, flock};
    let path = directory.join("lock");
    let Some(file) = make(&path).await? else { return Ok(None) };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(error) if error == rustix::io::Errno::WOULDBLOCK => Err(in_use(&path)),
        Err(error) => Err(error.into()),
    }
}

#[cfg(windows)]
async fn lock(directory: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARING_VIOLATION: i32 = 32;
    let path = directory.join("lock");
    let refuse = |error: io::Error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => in_use(&path),
        _ => error,
    };
    let Some(file) = make(&path).await.map_err(refuse)? else { return Ok(None) };
    drop(file);
    // Nobody else may open it.
    File::options().write(true).share_mode(0).open(&path).map(Some).map_err(refuse)
}

/// Opens the file of the lock. `None` if it is a simulation's.
async fn make(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).open(path).await?;
    match file.into_std().await {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error),
    }
}

fn in_use(path: &Path) -> io::Error {
    let text = format!("{} is locked: another engine has the directory open", path.display());
    io::Error::new(io::ErrorKind::WouldBlock, text)
}
