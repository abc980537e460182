//! [`Stall`]: the limit of the time in which a client takes nothing of what is written.

use colored::time::{Duration, Sleep, sleep};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Measures how long a connection has been unable to write. There is a timer only while it is.
pub(super) struct Stall {
    limit: Option<Duration>,
    /// The timer is in a box, because few connections ever have one.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stall {
    pub(super) fn new(limit: Option<Duration>) -> Stall {
        Stall { limit, timer: None }
    }

    /// What an attempt to write has come to: an error, if all attempts within the limit were in vain.
    pub(super) fn check<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let (Poll::Pending, Some(limit)) = (&written, self.limit) else {
            self.timer = None;
            return written;
        };
        ready!(self.timer.get_or_insert_with(|| Box::pin(sleep(limit))).as_mut().poll(cx));
        let text = format!("the client has taken nothing for {limit:?}");
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Waker;

    #[test]
    fn a_timer_runs_only_while_nothing_can_be_written() {
        let runtime = colored::Runtime::builder().workers(1).build().unwrap();
        runtime.block_on(async {
            let mut cx = Context::from_waker(Waker::noop());
            let mut stall = Stall::new(Some(Duration::from_secs(3600)));
            assert!(stall.check::<()>(&mut cx, Poll::Pending).is_pending());
            assert!(stall.timer.is_some());
            assert!(stall.check(&mut cx, Poll::Ready(Ok(1))).is_ready());
            assert!(stall.timer.is_none());

            let mut none = Stall::new(None);
            assert!(none.check::<()>(&mut cx, Poll::Pending).is_pending());
            assert!(none.timer.is_none());

            let mut stall = Stall::new(Some(Duration::from_millis(20)));
            let error = poll_fn(|cx| stall.check::<()>(cx, Poll::Pending)).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert_eq!(error.to_string(), "the client has taken nothing for 20ms");
        });
    }
}
