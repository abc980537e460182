//! [`Stall`]: the limit of the time in which a client takes nothing of what is written.
//!
//! That the socket has no room does not say that the client has taken nothing: Linux reports room when a third of the buffer
//! is free. So the system's counts decide at the end of the limit, where it tells them.

use colored::net::Progress;
use colored::time::{Duration, Instant, Sleep, sleep};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Measures how long a client has taken nothing, while the connection is unable to write. There is a timer only then.
pub(super) struct Stall {
    limit: Option<Duration>,
    /// In a box, because few connections ever have one.
    wait: Option<Box<Wait>>,
}

struct Wait {
    timer: Sleep,
    /// What the client had taken when the timer was set.
    before: Taken,
}

/// What the client has acknowledged, and what it has not; none if the system does not tell.
type Taken = Option<(Option<u64>, u64)>;

impl Stall {
    pub(super) fn new(limit: Option<Duration>) -> Stall {
        Stall { limit, wait: None }
    }

    /// What an attempt to write has come to: an error, if all attempts within the limit were in vain, and the client has taken
    /// nothing by `progress` since it began.
    pub(super) fn check<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
        progress: impl Fn() -> Option<Progress>,
    ) -> Poll<io::Result<T>> {
        let (Poll::Pending, Some(limit)) = (&written, self.limit) else {
            self.wait = None;
            return written;
        };
        let taken = || progress().map(|progress| (progress.acknowledged, progress.queued));
        let wait = self
            .wait
            .get_or_insert_with(|| Box::new(Wait { timer: sleep(limit), before: taken() }));
        loop {
            ready!(Pin::new(&mut wait.timer).poll(cx));
            let now = taken();
            if now == wait.before {
                let text = format!("the client has taken nothing for {limit:?}");
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, text)));
            }
            wait.before = now;
            Pin::new(&mut wait.timer).reset(Instant::now() + limit);
        }
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
            assert!(stall.check::<()>(&mut cx, Poll::Pending, || None).is_pending());
            assert!(stall.wait.is_some());
            assert!(stall.check(&mut cx, Poll::Ready(Ok(1)), || None).is_ready());
            assert!(stall.wait.is_none());

            let mut none = Stall::new(None);
            assert!(none.check::<()>(&mut cx, Poll::Pending, || None).is_pending());
            assert!(none.wait.is_none());

            let mut stall = Stall::new(Some(Duration::from_millis(20)));
            let error =
                poll_fn(|cx| stall.check::<()>(cx, Poll::Pending, || None)).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert_eq!(error.to_string(), "the client has taken nothing for 20ms");
        });
    }
}
