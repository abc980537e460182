//! The calls of the handler in a run: one poll handles all records whose handlers are ready at once.

use super::contain::contain;
use super::context::Context as Told;
use super::failure::Failure;
use super::run::Runner;
use super::work::Work;
use colored::task::consume_budget;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Calls the handler for the next records of a run. It is ready with the first failure, or when all records are done, or no other one
/// is to begin. A panic of the handler, of its future, or of the destructor of that, is a failure that is to be tried again.
pub(super) struct Calls<'a, W: Work> {
    runner: &'a mut Runner<W>,
    /// That of the record which is being handled.
    future: Pin<&'a mut Option<W::Future>>,
}

impl<'a, W: Work> Calls<'a, W> {
    pub(super) fn new(
        runner: &'a mut Runner<W>,
        future: Pin<&'a mut Option<W::Future>>,
    ) -> Calls<'a, W> {
        Calls { runner, future }
    }

    /// Whether to end after one call, which the caller has taken from the budget: it has a deadline.
    fn is_one(&self) -> bool {
        self.runner.common.settings.deadline.is_some()
    }

    /// Handles records until one waits or fails. Panics as the handler does.
    fn poll_all(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        loop {
            if self.future.is_none() {
                if self.runner.must_end() {
                    return Poll::Ready(Ok(()));
                }
                if !self.is_one() {
                    ready!(pin!(consume_budget()).poll(cx));
                }
                self.call();
            }
            let future = self.future.as_mut().as_pin_mut().expect("it was set");
            let Poll::Ready(returned) = future.poll(cx) else {
                self.runner.report_done();
                return Poll::Pending;
            };
            if returned.is_err() {
                // Apart: a failure whose destructor panics must not meet another panic.
                let dropped = contain(|| self.future.set(None));
                return Poll::Ready(dropped.map_err(Failure::retry).and(returned));
            }
            self.future.set(None);
            self.runner.run.done += self.runner.next_count() as u32;
            self.runner.run.attempts = 0;
            if self.is_one() {
                return Poll::Ready(Ok(()));
            }
        }
    }

    fn call(&mut self) {
        let Runner { common, hand, run } = &*self.runner;
        let records = &self.runner.rest()[..self.runner.next_count()];
        let attempt = run.attempts.saturating_add(1);
        let told = Told { claim: Arc::clone(hand), color: run.color, attempt };
        let future = common.work.call(records, told);
        self.future.set(Some(future));
    }
}

impl<W: Work> Future for Calls<'_, W> {
    type Output = Result<(), Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        contain(|| this.poll_all(cx)).unwrap_or_else(|text| {
            // What it says has failed is said already.
            let _ = contain(|| this.future.set(None));
            Poll::Ready(Err(Failure::retry(text)))
        })
    }
}

impl<W: Work> Drop for Calls<'_, W> {
    fn drop(&mut self) {
        // The call has failed already, or its partition has gone.
        let _ = contain(|| self.future.set(None));
    }
}

// The future is behind a pointer.
impl<W: Work> Unpin for Calls<'_, W> {}
