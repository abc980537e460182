//! One process has a directory at a time.

use crate::log::Lock;
use colored::fs::OpenOptions;
use colored::time::{Duration, Instant, sleep};
use colored::{Color, ColorCell};
use std::any::Any;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How long an engine that was dropped may go on to write, at most, before it counts as another one.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes the lock of a directory until it is dropped.
pub(crate) async fn take(directory: &Path) -> io::Result<Lock> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let taken: io::Result<Arc<dyn Any + Send + Sync>> = match lock(directory).await {
            Ok(Some(file)) => Ok(Arc::new(file)),
            Ok(None) => lock_simulated(directory).await.map(|held| Arc::new(held) as _),
            Err(error) => Err(error),
        };
        match taken {
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline =>
            {
                sleep(Duration::from_millis(10)).await;
            }
            taken => return taken.map(Some),
        }
    }
}

colored::color_local! {
    /// Whether an engine has the directory whose color this is.
    static IS_TAKEN: Cell<bool> = Cell::new(false);
}

/// Simulated files have no locks. The value of a color does as well: it goes when nothing refers to the color any more, and
/// another host has other colors.
async fn lock_simulated(directory: &Path) -> io::Result<ColorCell<()>> {
    let held = ColorCell::new(Color::of(("colored-consumer", directory)), ());
    if held.call(|()| IS_TAKEN.with(|is_taken| is_taken.replace(true))).await {
        return Err(in_use(&directory.join("lock")));
    }
    Ok(held)
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
