//! Pipes and sockets as files: tried, and else left to the reactor. Terminals wait there, too.
//!
//! The attempt does not wait although the descriptor is in blocking mode, which other processes may share.

use super::descriptor::{self, Descriptor};
use super::open_file::OpenFile;
use super::system::{self, Attempt, Readiness};
use crate::driver::reactor::{Interest, Ready};
use crate::registration::Registered;
use std::io::{self, ErrorKind};
use std::task::{Context, Poll, ready};

impl OpenFile {
    /// Reads what a stream has, and waits if there is nothing. `None` if a thread has to read.
    pub(super) fn poll_read_stream(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<Option<usize>>> {
        if !self.is_stream() {
            return Poll::Ready(Ok(None));
        }
        self.poll_stream(cx, Interest::READABLE, |open| {
            system::read_stream(open.system_file(), buf)
        })
        .map_err(|error| self.failed("read", error))
    }

    /// Writes what a stream has room for, and waits if there is none. `None` if a thread has to write.
    pub(super) fn poll_write_stream(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<Option<usize>>> {
        if !self.is_stream() {
            return Poll::Ready(Ok(None));
        }
        self.poll_stream(cx, Interest::WRITABLE, |open| {
            system::write_stream(open.system_file(), buf)
        })
        .map_err(|error| self.failed("write to", error))
    }

    /// Waits for as long as a read would wait for something of which the reactor can tell.
    pub(super) fn poll_readable(
        &self,
        cx: &mut Context<'_>,
        readiness: impl Fn(&Self) -> Readiness,
    ) -> Poll<io::Result<Readiness>> {
        let attempt = |open: &Self| {
            Ok(match readiness(open) {
                Readiness::Ready => Attempt::Done(Readiness::Ready),
                Readiness::Waits => Attempt::WouldBlock,
                Readiness::Unknown => Attempt::Unsupported,
            })
        };
        let polled = self.poll_stream(cx, Interest::READABLE, attempt);
        polled
            .map_ok(|readiness| readiness.unwrap_or(Readiness::Unknown))
            .map_err(|error| self.failed("read", error))
    }

    fn poll_stream<T>(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        mut attempt: impl FnMut(&Self) -> io::Result<Attempt<T>>,
    ) -> Poll<io::Result<Option<T>>> {
        let mut attempt = || match attempt(self)? {
            Attempt::Done(n) => Ok(Some(n)),
            Attempt::Unsupported => Ok(None),
            Attempt::WouldBlock => Err(io::Error::from(ErrorKind::WouldBlock)),
        };
        // A stream that never has to wait is never registered.
        if self.waits.get().is_none() {
            match attempt() {
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                done => return Poll::Ready(done),
            }
        }
        match self.registered() {
            Some(registered) => {
                let (_, done) = ready!(registered.poll_io(cx, interest, |_| attempt()))?;
                Poll::Ready(Ok(done))
            }
            None => Poll::Ready(Ok(None)),
        }
    }

    /// The registration, which the first wait makes. None if the system refuses it, perhaps only for now: too many are
    /// watched.
    fn registered(&self) -> Option<&Registered<Descriptor>> {
        if self.waits.get().is_none() {
            let (of, ready) =
                (descriptor::of(self.system_file()), Ready::READABLE | Ready::WRITABLE);
            // The system refuses the second one of two calls at once. So none is made that is not kept.
            let registered = Registered::within(self.context(), of, ready).ok()?;
            return Some(self.waits.get_or_init(|| registered));
        }
        self.waits.get()
    }
}
