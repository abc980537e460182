//! What all streams have: one registration for all clones, time-outs, and the way of a read or a write.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use colored::time::timeout;

use super::complete::{complete, take_unit};
use super::time_limit::{TimeLimit, over};
use crate::checked_wait;

/// An async stream with the time-outs of its two directions, which its clones share.
#[derive(Debug)]
pub(crate) struct Shared<S>(Arc<Parts<S>>);

#[derive(Debug)]
struct Parts<S> {
    stream: S,
    read: TimeLimit,
    write: TimeLimit,
}

impl<S> Shared<S> {
    pub(crate) fn new(stream: S) -> Shared<S> {
        Shared(Arc::new(Parts { stream, read: TimeLimit::default(), write: TimeLimit::default() }))
    }

    pub(crate) fn get(&self) -> &S {
        &self.0.stream
    }

    pub(crate) fn share(&self) -> Shared<S> {
        Shared(Arc::clone(&self.0))
    }

    /// The stream, if this is the last clone.
    pub(crate) fn into_inner(self) -> Result<S, Shared<S>> {
        Arc::try_unwrap(self.0).map(|parts| parts.stream).map_err(Shared)
    }

    pub(crate) fn limit_reads(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.read.set(limit)
    }

    pub(crate) fn limit_writes(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.write.set(limit)
    }

    pub(crate) fn read_limit(&self) -> Option<Duration> {
        self.0.read.get()
    }

    pub(crate) fn write_limit(&self) -> Option<Duration> {
        self.0.write.get()
    }

    /// Moves at most `len` bytes by `operation`, which runs again whenever the stream is `readable`, until it does not answer
    /// `WouldBlock`.
    pub(crate) fn read<'a, R>(
        &'a self,
        len: usize,
        mut operation: impl FnMut(&'a S) -> io::Result<usize>,
        readable: impl Fn(&'a S) -> R,
    ) -> io::Result<usize>
    where
        R: Future<Output = io::Result<()>>,
    {
        let Parts { stream, read, .. } = &*self.0;
        transfer(len, read, || operation(stream), || readable(stream))
    }

    /// As [`read`](Shared::read), in the other direction.
    pub(crate) fn write<'a, R>(
        &'a self,
        len: usize,
        mut operation: impl FnMut(&'a S) -> io::Result<usize>,
        writable: impl Fn(&'a S) -> R,
    ) -> io::Result<usize>
    where
        R: Future<Output = io::Result<()>>,
    {
        let Parts { stream, write, .. } = &*self.0;
        transfer(len, write, || operation(stream), || writable(stream))
    }

    /// The result of `operation` if it comes before the time of a read is over.
    pub(crate) fn complete_read(
        &self,
        operation: impl Future<Output = io::Result<usize>>,
    ) -> io::Result<usize> {
        match self.0.read.get() {
            None => complete(operation),
            Some(limit) => complete(within(limit, operation)),
        }
    }
}

fn transfer<R>(
    len: usize,
    limit: &TimeLimit,
    mut operation: impl FnMut() -> io::Result<usize>,
    ready: impl Fn() -> R,
) -> io::Result<usize>
where
    R: Future<Output = io::Result<()>>,
{
    if len == 0 {
        // It must not wait for a peer that may never send.
        return Ok(0);
    }
    take_unit();
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return done,
        }
        match limit.get() {
            None => checked_wait(ready())??,
            Some(limit) => return repeat_within(limit, operation, ready),
        }
    }
}

/// Apart from the rest, whose frame is small then.
#[inline(never)]
fn repeat_within<R>(
    limit: Duration,
    mut operation: impl FnMut() -> io::Result<usize>,
    ready: impl Fn() -> R,
) -> io::Result<usize>
where
    R: Future<Output = io::Result<()>>,
{
    let repeat = async {
        loop {
            ready().await?;
            match operation() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    };
    checked_wait(within(limit, repeat))?
}

async fn within(
    limit: Duration,
    operation: impl Future<Output = io::Result<usize>>,
) -> io::Result<usize> {
    timeout(limit, operation).await.unwrap_or_else(|_| Err(over(limit)))
}

/// `Read` for a stream and for references to it, and its time-out.
macro_rules! read_methods {
    ($stream:ident) => {
        impl $stream {
            /// The longest time of a read; `None` for no time-out.
            ///
            /// # Errors
            ///
            /// None. It returns a `Result` as the standard library does.
            pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
                Ok(self.shared.read_limit())
            }

            /// Sets the longest time of a read, which concerns reads that begin later. After that time the read returns an
            /// error of the kind that the standard library's sockets return on the same system:
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) on unix, [`TimedOut`](io::ErrorKind::TimedOut) on Windows. Clones
            /// share the time-out.
            ///
            /// # Errors
            ///
            /// [`InvalidInput`](io::ErrorKind::InvalidInput) for 0.
            pub fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
                self.shared.limit_reads(limit)
            }
        }

        impl io::Read for &$stream {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.shared.read(
                    buf.len(),
                    |stream| stream.try_read(buf),
                    |stream| stream.readable(),
                )
            }

            fn read_vectored(&mut self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
                let len = bufs.iter().map(|buf| buf.len()).sum();
                self.shared.read(
                    len,
                    |stream| stream.try_read_vectored(bufs),
                    |stream| stream.readable(),
                )
            }
        }

        impl io::Read for $stream {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                io::Read::read(&mut &*self, buf)
            }

            fn read_vectored(&mut self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
                io::Read::read_vectored(&mut &*self, bufs)
            }
        }
    };
}

/// `Write` for a stream and for references to it, and its time-out.
macro_rules! write_methods {
    ($stream:ident) => {
        impl $stream {
            /// The longest time of a write; `None` for no time-out.
            ///
            /// # Errors
            ///
            /// None. It returns a `Result` as the standard library does.
            pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
                Ok(self.shared.write_limit())
            }

            /// Sets the longest time of a write, which concerns writes that begin later. After that time the write returns
            /// an error of the kind that the standard library's sockets return on the same system:
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) on unix, [`TimedOut`](io::ErrorKind::TimedOut) on Windows. Clones
            /// share the time-out.
            ///
            /// # Errors
            ///
            /// [`InvalidInput`](io::ErrorKind::InvalidInput) for 0.
            pub fn set_write_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
                self.shared.limit_writes(limit)
            }
        }

        impl io::Write for &$stream {
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                self.shared.write(
                    buf.len(),
                    |stream| stream.try_write(buf),
                    |stream| stream.writable(),
                )
            }

            fn write_vectored(&mut self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
                let len = bufs.iter().map(|buf| buf.len()).sum();
                self.shared.write(
                    len,
                    |stream| stream.try_write_vectored(bufs),
                    |stream| stream.writable(),
                )
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        impl io::Write for $stream {
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                io::Write::write(&mut &*self, buf)
            }

            fn write_vectored(&mut self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
                io::Write::write_vectored(&mut &*self, bufs)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
    };
}

pub(crate) use {read_methods, write_methods};
