//! The runtimes, by the operations that the rows use. Every method is one call of the runtime's own.

mod of_smol;
mod ours;
mod pool;

pub(crate) use of_smol::Smol;
pub(crate) use ours::PerPair;
pub(crate) use pool::Pool;

use colored_benches::Rival;
use colored_benches::rivals::Join;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// A runtime with threads of its own.
pub(crate) trait Executor: Copy + Send + Sync + 'static {
    /// The handle that spawning returns. Its task does not panic.
    type Handle<T: Send + 'static>: Future<Output = T> + Send + 'static;

    /// Runs `main` as a task on a worker, and waits for it outside.
    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns from inside the runtime.
    fn spawn<F>(self, task: F) -> Self::Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns a task that works together with the caller's: under its color, where colors of
    /// pairs are what is measured.
    fn spawn_beside<F>(self, task: F) -> Self::Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn(task)
    }

    /// Lets other tasks run.
    fn yield_now(self) -> impl Future<Output = ()> + Send;
}

/// A runtime with a clock.
pub(crate) trait Timed: Executor {
    /// Waits for `time`.
    fn sleep(self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// A [`Join`] whose task has not panicked.
pub(crate) struct Handle<J, T>(J, PhantomData<fn() -> T>);

impl<J, T> Handle<J, T> {
    const fn of(join: J) -> Self {
        Self(join, PhantomData)
    }
}

impl<J: Join<T>, T: Send + 'static> Future for Handle<J, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let polled = Pin::new(&mut self.get_mut().0).poll(cx);
        polled.map(|result| result.expect("no task panics"))
    }
}

impl<R: Rival> Executor for R {
    type Handle<T: Send + 'static> = Handle<R::Join<T>, T>;

    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Rival::run(self, main)
    }

    fn spawn<F>(self, task: F) -> Self::Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Handle::of(Rival::spawn(self, task))
    }

    fn yield_now(self) -> impl Future<Output = ()> + Send {
        Rival::yield_now(self)
    }
}

impl<R: Rival> Timed for R {
    fn sleep(self, time: Duration) -> impl Future<Output = ()> + Send {
        Rival::sleep(self, time)
    }
}
