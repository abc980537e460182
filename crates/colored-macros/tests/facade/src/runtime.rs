//! A runtime of one thread: the calling one.

use std::cell::Cell;
use std::io;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Collects options and does nothing with them, except to refuse the values that the real one
/// refuses.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    workers: usize,
    pin: bool,
    start_paused: Option<bool>,
}

/// Polls on the calling thread.
#[derive(Debug)]
pub(crate) struct Runtime;

thread_local!(static ASKED: Cell<Option<bool>> = const { Cell::new(None) });

/// What `Builder::start_paused` of this thread's last runtime was called with.
#[must_use]
pub fn last_start_paused() -> Option<bool> {
    ASKED.get()
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { workers: 1, pin: false, start_paused: None }
    }

    /// The number of workers, 1 to 1024.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Whether workers are pinned.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// This runtime has no clock, and only remembers that it was asked.
    pub fn start_paused(mut self, paused: bool) -> Self {
        self.start_paused = Some(paused);
        self
    }

    /// Takes part in `--all-features` only.
    #[cfg(feature = "tokio-context")]
    pub(crate) fn tokio_context(self, _: bool) -> Self {
        self
    }

    pub(crate) fn build(self) -> io::Result<Runtime> {
        let workers = self.workers;
        ASKED.set(self.start_paused);
        if (1..=1024).contains(&workers) {
            return Ok(Runtime);
        }
        let text = format!(
            "workers({workers}): allowed are 1 to 1024; leave it out for one per available CPU"
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

impl Runtime {
    pub(crate) fn run_from<F>(&self, _: &'static Location<'static>, main: F) -> F::Output
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
