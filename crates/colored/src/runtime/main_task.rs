//! `Runtime::run`: the main future as an ordinary task, and a caller that sleeps.

use super::handle::Handle;
use crate::task::JoinError;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[track_caller]
pub(super) fn run<F>(handle: &Handle, main: F) -> Result<F::Output, JoinError>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    assert!(
        colored_core::Color::current().is_none() && !handle.is_current_worker(),
        "`Runtime::run` inside a task would block its worker and its color: spawn the future instead"
    );
    let mut task = pin!(handle.spawn(main));
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        match task.as_mut().poll(&mut cx) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}
