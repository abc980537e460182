//! [`Patient`]: a stream of which a write fails when the other side takes nothing.

use colored::io::{AsyncRead, AsyncWrite, ReadBuf};
#[cfg(unix)]
use colored::net::UnixStream;
use colored::net::{Progress, TcpStream};
use colored::time::{Duration, Instant, Sleep, sleep};
use std::any::Any;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Asks how far the bytes of a stream have come.
pub(super) type Ask<S> = fn(&S) -> Option<Progress>;

/// A write fails when the other side has taken nothing for the time of the limit. That there is no room does not say that:
/// Linux reports room when a third of the buffer is free. So the counts of the system decide, where it tells them.
pub(super) struct Patient<S> {
    stream: S,
    limit: Duration,
    progress: Ask<S>,
    /// While there is no room.
    wait: Option<Box<Wait>>,
}

struct Wait {
    timer: Sleep,
    /// What the other side had acknowledged, and what it had not, when the timer was set.
    before: Option<(Option<u64>, u64)>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, limit: Duration, progress: Ask<S>) -> Self {
        Self { stream, limit, progress, wait: None }
    }

    /// What an attempt to write has come to.
    fn check<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.wait = None;
            return written;
        }
        let Self { stream, limit, progress, wait } = self;
        let taken = || progress(stream).map(|progress| (progress.acknowledged, progress.queued));
        let begin = || Box::new(Wait { timer: sleep(*limit), before: taken() });
        let wait = wait.get_or_insert_with(begin);
        loop {
            ready!(Pin::new(&mut wait.timer).poll(cx));
            let now = taken();
            if now == wait.before {
                let text = format!("the other side has taken nothing for {limit:?}");
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, text)));
            }
            wait.before = now;
            Pin::new(&mut wait.timer).reset(Instant::now() + *limit);
        }
    }
}

/// That of the sockets of the runtime.
pub(super) fn of_sockets<S: 'static>(stream: &S) -> Option<Progress> {
    let stream: &dyn Any = stream;
    #[cfg(unix)]
    if let Some(stream) = stream.downcast_ref::<UnixStream>() {
        return stream.progress().ok();
    }
    stream.downcast_ref::<TcpStream>()?.progress().ok()
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.check(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.check(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.check(cx, ended)
    }
}
