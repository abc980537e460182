//! Accepting connections, from a socket of any family.

use std::io::{self, ErrorKind};
use std::task::{Context, Poll, ready};

use super::accept_backoff::AcceptBackoff;
use crate::driver::reactor::Socket;
use crate::error_context::with_context;
use crate::io::{Interest, Ready};
use crate::registration::Registered;
use crate::services::current;
use crate::wait_reason::{Kind, Reason, labeled};

/// A listening socket of mio.
pub(super) trait Listener: Socket {
    /// A connection that is not registered yet, and where it comes from.
    type Taken;
    /// The same, registered.
    type Accepted;

    /// Takes a connection out of the queue of the system.
    fn take(&self) -> io::Result<Self::Taken>;

    /// Registers it, or closes it.
    fn connected(taken: Self::Taken) -> io::Result<Self::Accepted>;

    /// Where it listens, for errors.
    fn place(&self) -> io::Result<String>;
}

/// A registered listener.
pub(super) struct Acceptor<L: Listener> {
    inner: Registered<L>,
    backoff: AcceptBackoff,
}

impl<L: Listener> Acceptor<L> {
    #[track_caller]
    pub(super) fn new(socket: L) -> io::Result<Self> {
        let inner = Registered::new(socket, Ready::READABLE)?;
        Ok(Self { inner, backoff: AcceptBackoff::default() })
    }

    /// As [`new`](Acceptor::new), with the runtime and the worker of this context.
    pub(super) fn within(context: &current::Context, socket: L) -> io::Result<Self> {
        let inner = Registered::within(context, socket, Ready::READABLE)?;
        Ok(Self { inner, backoff: AcceptBackoff::default() })
    }

    pub(super) async fn accept(&self) -> io::Result<L::Accepted> {
        loop {
            self.backoff.wait().await;
            let taken = self.inner.io(Interest::READABLE, Listener::take);
            let taken = labeled(Kind::Accept, self.inner.get().number(), taken).await;
            if let Some(done) = self.settle(taken.map(|(_, taken)| taken)) {
                return done;
            }
        }
    }

    /// Like [`accept`](Acceptor::accept); only the last task to poll is woken.
    pub(super) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<L::Accepted>> {
        loop {
            ready!(self.backoff.poll_wait(cx));
            let taken = self.inner.poll_io(cx, Interest::READABLE, Listener::take);
            if taken.is_pending() {
                Reason::new(Kind::Accept, self.inner.get().number()).note();
            }
            let taken = ready!(taken);
            if let Some(done) = self.settle(taken.map(|(_, taken)| taken)) {
                return Poll::Ready(done);
            }
        }
    }

    /// The result of one attempt for the caller, or `None` if the caller should try again.
    fn settle(&self, taken: io::Result<L::Taken>) -> Option<io::Result<L::Accepted>> {
        let registered = match taken {
            Ok(taken) => L::connected(taken),
            Err(error) if concerns_one_connection(&error) => return None,
            Err(error) => Err(error),
        };
        Some(match registered {
            Ok(done) => {
                self.backoff.end_pause();
                Ok(done)
            }
            Err(error) => Err(self.explain(error)),
        })
    }

    #[cold]
    fn explain(&self, error: io::Error) -> io::Error {
        let place = self.get().place().unwrap_or_else(|_| String::from("an unknown address"));
        let pause = self.backoff.start_pause();
        let why = match is_out_of_descriptors(&error) {
            true => {
                "; every descriptor that is allowed is in use (see ulimit -n), \
                 and connections stay queued until one is free"
            }
            false => "",
        };
        let text = format!(
            "cannot accept on {place}: {error}{why}; the next accept waits up to {pause:?}"
        );
        with_context(text, error)
    }

    pub(super) fn get(&self) -> &L {
        self.inner.get()
    }

    pub(super) fn into_inner(self) -> io::Result<L> {
        self.inner.into_inner()
    }

    /// How many tasks wait for a connection.
    #[cfg(test)]
    pub(super) fn listed(&self) -> usize {
        self.inner.listed()
    }
}

/// True for an error that was waiting on the connection at the head of the queue, which is now
/// gone. Linux passes network errors on through accept: accept(2), section "Error handling".
fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::NetworkUnreachable
    )
}

/// True if the process or the system has no descriptor left.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    // EMFILE and ENFILE have no stable `ErrorKind`; the numbers are the same on all unixes. The
    // last is WSAEMFILE.
    matches!(error.raw_os_error(), Some(23 | 24) if cfg!(unix))
        || matches!(error.raw_os_error(), Some(10024) if cfg!(windows))
}
