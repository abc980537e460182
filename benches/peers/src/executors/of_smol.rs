//! smol's global executor, with as many threads as `SMOL_THREADS` says.

use super::{Executor, Timed};
use std::future::Future;
use std::time::Duration;

/// The executor behind `smol::spawn`.
#[derive(Clone, Copy)]
pub(crate) struct Smol;

impl Executor for Smol {
    type Handle<T: Send + 'static> = smol::Task<T>;

    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        smol::future::block_on(smol::spawn(main))
    }

    fn spawn<F>(self, task: F) -> smol::Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        smol::spawn(task)
    }

    fn yield_now(self) -> impl Future<Output = ()> + Send {
        smol::future::yield_now()
    }
}

impl Timed for Smol {
    async fn sleep(self, time: Duration) {
        smol::Timer::after(time).await;
    }
}
