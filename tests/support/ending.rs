//! Ending a runtime while something in it is held.

use super::polls::poll_once;
use super::wait_until;
use colored::{Handle, Runtime};
use std::task::Poll;
use std::thread;
use std::time::Duration;

/// Drops the runtime. As soon as its shutdown has begun, `let_go` ends what holds it up.
pub fn end_while_held(runtime: Runtime, let_go: impl FnOnce() + Send) {
    let handle = runtime.handle().clone();
    thread::scope(|scope| {
        scope.spawn(move || {
            wait_until(|| refuses(&handle));
            let_go();
        });
        drop(runtime);
    });
}

/// Whether a task that is spawned now is cancelled.
fn refuses(handle: &Handle) -> bool {
    let mut task = Box::pin(handle.spawn_unique(async {}));
    thread::sleep(Duration::from_millis(1));
    matches!(poll_once(task.as_mut()), Poll::Ready(Err(error)) if error.is_cancelled())
}
