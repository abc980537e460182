//! [`Migrating`]: a fiber that may be polled on any thread.

use crate::fiber::{Fiber, Settings};
use std::pin::Pin;
use std::task::{Context, Poll};

pub(super) struct Migrating<F, T>(Fiber<F, T>);

// SAFETY: the maker promises that what is on the stack may be used on any thread at each wait. The fiber's own counted
// references, one here and one on the stack, move together.
unsafe impl<F: Send, T: Send> Send for Migrating<F, T> {}

impl<F: FnOnce() -> T, T> Migrating<F, T> {
    /// # Safety
    ///
    /// As for [`spawn_migrating`](crate::spawn_migrating).
    pub(super) unsafe fn new(f: F, settings: Settings) -> Self {
        Self(Fiber::new(f, Settings { moves: true, ..settings }))
    }
}

impl<F: FnOnce() -> T, T> Future for Migrating<F, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(cx)
    }
}
