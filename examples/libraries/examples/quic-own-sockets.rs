//! quinn on our own sockets: QUIC without tokio's runtime. The drivers of the endpoint and of the connections are tasks of
//! ours too, each under a color of its own.

use colored::io::Interest;
use colored::net::UdpSocket;
use colored::time::{Sleep, sleep_until};
use colored::{Color, spawn_colored, spawn_unique};
use colored_libraries::{Failure, SelfSigned};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime, UdpPoller};
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, ServerConfig};
use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

const MOST: usize = 64 * 1024;

/// What quinn wants of a runtime.
#[derive(Debug)]
struct Colored;

impl Runtime for Colored {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(Timer(sleep_until(at)))
    }

    fn spawn(&self, driver: Pin<Box<dyn Future<Output = ()> + Send>>) {
        drop(spawn_unique(driver));
    }

    fn wrap_udp_socket(&self, socket: std::net::UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        Ok(Arc::new(Socket { inner: UdpSocket::from_std(socket)?, state }))
    }

    fn now(&self) -> Instant {
        colored::time::Instant::now().into_std()
    }
}

struct Timer(Sleep);

impl AsyncTimer for Timer {
    fn reset(mut self: Pin<&mut Self>, at: Instant) {
        Pin::new(&mut self.0).reset(at);
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timer")
    }
}

#[derive(Debug)]
struct Socket {
    inner: UdpSocket,
    state: UdpSocketState,
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let socket = UdpSockRef::from(&self.inner);
        self.inner.try_io(Interest::WRITABLE, || self.state.send(socket, transmit))
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.inner.poll_recv_ready(cx))?;
            let socket = UdpSockRef::from(&self.inner);
            let received = || self.state.recv(socket, bufs, meta);
            match self.inner.try_io(Interest::READABLE, received) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                received => return Poll::Ready(received),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

/// Waits until datagrams can be sent. Several tasks wait at once, so each has a future of its own: a poll of the socket
/// wakes the last one only.
struct Writable {
    socket: Arc<Socket>,
    waiting: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>>,
}

impl UdpPoller for Writable {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = Arc::clone(&self.socket);
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(async move { socket.inner.writable().await }));
        let writable = ready!(waiting.as_mut().poll(cx));
        self.waiting = None;
        Poll::Ready(writable)
    }
}

impl fmt::Debug for Writable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writable").field("socket", &self.socket).finish_non_exhaustive()
    }
}

fn endpoint(server: Option<ServerConfig>) -> io::Result<Endpoint> {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
    Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(Colored))
}

#[colored::main]
async fn main() -> Result<(), Failure> {
    let tls = SelfSigned::new()?;
    let config = QuicServerConfig::try_from(tls.server("echo")?)?;
    let server = endpoint(Some(ServerConfig::with_crypto(Arc::new(config))))?;
    let addr = server.local_addr()?;
    let accepting = server.clone();
    drop(spawn_unique(async move {
        while let Some(incoming) = accepting.accept().await {
            if let Ok(connection) = incoming.await {
                drop(spawn_unique(echo(connection)));
            }
        }
    }));

    let mut client = endpoint(None)?;
    let config = QuicClientConfig::try_from(tls.client("echo")?)?;
    client.set_default_client_config(ClientConfig::new(Arc::new(config)));
    let connection = client.connect(addr, "localhost")?.await?;
    let streams: Vec<_> = (0..8_u64)
        .map(|stream| spawn_colored(Color::of(stream), ask(connection.clone(), stream)))
        .collect();
    for stream in streams {
        println!("{}", stream.await??);
    }

    connection.close(0_u32.into(), b"done");
    client.wait_idle().await;
    server.close(0_u32.into(), b"done");
    server.wait_idle().await;
    println!("client and server have closed");
    Ok(())
}

/// Sends more than one datagram, and returns what comes back.
async fn ask(connection: Connection, stream: u64) -> Result<String, Failure> {
    let request = format!("stream {stream}").repeat(5_000);
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(request.as_bytes()).await?;
    send.finish()?;
    let answer = receive.read_to_end(MOST).await?;
    let is_same = answer == request.as_bytes() && Color::current() == Some(Color::of(stream));
    Ok(format!("stream {stream}: {} bytes, as sent: {is_same}", answer.len()))
}

async fn echo(connection: Connection) {
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        drop(spawn_unique(async move {
            let request = receive.read_to_end(MOST).await?;
            send.write_all(&request).await?;
            send.finish()?;
            Ok::<_, Failure>(())
        }));
    }
}
