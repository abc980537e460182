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
    let refuse = |error: io::Error| match raw_os_error(&error) {
        Some(SHARING_VIOLATION) => in_use(&path),
        _ => error,
    };
    let Some(file) = make(&path).await.map_err(refuse)? else { return Ok(None) };
    drop(file);
    // Nobody else may open it.
    File::options().write(true).share_mode(0).open(&path).map(Some).map_err(refuse)
}

/// The system's number of an error, which may be the source of what tells the path.
#[cfg(any(windows, test))]
fn raw_os_error(error: &io::Error) -> Option<i32> {
    let number = |of: &(dyn std::error::Error + 'static)| {
        of.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error)
    };
    let inner = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    let sources = std::iter::successors(inner, |of| of.source());
    error.raw_os_error().or_else(|| sources.into_iter().find_map(number))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of the runtime's files names the path, and has the system's error inside.
    #[colored::test]
    async fn the_number_of_an_error_with_a_path_is_found() {
        let error = OpenOptions::new().read(true).open("/no/such/file").await.unwrap_err();
        let plain = File::open("/no/such/file").unwrap_err();
        assert!(plain.raw_os_error().is_some());
        assert_eq!(raw_os_error(&error), plain.raw_os_error());
        assert_eq!(raw_os_error(&plain), plain.raw_os_error());
        assert_eq!(raw_os_error(&io::Error::other("no number")), None);
    }
}
