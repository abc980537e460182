//! A runtime of one thread: the calling one.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Collects options and does nothing with them, except to refuse zero workers.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    workers: usize,
    pin: bool,
}

/// Polls on the calling thread.
#[derive(Debug)]
pub(crate) struct Runtime;

impl Builder {
    pub(crate) fn new() -> Self {
        Self { workers: 1, pin: false }
    }

    /// The number of workers. Panics on 0.
    pub fn workers(mut self, workers: usize) -> Self {
        assert!(workers > 0, "`workers` must be at least 1, not {workers}");
        self.workers = workers;
        self
    }

    /// Whether workers are pinned.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    pub(crate) fn build(self) -> io::Result<Runtime> {
        Ok(Runtime)
    }
}

impl Runtime {
    pub(crate) fn run<F>(&self, main: F) -> F::Output
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.block_on(main)
    }

    pub(crate) fn block_on<F: Future>(&self, main: F) -> F::Output {
        struct Unpark(Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut main = pin!(main);
        loop {
            match main.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                Poll::Pending => thread::park(),
            }
        }
    }
}
