//! Mely's server of small files on flat queues of events ([`colored_lab::flat`]).
//!
//! A separate thread accepts connections, and gives them to the workers in turn. Each worker has a
//! selector for its connections. The worker waits there when it has nothing to run, and looks there
//! between events. Everything that happens to a connection is an event of the connection's color.

use colored_benches::http::file;
use colored_benches::http::wire::Wire;
use colored_lab::{Events, Flat, Idle, Queues};
use mio::{Interest, Poll, Registry, Token, Waker as Bell};
use std::io::{self, ErrorKind, Read, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll as Polled, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The token of a selector's bell: no connection has it.
const BELL: Token = Token(usize::MAX);

/// The most readiness events of one poll, as in `colored`.
const MOST: usize = 1_024;

/// Serves for ever the connections that `accept` returns.
///
/// # Errors
///
/// If `accept` fails, or the system gives no selector.
pub(super) fn serve(
    workers: usize,
    queues: Queues,
    mut accept: impl FnMut() -> io::Result<Wire>,
) -> io::Result<()> {
    let selectors: Arc<[Selector]> =
        (0..workers).map(|_| Selector::new()).collect::<io::Result<_>>()?;
    let idle = Box::new(Selectors(Arc::clone(&selectors)));
    let flat = Flat::start_with(workers, queues, |_| (), idle);
    let events: Events = flat.events();
    for color in (0..=u16::MAX).cycle() {
        let selector = usize::from(color) % workers;
        let stream = Stream::open(accept()?, Arc::clone(&selectors), selector)?;
        events.spawn(color, file::serve(stream));
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The events of a socket.
#[derive(Default)]
struct Readiness {
    /// Data has come while no task waited for it.
    ready: bool,
    waker: Option<Waker>,
}

type Socket = Arc<Mutex<Readiness>>;

/// One worker's sockets.
struct Selector {
    /// Only its worker uses this.
    poll: Mutex<(Poll, mio::Events)>,
    registry: Registry,
    bell: Bell,
    /// By token.
    sockets: Mutex<Vec<Option<Socket>>>,
    free: Mutex<Vec<usize>>,
}

impl Selector {
    fn new() -> io::Result<Self> {
        let poll = Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let bell = Bell::new(&registry, BELL)?;
        let poll = Mutex::new((poll, mio::Events::with_capacity(MOST)));
        Ok(Self { poll, registry, bell, sockets: Mutex::default(), free: Mutex::default() })
    }
}

/// The workers' selectors, as the executor sees them.
struct Selectors(Arc<[Selector]>);

impl Idle for Selectors {
    fn wait(&self, worker: usize, busy: bool) {
        let (poll, events) = &mut *lock(&self.0[worker].poll);
        match poll.poll(events, busy.then_some(Duration::ZERO)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => events.clear(),
            other => other.expect("polling does not fail"),
        }
    }

    fn hand_out(&self, worker: usize) {
        let selector = &self.0[worker];
        let (_, events) = &mut *lock(&selector.poll);
        let sockets = lock(&selector.sockets);
        for event in events.iter().filter(|event| event.token() != BELL) {
            let Some(Some(socket)) = sockets.get(event.token().0) else { continue };
            let mut readiness = lock(socket);
            match readiness.waker.take() {
                Some(waker) => waker.wake(),
                None => readiness.ready = true,
            }
        }
        events.clear();
    }

    fn wake(&self, worker: usize) {
        self.0[worker].bell.wake().expect("a bell can be rung");
    }
}

/// A connection.
struct Stream {
    wire: Wire,
    socket: Socket,
    token: usize,
    selector: usize,
    selectors: Arc<[Selector]>,
}

impl Stream {
    fn open(mut wire: Wire, selectors: Arc<[Selector]>, selector: usize) -> io::Result<Self> {
        let of = &selectors[selector];
        let (socket, free) = (Socket::default(), lock(&of.free).pop());
        let mut sockets = lock(&of.sockets);
        let token = free.unwrap_or(sockets.len());
        let length = sockets.len().max(token + 1);
        sockets.resize_with(length, || None);
        sockets[token] = Some(Arc::clone(&socket));
        drop(sockets);
        // Data that came before the registration is an event too.
        of.registry.register(&mut wire, Token(token), Interest::READABLE)?;
        Ok(Self { wire, socket, token, selector, selectors })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let of = &self.selectors[self.selector];
        // The socket is closed in any case.
        let _closed = of.registry.deregister(&mut self.wire);
        lock(&of.sockets)[self.token] = None;
        lock(&of.free).push(self.token);
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Polled<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match this.wire.read(buf.initialize_unfilled()) {
                Ok(read) => {
                    buf.advance(read);
                    return Polled::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ready!(wait(&this.socket, cx));
                }
                Err(error) => return Polled::Ready(Err(error)),
            }
        }
    }
}

/// Ready if data has come since the last look.
fn wait(socket: &Socket, cx: &Context<'_>) -> Polled<()> {
    let mut readiness = lock(socket);
    if std::mem::take(&mut readiness.ready) {
        return Polled::Ready(());
    }
    readiness.waker = Some(cx.waker().clone());
    Polled::Pending
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Polled<io::Result<usize>> {
        // The client waits for the answer, so the socket's buffer has room.
        Polled::Ready(self.get_mut().wire.write(buf))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Polled<io::Result<()>> {
        Polled::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Polled<io::Result<()>> {
        Polled::Ready(Ok(()))
    }
}
