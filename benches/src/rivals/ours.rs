//! `colored` as a rival: serial, or every task under a color of its own.

use super::{Join, Rival};
use std::future::Future;
use std::time::Duration;

impl<T: Send + 'static> Join<T> for colored::JoinHandle<T> {
    type Error = colored::JoinError;

    fn abort(&self) {
        self.abort();
    }
}

/// `colored` as a program that names no color uses it.
#[derive(Clone, Copy)]
pub struct Serial {
    pub(super) runtime: &'static colored::Runtime,
    pub(super) handle: &'static colored::Handle,
}

impl Serial {
    /// Starts a `colored` whose settings differ from the settings of [`Runtimes`](super::Runtimes).
    ///
    /// # Panics
    ///
    /// If the settings contradict each other, or the system gives no more threads.
    #[must_use]
    pub fn start(builder: colored::Builder) -> Self {
        let runtime = &*Box::leak(Box::new(builder.build().expect("colored starts")));
        Self { runtime, handle: Box::leak(Box::new(runtime.handle().clone())) }
    }

    /// The runtime's handle for other threads.
    #[must_use]
    pub const fn handle(self) -> &'static colored::Handle {
        self.handle
    }

    /// The same runtime, every task under a color of its own.
    #[must_use]
    pub const fn unique(self) -> Unique {
        Unique { runtime: self.runtime, handle: self.handle }
    }

    /// Polls and callbacks that each worker has run so far.
    #[must_use]
    pub fn polls(self) -> Vec<u64> {
        self.handle.metrics().workers.iter().map(|worker| worker.polls).collect()
    }
}

impl Rival for Serial {
    type Join<T: Send + 'static> = colored::JoinHandle<T>;

    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.runtime.run(main)
    }

    fn spawn<F>(self, task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        colored::spawn(task)
    }

    fn spawn_from_outside<F>(self, task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(task)
    }

    fn yield_now(self) -> impl Future<Output = ()> + Send {
        colored::yield_now()
    }

    fn sleep(self, time: Duration) -> impl Future<Output = ()> + Send {
        colored::time::sleep(time)
    }

    async fn blocking(self, f: impl FnOnce() + Send + 'static) {
        colored::spawn_blocking(f).await.expect("the call does not panic");
    }
}

/// `colored` with every task under a color of its own.
#[derive(Clone, Copy)]
pub struct Unique {
    pub(super) runtime: &'static colored::Runtime,
    pub(super) handle: &'static colored::Handle,
}

impl Rival for Unique {
    type Join<T: Send + 'static> = colored::JoinHandle<T>;

    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.runtime.run(main)
    }

    fn spawn<F>(self, task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        colored::spawn_unique(task)
    }

    fn spawn_from_outside<F>(self, task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn_unique(task)
    }

    fn yield_now(self) -> impl Future<Output = ()> + Send {
        colored::yield_now()
    }

    fn sleep(self, time: Duration) -> impl Future<Output = ()> + Send {
        colored::time::sleep(time)
    }

    async fn blocking(self, f: impl FnOnce() + Send + 'static) {
        colored::spawn_blocking(f).await.expect("the call does not panic");
    }
}
