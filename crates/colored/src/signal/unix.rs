//! The signals of unix.

use crate::io::{AsyncRead, ReadBuf};
use crate::net::UnixStream;
use crate::wait_reason::{Kind, Reason};
use futures_core::Stream;
use signal_hook::SigId;
use signal_hook::consts;
use signal_hook::low_level::{self, pipe};
use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::os::unix::net;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A signal by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignalKind(i32);

macro_rules! kinds {
    ($($(#[$text:meta])* $name:ident = $number:ident;)*) => {
        impl SignalKind {$(
            $(#[$text])*
            #[must_use]
            pub const fn $name() -> Self {
                Self(consts::$number)
            }
        )*}
    };
}

kinds! {
    /// `SIGALRM`: a timer of the system is over.
    alarm = SIGALRM;
    /// `SIGCHLD`: a child process has changed its state.
    child = SIGCHLD;
    /// `SIGHUP`: the terminal is gone; many servers read their configuration again.
    hangup = SIGHUP;
    /// `SIGINT`: Ctrl-C at the terminal.
    interrupt = SIGINT;
    /// `SIGPIPE`: a pipe has no reader. Rust ignores it from the start.
    pipe = SIGPIPE;
    /// `SIGQUIT`: Ctrl-\\ at the terminal.
    quit = SIGQUIT;
    /// `SIGTERM`: the program should end.
    terminate = SIGTERM;
    /// `SIGUSR1`, for programs' own purposes.
    user_defined1 = SIGUSR1;
    /// `SIGUSR2`, for programs' own purposes.
    user_defined2 = SIGUSR2;
    /// `SIGWINCH`: the terminal has another size.
    window_change = SIGWINCH;
}

impl SignalKind {
    /// The signal with this number.
    #[must_use]
    pub const fn from_raw(number: i32) -> Self {
        Self(number)
    }

    /// The number of the signal.
    #[must_use]
    pub const fn as_raw(self) -> i32 {
        self.0
    }
}

/// Listens for a signal, from now on.
///
/// Several may listen for one signal, in one runtime or in several, and each hears of it.
///
/// # Errors
///
/// [`InvalidInput`](ErrorKind::InvalidInput) for a signal that cannot be handled: `SIGKILL`, `SIGSTOP`, and those by which
/// the processor reports an error; and for a number that is no signal's. Otherwise the system's.
///
/// # Panics
///
/// Outside a runtime.
///
/// # Examples
///
/// ```
/// use colored::signal::unix::{SignalKind, signal};
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// let mut hangup = signal(SignalKind::hangup())?;
/// # rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::HUP)?;
/// // Somebody: kill -HUP ..
/// hangup.recv().await;
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    let SignalKind(number) = kind;
    let refused = |why: &str| {
        let name = low_level::signal_name(number).unwrap_or("no signal's number");
        let text = format!("cannot listen for signal {number} ({name}): {why}");
        io::Error::new(ErrorKind::InvalidInput, text)
    };
    if consts::FORBIDDEN.contains(&number) {
        return Err(refused("a program cannot handle it by a task"));
    }
    let (reader, writer) = net::UnixStream::pair()?;
    let bytes = UnixStream::from_std(reader)?;
    let action = pipe::register(number, writer).map_err(|error| match error.raw_os_error() {
        Some(_) => refused(&error.to_string()),
        None => error,
    })?;
    Ok(Signal { bytes, action, kind })
}

/// Tells of a signal; a stream as well.
///
/// Signals that come while nobody receives are remembered, as one: after the last signal there is always something to
/// receive. The system, too, makes one of several that come in short order.
pub struct Signal {
    bytes: UnixStream,
    action: SigId,
    kind: SignalKind,
}

impl Signal {
    /// Waits for the signal. `None` if the runtime has shut down. Cancel safe.
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// As [`recv`](Self::recv).
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let mut bytes = [0; 1024];
        let mut buf = ReadBuf::new(&mut bytes);
        let polled = Pin::new(&mut self.bytes).poll_read(cx, &mut buf);
        if polled.is_pending() {
            Reason::new(Kind::Signal, self.kind.0.unsigned_abs()).note();
        }
        match ready!(polled) {
            Ok(()) if !buf.filled().is_empty() => Poll::Ready(Some(())),
            _ => Poll::Ready(None),
        }
    }
}

impl Stream for Signal {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.poll_recv(cx)
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        low_level::unregister(self.action);
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("kind", &self.kind).finish_non_exhaustive()
    }
}
