//! Names of tokio's for what has another name here, and settings of tokio's that have no meaning here: a program that comes
//! from tokio compiles with them.
//!
//! The rest of tokio's names are those of the modules themselves. A table in the repository,
//! `crates/colored/tests/tokio_paths/table.rs`, has all of them.

use super::{Builder, Handle, Runtime};
use crate::task::{AbortHandle, JoinSet, LocalSet};

/// # Names of tokio's
///
/// For programs that come from tokio. The methods of this builder take and return it by value: write
/// `builder = builder.worker_threads(4)` where a statement of its own sets one.
impl Builder {
    /// As [`new`](Self::new).
    ///
    /// Tasks run on all workers, but the function [`spawn`](crate::spawn) of this crate is serial: see
    /// [`spawn_unique`](crate::spawn_unique).
    pub fn new_multi_thread() -> Self {
        Self::new()
    }

    /// As [`new`](Self::new), with one worker.
    ///
    /// The worker is a thread of its own, which runs tasks also while no thread is inside
    /// [`block_on`](Runtime::block_on). [`build_embedded`](Self::build_embedded) makes a runtime without one.
    pub fn new_current_thread() -> Self {
        Self::new().workers(1)
    }

    /// As [`workers`](Self::workers).
    ///
    /// # Panics
    ///
    /// With 0, as in tokio; `workers` leaves that to [`build`](Self::build).
    #[track_caller]
    pub fn worker_threads(self, workers: usize) -> Self {
        assert!(workers > 0, "worker_threads(0): a runtime has 1 to 1024 workers");
        self.workers(workers)
    }

    /// As [`blocking_threads`](Self::blocking_threads).
    ///
    /// # Panics
    ///
    /// With 0, as in tokio; `blocking_threads` leaves that to [`build`](Self::build).
    #[track_caller]
    pub fn max_blocking_threads(self, threads: usize) -> Self {
        assert!(threads > 0, "max_blocking_threads(0): a runtime has 1 to 65536 blocking threads");
        self.blocking_threads(threads)
    }

    /// Has no effect: sockets and timers always work.
    pub fn enable_all(self) -> Self {
        self
    }

    /// Has no effect: sockets always work.
    pub fn enable_io(self) -> Self {
        self
    }

    /// Has no effect: timers always work.
    pub fn enable_time(self) -> Self {
        self
    }

    /// Has no effect: how often a worker looks for events depends on the time, not on a number of tasks.
    /// [`Tuning::slice`](super::Tuning::slice) sets how long the turn of a color is.
    pub fn event_interval(self, _: u32) -> Self {
        self
    }

    /// Has no effect: the order of colors depends on how long they have waited.
    pub fn global_queue_interval(self, _: u32) -> Self {
        self
    }

    /// Has no effect: a worker takes all events that there are.
    pub fn max_io_events_per_tick(self, _: usize) -> Self {
        self
    }
}

/// # Names of tokio's
impl<T: Send + 'static> JoinSet<T> {
    /// As [`spawn`](Self::spawn), on the runtime of this handle.
    #[track_caller]
    pub fn spawn_on(
        &mut self,
        future: impl Future<Output = T> + Send + 'static,
        handle: &Handle,
    ) -> AbortHandle {
        let future = self.ending(future);
        self.insert(handle.spawn(future))
    }

    /// As [`spawn_blocking`](Self::spawn_blocking), on the runtime of this handle.
    ///
    /// # Panics
    ///
    /// As [`Handle::spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking_on(
        &mut self,
        f: impl FnOnce() -> T + Send + 'static,
        handle: &Handle,
    ) -> AbortHandle {
        let f = self.ending_call(f);
        self.insert(handle.spawn_blocking(f))
    }
}

/// # Names of tokio's
impl LocalSet {
    /// Runs the future by [`Runtime::block_on`], and inside of it [`run_until`](Self::run_until). Its end aborts the tasks
    /// that were spawned meanwhile.
    ///
    /// # Panics
    ///
    /// As [`Runtime::block_on`].
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(self.run_until(future))
    }
}

/// How a runtime runs its tasks; see [`Handle::runtime_flavor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// The runtime has one worker.
    CurrentThread,
    /// The runtime has several workers.
    MultiThread,
}

/// # Names of tokio's
impl Handle {
    /// Whether the runtime has one worker or several.
    #[must_use]
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        if self.services.size.workers == 1 {
            RuntimeFlavor::CurrentThread
        } else {
            RuntimeFlavor::MultiThread
        }
    }
}
