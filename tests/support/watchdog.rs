//! Ends the process when a test hangs: a hang is a lost wake-up, and must not look like patience.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The longest test takes half a minute, and a machine may be busy.
const LIMIT: Duration = Duration::from_secs(300);

/// Watches the calling test until the guard is dropped.
pub(super) fn arm() -> Guard {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let (done, over) = mpsc::channel::<()>();
    let watch = move || {
        if over.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            eprintln!("watchdog: `{test}` has not ended after {LIMIT:?}: a wake-up is lost");
            std::process::abort();
        }
    };
    let thread = thread::Builder::new().name("watchdog".into()).spawn(watch);
    Guard { done: Some(done), thread: Some(thread.expect("a thread for the watchdog")) }
}

pub(super) struct Guard {
    done: Option<Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
