//! [`Stdout`] and [`Stderr`].

use crate::blocking::{self, Deferred};
use crate::budget::poll_proceed;
use crate::error_context::with_context;
use crate::pool::Class;
use crate::ready::{Direction, Open, until_done};
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// One write takes so many bytes at most, and copies them.
const MOST: usize = 1 << 20;

/// Writes all bytes, and leaves none of them in a buffer of the process.
type WriteAll = fn(&[u8]) -> io::Result<()>;

/// The standard output of the process, without a buffer: when a write returns, the system has the
/// bytes.
///
/// A write waits on a blocking thread of this stream, which does not keep the program from ending, and waits also if
/// somebody has set the descriptor to non-blocking mode: there is no error
/// [`WouldBlock`](io::ErrorKind::WouldBlock), and all bytes of a `write_all` are written. No other
/// write, nor a `println!`, puts bytes between the bytes of one write, up to 1 MiB. A dropped write
/// may still write its bytes; the next write of this handle comes after them.
///
/// # Panics
///
/// A write panics outside a runtime.
#[derive(Debug)]
pub struct Stdout(Output);

/// The standard error of the process; otherwise as [`Stdout`].
#[derive(Debug)]
pub struct Stderr(Output);

/// A handle of the standard output.
#[must_use]
pub fn stdout() -> Stdout {
    Stdout(Output::new(Class::Output, |bytes| write_all(&io::stdout(), io::stdout().lock(), bytes)))
}

/// A handle of the standard error.
#[must_use]
pub fn stderr() -> Stderr {
    Stderr(Output::new(Class::Errors, |bytes| write_all(&io::stderr(), io::stderr().lock(), bytes)))
}

/// Writes all bytes, through the buffer, and waits for room in the file. What is under the lock is written as a whole.
fn write_all(of: &impl Open, mut out: impl Write, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        // An error means that none of these bytes are in the buffer.
        match until_done(of, Direction::Write, || out.write(&bytes[done..]))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => done += n,
        }
    }
    until_done(of, Direction::Write, || out.flush())
}

/// The bytes of a write, and how it ended.
type Written = (Vec<u8>, io::Result<()>);

#[derive(Debug)]
struct Output {
    class: Class,
    write_all: WriteAll,
    /// The write that has not returned, with its bytes.
    write: Option<Deferred<Written>>,
}

impl Output {
    fn new(class: Class, write_all: WriteAll) -> Self {
        Self { class, write_all, write: None }
    }

    /// Waits for the write that has not returned, if there is one.
    fn poll_settle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Written>>> {
        let Some(write) = &mut self.write else { return Poll::Ready(Ok(None)) };
        let done = ready!(Pin::new(write).poll(cx));
        self.write = None;
        Poll::Ready(done.ok_or_else(blocking::shut_down).map(Some))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready!(poll_proceed(cx));
        loop {
            // If the bytes are others, the caller of that write gave it up, and its error with it.
            if let Some((bytes, written)) = ready!(self.poll_settle(cx))?
                && buf.starts_with(&bytes)
            {
                return Poll::Ready(written.map(|()| bytes.len()));
            }
            let bytes = buf[..buf.len().min(MOST)].to_vec();
            let write_all = self.write_all;
            let write = blocking::defer(self.class, move || {
                let written = write_all(&bytes);
                (bytes, written)
            });
            self.write = Some(write.map_err(|error| {
                with_context(
                    format!("cannot write to the standard output or error: {error}"),
                    error,
                )
            })?);
        }
    }
}

macro_rules! implement_write {
    ($($type:ty),*) => {$(
        impl AsyncWrite for $type {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.0.poll_write(cx, buf)
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                let settled = ready!(self.0.poll_settle(cx))?;
                Poll::Ready(settled.map_or(Ok(()), |(_, written)| written))
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }
    )*};
}

implement_write!(Stdout, Stderr);
