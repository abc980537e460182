//! How a server ends.

use colored::task::JoinSet;
use colored::time::{Duration, timeout};
use std::io;

/// How long connections may take to end. As long as somebody at a terminal waits with patience.
const PATIENCE: Duration = Duration::from_secs(5);

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

/// Waits up to 5 seconds until the connections have ended, cuts the rest off, and prints how many there were of each.
pub async fn finish(mut connections: JoinSet<()>) {
    let open = connections.len();
    let ended = async { while connections.join_next().await.is_some() {} };
    // In time or not, the rest is what counts.
    let _ = timeout(PATIENCE, ended).await;
    let rest = connections.len();
    connections.shutdown().await;
    println!("stopped: {} connections have ended, {rest} were cut off", open - rest);
}
