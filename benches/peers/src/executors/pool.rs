//! async-executor on threads of its own.

use super::Executor;
use crate::setup::workers;
use std::future::Future;
use std::thread;

/// An executor that a thread for each worker runs.
#[derive(Clone, Copy)]
pub(crate) struct Pool(&'static async_executor::Executor<'static>);

impl Pool {
    pub(crate) fn start() -> Self {
        let executor: &'static _ = Box::leak(Box::new(async_executor::Executor::new()));
        let pool = Self(executor);
        for _ in 0..workers() {
            thread::spawn(move || smol::future::block_on(pool.0.run(std::future::pending::<()>())));
        }
        pool
    }
}

impl Executor for Pool {
    type Handle<T: Send + 'static> = async_executor::Task<T>;

    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        smol::future::block_on(self.0.spawn(main))
    }

    fn spawn<F>(self, task: F) -> async_executor::Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(task)
    }

    fn yield_now(self) -> impl Future<Output = ()> + Send {
        smol::future::yield_now()
    }
}
