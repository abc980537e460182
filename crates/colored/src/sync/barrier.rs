//! [`Barrier`].

use super::BarrierWaitResult;
use super::waiting::Wait;
use super::wrapper::{convert, debug, deref};
use crate::chance::in_order;
use crate::wait_reason::Kind;
use tokio::sync;

/// Lets a number of tasks go on when all of them have come: [`tokio::sync::Barrier`].
pub struct Barrier(sync::Barrier);

deref!([] Barrier => sync::Barrier);
convert!([] Barrier => sync::Barrier);
debug!([] Barrier);

impl Barrier {
    /// A barrier for so many tasks; 0 is taken for 1.
    #[must_use]
    #[track_caller]
    pub fn new(tasks: usize) -> Self {
        Self(sync::Barrier::new(tasks))
    }

    /// Waits until all tasks have come. Not cancel safe: a task whose wait is dropped counts as one that has come.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        Wait::here(Kind::Notified).until(in_order(self.0.wait()))
    }
}
