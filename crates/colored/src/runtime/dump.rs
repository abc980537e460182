//! [`Handle::dump`].

#[cfg(unix)]
mod on_signal;

#[cfg(unix)]
pub(super) use self::on_signal::OnSignal;

/// There are no signals here.
#[cfg(not(unix))]
pub(super) struct OnSignal(std::convert::Infallible);

#[cfg(not(unix))]
impl OnSignal {
    pub(super) fn stop(self, _: bool) {
        match self.0 {}
    }
}

use super::Handle;
use crate::dump::{self, Dump};

impl Handle {
    /// Lists the tasks of the runtime, what each waits for and since when, what the workers do, and cycles of waits.
    ///
    /// The call polls no task, runs no code of the program and needs no worker, so it answers while every worker is stuck.
    /// Any thread may call it. It blocks the caller: about 0.5 µs for each task that waits, and some 10 ms more if a worker
    /// is stuck; 250 ms more at most, if colors are in long queues. Other threads go on meanwhile: each page of 256 tasks delays
    /// its color for 50 µs or so. One dump is made at a time, and a second caller waits.
    ///
    /// A task that calls it is in the dump as a task that runs. Its worker runs nothing else meanwhile, and with one
    /// worker the colors in its queue are not read: then call it in [`spawn_blocking`](crate::spawn_blocking), or on a
    /// thread that runs no tasks.
    ///
    /// On a runtime that shuts down, or has, the dump has no waiting tasks: only the workers and the blocking calls.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let runtime = colored::Runtime::builder().workers(1).build()?;
    /// let waits = runtime.spawn_colored(7, std::future::pending::<()>());
    /// # while runtime.handle().dump().tasks().all(|task| task.id() != waits.id() || task.waits().is_empty()) {}
    /// let dump = runtime.handle().dump();
    /// assert!(dump.tasks().any(|task| task.id() == waits.id()));
    /// println!("{dump}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn dump(&self) -> Dump {
        dump::make(self.core.scheduler(), &self.driver)
    }
}
