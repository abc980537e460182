//! The functions that a runtime calls: at the begin and the end of threads, and for events of the operator.

use super::Builder;
use colored_core::TaskPanic;
use std::sync::Arc;

/// # Hooks
///
/// A hook must be quick, and must not wait: the thread that calls it does nothing else meanwhile. The panic hook
/// reports a panic of a hook, which goes no further.
impl Builder {
    /// Each thread of the runtime calls `f` when it begins, before it runs anything else: workers, the
    /// reactor thread, blocking threads. The threads may call `f` at the same time, and some may call
    /// it after [`build`](Builder::build) has returned. `f` runs outside the runtime, so it cannot
    /// spawn. The panic hook reports a panic of `f`, which goes no further. A second call replaces the
    /// first.
    pub fn on_thread_start(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.thread_settings.on_start = Some(Arc::new(f));
        self
    }

    /// Each thread of the runtime calls `f` when it ends, after everything else that it runs; otherwise
    /// as [`on_thread_start`](Builder::on_thread_start). A shutdown that waits for the threads waits
    /// for these calls.
    pub fn on_thread_stop(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.thread_settings.on_stop = Some(Arc::new(f));
        self
    }

    /// Each worker calls `f` before it goes to sleep because nothing is runnable; otherwise as
    /// [`on_thread_start`](Builder::on_thread_start), but inside of the runtime, so that it can spawn: what it spawns or wakes
    /// then runs, and so a hook that does so each time keeps the worker awake. Some sleeps last a few microseconds only. Without
    /// hooks, a sleep costs one comparison more.
    pub fn on_thread_park(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.thread_settings.on_park = Some(Arc::new(f));
        self
    }

    /// Each worker calls `f` when it wakes up, once for each call of [`on_thread_park`](Builder::on_thread_park).
    pub fn on_thread_unpark(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.thread_settings.on_unpark = Some(Arc::new(f));
        self
    }

    /// A thread calls `f` for each task that panics on it, in a poll or in the destructor of its future, after the panic
    /// hook of the standard library, and before a handle receives the panic. The thread holds the task's color
    /// meanwhile. A second call replaces the first.
    ///
    /// Default: a line on the standard error for each task without a handle, because nobody else will hear of the panic:
    ///
    /// ```text
    /// colored: Task(12) (spawned at src/main.rs:30:5) under color 7 has panicked, and has no handle
    /// ```
    ///
    /// A panic of a closure of a cell, of [`post`](crate::ColorCell::post) or of a blocking call is none of a task.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let builder = colored::Builder::new().on_task_panic(|panic| eprintln!("{panic}: {:?}", panic.message()));
    /// let runtime = builder.build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_task_panic(mut self, f: impl Fn(&TaskPanic<'_>) + Send + Sync + 'static) -> Self {
        self.on_task_panic = Some(Arc::new(f));
        self
    }
}
