//! Where connections come from.

use crate::support::*;
use colored::Color;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored_hyper::{Coloring, Listener, into_io, serve, serve_with};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::future::{Ready, ready};
use std::io::{self, Error};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

const REQUEST: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";

/// Numbers its clients from 1, and expects an `h` of each before HTTP.
struct Greeted {
    inner: TcpListener,
    clients: u64,
}

impl Listener for Greeted {
    type Io = TcpStream;
    type Peer = u64;
    type Handshake = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(Self::Handshake, u64)>> {
        self.inner.poll_accept(cx).map_ok(|(stream, _): (_, SocketAddr)| {
            self.clients += 1;
            (Box::pin(greet(stream)) as _, self.clients)
        })
    }
}

async fn greet(mut stream: TcpStream) -> io::Result<TcpStream> {
    match stream.read_u8().await? {
        b'h' => Ok(stream),
        byte => Err(Error::other(format!("a greeting of {byte}"))),
    }
}

fn greeted(inner: TcpListener) -> Greeted {
    Greeted { inner, clients: 0 }
}

/// The service of these tests; the listener has given `peer` to the connection.
fn named(
    peer: u64,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response<Full<bytes::Bytes>>,
    Error = std::convert::Infallible,
    Future: Send + 'static,
> + Send
+ 'static {
    service_fn(move |request: Request<Incoming>| async move {
        drop(request);
        let color = Color::current().expect("a request has a color");
        Ok(Response::new(Full::from(format!("client {peer} under {color}"))))
    })
}

#[colored::test(workers = 2)]
async fn a_handshake_comes_first_and_delays_no_other_connection() {
    let server = start(|listener| {
        let coloring = Coloring::Peer(|&peer| Color::new(peer + 40));
        serve_with(greeted(listener), named).coloring(coloring)
    })
    .await;
    // In the order of the connections: the first says nothing until the second is served.
    let mut first = raw(&server).await;
    let mut second = raw(&server).await;
    let end = |peer: u64| format!("client {peer} under {}", Color::new(peer + 40));
    exchange(&mut second, &format!("h{REQUEST}"), &end(2)).await;
    exchange(&mut first, &format!("h{REQUEST}"), &end(1)).await;
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_failed_handshake_is_an_error_with_the_peer_in_it() {
    let log = Log::default();
    let errors = log.clone();
    let server = start(|listener| {
        serve(greeted(listener), service_fn(echo)).on_error(move |error| errors.add(error))
    })
    .await;
    let mut stream = raw(&server).await;
    stream.write_all(b"x").await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
    let error = "connection of 1 ended before its first request: a greeting of 120";
    assert_eq!(log.first().await, error);
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_handshake_has_a_limit_of_time_and_ends_with_the_server() {
    for http1_only in [false, true] {
        let log = Log::default();
        let errors = log.clone();
        let server = start(|listener| {
            let serve = serve(greeted(listener), service_fn(echo)).header_read_timeout(SHORT);
            let serve = serve.on_error(move |error| errors.add(error));
            if http1_only { serve.http1_only() } else { serve }
        })
        .await;
        assert_eq!(rest(&mut raw(&server).await).await, "");
        let error =
            "connection of 1 ended before its first request: the client did not begin in 100ms";
        assert_eq!(log.first().await, error);
        server.end().await;

        let server = start(|listener| {
            let serve = serve(greeted(listener), service_fn(echo));
            let serve = serve.header_read_timeout(None).drain_timeout(None);
            if http1_only { serve.http1_only() } else { serve }
        })
        .await;
        let (mut silent, mut open) = (raw(&server).await, raw(&server).await);
        exchange(&mut open, &format!("h{REQUEST}"), "ok").await;
        server.end().await;
        assert_eq!(rest(&mut silent).await, "");
    }
}

/// Has so many clients at once, all of which fail.
struct Flood {
    left: u32,
    accepted: Arc<AtomicU32>,
}

impl Listener for Flood {
    type Io = TcpStream;
    type Peer = u32;
    type Handshake = Ready<io::Result<TcpStream>>;

    fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<(Self::Handshake, u32)>> {
        let Some(left) = self.left.checked_sub(1) else { return Poll::Pending };
        self.left = left;
        self.accepted.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Ok((ready(Err(Error::other("gone"))), left)))
    }
}

#[colored::test(workers = 2)]
async fn accepting_lets_others_of_its_color_run() {
    const ALL: u32 = 10_000;
    let accepted = Arc::new(AtomicU32::new(0));
    let flood = Flood { left: ALL, accepted: Arc::clone(&accepted) };
    let serve = serve(flood, service_fn(echo)).coloring(Coloring::Default);
    let server = colored::spawn(serve.into_future());
    // Under the color of the accept loop.
    let seen = colored::spawn(async move {
        loop {
            match accepted.load(Ordering::Relaxed) {
                0 => colored::yield_now().await,
                seen => return seen,
            }
        }
    });
    let seen = within(seen).await.unwrap();
    assert!((1..ALL).contains(&seen), "{seen}");
    server.abort();
}

#[cfg(unix)]
mod unix {
    use super::*;
    use axum::Router;
    use axum::extract::ConnectInfo;
    use axum::routing::get;
    use colored::net::{UnixListener, UnixStream};
    use colored::sync::oneshot;
    use colored_hyper::{ColoredExecutor, UnixPeer, tower, with_extension};
    use hyper::client::conn::{http1, http2};

    /// A path that is free, and removed at the end.
    struct Place(std::path::PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let name = format!("colored-hyper-{name}-{}.sock", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::remove_file(&path);
            Place(path)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[colored::test(workers = 2)]
    async fn both_versions_over_unix_sockets() {
        let place = Place::new("versions");
        let listener = UnixListener::bind(&place.0).unwrap();
        let (log, (stop, stopped)) = (Log::default(), oneshot::channel::<()>());
        let errors = log.clone();
        let serve = serve(listener, service_fn(echo))
            .coloring(Coloring::Stream)
            .on_error(move |error| errors.add(error))
            .with_graceful_shutdown(async { drop(stopped.await) });
        let server = colored::spawn_unique(serve.into_future());
        let body = "x".repeat(1_000_000);

        let stream = UnixStream::connect(&place.0).await.unwrap();
        let (mut client, connection) = http1::handshake(stream).await.unwrap();
        drop(colored::spawn_unique(connection));
        for _ in 0..3 {
            client.ready().await.unwrap();
            let request = post("/".parse().unwrap(), body.clone());
            assert_eq!(text(within(client.send_request(request)).await.unwrap()).await, body);
        }

        let stream = UnixStream::connect(&place.0).await.unwrap();
        let executor = ColoredExecutor::here();
        let (mut client, connection) = http2::handshake(executor, stream).await.unwrap();
        drop(colored::spawn_here(connection));
        let request = post("http://a/".parse().unwrap(), body.clone());
        assert_eq!(text(within(client.send_request(request)).await.unwrap()).await, body);

        let mut stream = UnixStream::connect(&place.0).await.unwrap();
        stream.write_all(b"nonsense\r\n\r\n").await.unwrap();
        let error = log.first().await;
        assert!(error.starts_with("connection of (unnamed) of user "), "{error}");

        // Its clients stay, and would for ever.
        drop(stop);
        within(server).await.unwrap().unwrap();
        // A child that another test has forked may hold the listener for a moment.
        while within(UnixStream::connect(&place.0)).await.is_ok() {}
    }

    #[colored::test(workers = 2)]
    async fn handlers_and_colors_know_who_is_at_the_other_end() {
        let place = Place::new("credentials");
        let listener = UnixListener::bind(&place.0).unwrap();
        let router: Router = Router::new().route(
            "/",
            get(async |ConnectInfo(peer): ConnectInfo<UnixPeer>| {
                let cred = peer.cred().unwrap();
                let color = Color::current().unwrap();
                assert_eq!(color, Color::of(cred.uid()));
                assert!(peer.is_unnamed() && peer.addr().is_unnamed());
                format!("{:?}", (cred.uid(), cred.gid(), cred.pid()))
            }),
        );
        let make = move |peer| with_extension(tower(router.clone()), ConnectInfo(peer));
        let coloring = Coloring::Peer(|peer: &UnixPeer| Color::of(peer.cred().unwrap().uid()));
        let server = serve_with(listener, make).coloring(coloring).into_future();
        let server = colored::spawn_unique(server);
        let mut stream = UnixStream::connect(&place.0).await.unwrap();
        // The server runs in this process.
        let own = stream.peer_cred().unwrap();
        let request = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        within(stream.read_to_string(&mut answer)).await.unwrap();
        let expected = format!("{:?}", (own.uid(), own.gid(), own.pid()));
        assert!(answer.ends_with(&expected), "{answer}");
        server.abort();
    }

    #[colored::test(workers = 2)]
    async fn an_upgraded_connection_gives_its_socket_back() {
        let place = Place::new("upgrade");
        let listener = UnixListener::bind(&place.0).unwrap();
        let service = service_fn(async |request: Request<Incoming>| -> Answer {
            colored::spawn_unique(async {
                let upgraded = hyper::upgrade::on(request).await.unwrap();
                // Of another kind: it comes back as it was.
                let upgraded = into_io::<TcpStream>(upgraded).unwrap_err();
                let (mut stream, said) = into_io::<UnixStream>(upgraded).unwrap();
                stream.write_all(&said).await.unwrap();
                colored::io::copy(&mut &stream, &mut &stream).await.unwrap();
            });
            let answer = Response::builder().status(101).header("connection", "upgrade");
            Ok(answer.header("upgrade", "echo").body(Full::default()).unwrap())
        });
        let server = colored::spawn_unique(serve(listener, service).into_future());
        let mut stream = UnixStream::connect(&place.0).await.unwrap();
        let head = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
        let mut answer = Vec::new();
        for word in [format!("{head}first"), "second".to_owned()] {
            stream.write_all(word.as_bytes()).await.unwrap();
            let end = word.rsplit('\n').next().unwrap();
            while !answer.ends_with(end.as_bytes()) {
                assert!(within(stream.read_buf(&mut answer)).await.unwrap() > 0);
            }
        }
        assert!(answer.starts_with(b"HTTP/1.1 101 "));
        server.abort();
    }
}
