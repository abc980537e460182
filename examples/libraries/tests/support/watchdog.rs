//! Ends the process when a test hangs: a hang is a lost wake-up.

use std::io::Write;
use std::panic::Location;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The longest test takes some seconds, and a machine may be busy.
const LIMIT: Duration = Duration::from_secs(240);

/// Watches its test until it is dropped.
pub(super) struct Guard {
    _over: Sender<()>,
}

#[track_caller]
pub(super) fn arm() -> Guard {
    let test = Location::caller();
    let (over, wait) = channel();
    thread::spawn(move || {
        if wait.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            // Not by `eprintln`, which the harness captures.
            let _ = writeln!(std::io::stderr(), "{test}: the test has not ended after {LIMIT:?}");
            std::process::abort();
        }
    });
    Guard { _over: over }
}
