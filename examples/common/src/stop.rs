//! How a server ends.

use std::io;

/// Listens, from now on, for somebody who asks the program to end: by Ctrl-C, or as supervisors do, by `SIGTERM`. The
/// future is ready when that happens.
///
/// # Errors
///
/// If the system does not let the program listen.
///
/// # Panics
///
/// Outside a runtime.
#[cfg(unix)]
pub fn asked_to_stop() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use colored::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        colored::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Never ready: on this system, Ctrl-C ends the program at once.
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn asked_to_stop() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(std::future::pending())
}
