//! [`Slow`]: a client behind a slow link.

use colored::io::{AsyncRead, AsyncWrite, ReadBuf};
use colored::net::{TcpSocket, TcpStream};
use colored::time::{Duration, Sleep, sleep};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

/// So many bytes go in a pause: some 100 KB a second.
const STEP: usize = 8 << 10;
const PAUSE: Duration = Duration::from_millis(80);

/// So much less goes to the server.
const UPLOAD: usize = 16;

/// How fast it is at present.
#[derive(Clone, Default)]
pub(crate) struct Speed(Arc<AtomicU8>);

impl Speed {
    pub(crate) const FAST: u8 = 0;
    pub(crate) const SLOW: u8 = 1;
    /// Nothing goes, and the connection stays open.
    pub(crate) const NONE: u8 = 2;

    pub(crate) fn set(&self, speed: u8) {
        self.0.store(speed, Ordering::Relaxed);
    }

    fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection whose system buffers little, so that the server sees what the client takes.
pub(crate) struct Slow<T = TcpStream> {
    io: T,
    speed: Speed,
    step: usize,
    pauses: [Pin<Box<Sleep>>; 2],
}

impl Slow {
    pub(crate) async fn connect(to: SocketAddr, speed: &Speed) -> Slow {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 << 10).unwrap();
        Slow::over(socket.connect(to).await.unwrap(), speed)
    }
}

impl<T> Slow<T> {
    pub(crate) fn over(io: T, speed: &Speed) -> Slow<T> {
        let pauses = [(); 2].map(|()| Box::pin(sleep(Duration::ZERO)));
        Slow { io, speed: speed.clone(), step: STEP, pauses }
    }

    /// So many times slower.
    #[cfg(unix)]
    pub(crate) fn slower(self, times: usize) -> Slow<T> {
        Slow { step: STEP / times, ..self }
    }

    /// How much may go in this direction now. What goes at once changes its speed with the next pause.
    fn poll_room(&mut self, cx: &mut Context<'_>, direction: usize, step: usize) -> Poll<usize> {
        ready!(self.pauses[direction].as_mut().poll(cx));
        let room = match self.speed.get() {
            Speed::FAST => return Poll::Ready(usize::MAX),
            Speed::SLOW => Some(step),
            _ => None,
        };
        self.pauses[direction] = Box::pin(sleep(PAUSE));
        match room {
            Some(room) => Poll::Ready(room),
            None => self.poll_room(cx, direction, step),
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Slow<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let step = self.step;
        let room = ready!(self.poll_room(cx, 0, step)).min(buf.remaining());
        let mut some = ReadBuf::new(buf.initialize_unfilled_to(room));
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut some))?;
        let n = some.filled().len();
        buf.advance(n);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Slow<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let step = self.step / UPLOAD;
        let room = ready!(self.poll_room(cx, 1, step));
        Pin::new(&mut self.io).poll_write(cx, &buf[..buf.len().min(room)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
