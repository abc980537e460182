//! The runtimes, and the operations that a workload uses.

use std::fmt::Debug;
use std::future::Future;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

/// All runtimes of a process. A runtime idles while it is not measured.
///
/// The runtimes are leaked: a measured task then reaches its runtime without a reference count, and
/// the process ends without waiting for a million sleeping tasks.
#[derive(Clone, Copy)]
pub struct Runtimes {
    /// `colored` with [`workers`] workers.
    pub colored: &'static colored::Runtime,
    /// The way into `colored` from other threads.
    pub handle: &'static colored::Handle,
    /// tokio, multi-thread, with as many workers.
    pub tokio: &'static tokio::runtime::Runtime,
    /// tokio, current-thread.
    pub tokio_ct: &'static tokio::runtime::Runtime,
}

impl Runtimes {
    /// Starts all runtimes.
    ///
    /// # Panics
    ///
    /// If the system gives no more threads.
    #[must_use]
    pub fn start() -> Self {
        let colored = colored::Runtime::builder().workers(workers()).build();
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers())
            .enable_all()
            .build();
        let tokio_ct = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let colored = &*Box::leak(Box::new(colored.expect("colored starts")));
        Self {
            colored,
            handle: Box::leak(Box::new(colored.handle().clone())),
            tokio: Box::leak(Box::new(tokio.expect("tokio starts"))),
            tokio_ct: Box::leak(Box::new(tokio_ct.expect("tokio starts"))),
        }
    }

    /// `colored`, every task under the default color: a program that names no color.
    #[must_use]
    pub fn serial(self) -> Serial {
        Serial { runtime: self.colored, handle: self.handle }
    }

    /// `colored`, every task under a color of its own: the parallel spawn.
    #[must_use]
    pub fn unique(self) -> Unique {
        Unique { runtime: self.colored, handle: self.handle }
    }

    /// tokio, multi-thread.
    #[must_use]
    pub fn tokio(self) -> Tokio {
        Tokio(self.tokio)
    }

    /// tokio, current-thread.
    #[must_use]
    pub fn tokio_ct(self) -> Tokio {
        Tokio(self.tokio_ct)
    }
}

/// Workers of every multi-threaded rival: one per core, at least two.
#[must_use]
pub fn workers() -> usize {
    // Read once, because the look-up reads files, which takes longer than many measured tasks.
    static WORKERS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(2, |cores| cores.get().max(2)));
    *WORKERS
}

/// A handle to a spawned task.
pub trait Join<T>: Future<Output = Result<T, Self::Error>> + Send + Unpin + 'static {
    /// The reason for a missing output.
    type Error: Debug + Send;

    /// Asks for the task to be dropped at its next await.
    fn abort(&self);
}

impl<T: Send + 'static> Join<T> for tokio::task::JoinHandle<T> {
    type Error = tokio::task::JoinError;

    fn abort(&self) {
        self.abort();
    }
}

/// The operations of a runtime that a workload uses. Every method is one call of the runtime's own.
pub trait Rival: Copy + Send + Sync + 'static {
    /// The handle that spawning returns.
    type Join<T: Send + 'static>: Join<T>;

    /// Runs `main` as a task on a worker, and waits for it outside.
    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns from inside the runtime.
    fn spawn<F>(self, task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns from a thread that is not the runtime's.
    fn spawn_from_outside<F>(self, task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Lets other tasks run.
    fn yield_now(self) -> impl Future<Output = ()> + Send;

    /// Waits for `time`.
    fn sleep(self, time: Duration) -> impl Future<Output = ()> + Send;

    /// Runs `f` on a thread for blocking calls, from inside the runtime.
    fn blocking(self, f: impl FnOnce() + Send + 'static) -> impl Future<Output = ()> + Send;
}

/// tokio, of either kind.
#[derive(Clone, Copy)]
pub struct Tokio(&'static tokio::runtime::Runtime);

impl Rival for Tokio {
    type Join<T: Send + 'static> = tokio::task::JoinHandle<T>;

    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // `main` is spawned, because `block_on` polls outside the workers, where every spawn is a
        // remote one.
        self.0.block_on(self.0.spawn(main)).expect("the main task does not panic")
    }

    fn spawn<F>(self, task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        tokio::spawn(task)
    }

    fn spawn_from_outside<F>(self, task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(task)
    }

    fn yield_now(self) -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }

    fn sleep(self, time: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(time)
    }

    async fn blocking(self, f: impl FnOnce() + Send + 'static) {
        tokio::task::spawn_blocking(f).await.expect("the call does not panic");
    }
}

mod ours;

pub use ours::{Serial, Unique};
