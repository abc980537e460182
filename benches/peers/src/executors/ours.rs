//! `colored` where two tasks that work together have one color, and others have others.

use super::{Executor, Handle};
use colored_benches::Rival;
use colored_benches::rivals::Unique;
use std::future::Future;

/// As [`Unique`], but [`Executor::spawn_beside`] keeps the caller's color.
#[derive(Clone, Copy)]
pub(crate) struct PerPair(pub(crate) Unique);

impl Executor for PerPair {
    type Handle<T: Send + 'static> = <Unique as Executor>::Handle<T>;

    fn run<F>(self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Executor::run(self.0, main)
    }

    fn spawn<F>(self, task: F) -> Self::Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Executor::spawn(self.0, task)
    }

    fn spawn_beside<F>(self, task: F) -> Self::Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Handle::of(colored::spawn_here(task))
    }

    fn yield_now(self) -> impl Future<Output = ()> + Send {
        Rival::yield_now(self.0)
    }
}
