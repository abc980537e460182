//! Our listeners under `axum::serve`.

use crate::support::*;
use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::{get, post as on_post};
use axum::serve::Listener as _;
use colored::net::{TcpListener, TcpStream};
use colored::{Color, ColorCell, when};
use colored_hyper::{AxumListener, Listener, client};
use std::future::{Ready, ready};
use std::io::{self, Error, ErrorKind};
use std::net::SocketAddr;
use std::task::{Context, Poll};

const REQUEST: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/// Runs `axum::serve` on what `make` makes of a listener on a free port, in a task of its own.
macro_rules! served {
    ($app:expr, $make:expr) => {{
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (addr, app, make) = (listener.local_addr().unwrap(), $app, $make);
        Server::run(addr, |stopped| async move {
            let serve = axum::serve(make(listener), app);
            serve.with_graceful_shutdown(async { drop(stopped.await) }).await.unwrap();
            Ok(())
        })
    }};
}

#[colored::test(workers = 2, tokio)]
async fn a_router_is_served_without_a_color() {
    let router = Router::new()
        .route(
            "/",
            get(async || {
                // The thread is inside of our runtime all the same.
                let spawned = colored::spawn(async { Color::current() == Some(Color::DEFAULT) });
                format!("{} {:?}", spawned.await.unwrap(), Color::current())
            }),
        )
        .route("/echo", on_post(async |body: String| body));
    let server = served!(router, AxumListener::new);
    let mut stream = raw(&server).await;
    for _ in 0..3 {
        let response = exchange(&mut stream, REQUEST, "true None").await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    }
    // More than the buffers hold.
    let body = "x".repeat(1_000_000);
    let client: Pool = client();
    let uri = format!("{}echo", server.uri()).parse().unwrap();
    let response = within(client.request(post(uri, body.clone()))).await.unwrap();
    assert!(text(response).await == body, "the echo differs");
    drop(client);
    server.end().await;
}

#[colored::test(workers = 2, tokio)]
async fn its_handlers_know_their_clients() {
    let router = Router::new()
        .route("/", get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string()));
    let app = router.into_make_service_with_connect_info::<SocketAddr>();
    let server = served!(app, |listener| AxumListener::new(listener).with_connect_info());
    for _ in 0..3 {
        let mut stream = raw(&server).await;
        let own = stream.local_addr().unwrap().to_string();
        for _ in 0..2 {
            exchange(&mut stream, REQUEST, &own).await;
        }
    }
    server.end().await;
}

#[colored::test(workers = 2, tokio)]
async fn its_handlers_reach_state_by_calls() {
    let cells = [1, 2].map(|value| ColorCell::new(Color::unique(), value));
    let [first, second] = cells.clone();
    let router = Router::new().route(
        "/",
        get(async move || {
            first.post(|value| *value += 10);
            let called = first.call(|value| *value).await;
            let read = second.read(|value| *value).await;
            let both = when((&first, &second), |first, second| *first + *second).await;
            format!("{called} {read} {both}")
        }),
    );
    let server = served!(router, AxumListener::new);
    let mut stream = raw(&server).await;
    exchange(&mut stream, REQUEST, "11 2 13").await;
    exchange(&mut stream, REQUEST, "21 2 23").await;
    server.end().await;
}

#[colored::test(workers = 2, tokio)]
async fn a_request_under_way_is_finished_at_the_stop() {
    let gate = Gate::default();
    let inner = gate.clone();
    let handler = async move || {
        inner.enter().await;
        "late"
    };
    let server = served!(Router::new().route("/", get(handler)), AxumListener::new);
    let (uri, mut silent) = (server.uri(), raw(&server).await);
    let client: Pool = client();
    let request = colored::spawn_unique(async move { client.get(uri).await });
    within(gate.entered.notified()).await;
    let end = server.stop();
    assert_eq!(rest(&mut silent).await, "");
    assert!(!end.is_finished());
    gate.open();
    assert_eq!(text(within(request).await.unwrap().unwrap()).await, "late");
    within(end).await.unwrap().unwrap();
}

#[cfg(unix)]
#[colored::test(workers = 2, tokio)]
async fn unix_sockets_are_served() {
    use colored::io::{AsyncReadExt, AsyncWriteExt};
    use colored::net::{UnixListener, UnixStream};

    let path = std::env::temp_dir().join(format!("colored-axum-{}", std::process::id()));
    let listener = AxumListener::new(UnixListener::bind(&path).unwrap());
    assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(&*path));
    let router = Router::new().route("/", get(async || "by file"));
    let serve = axum::serve(listener, router).into_future();
    let server = colored::spawn_unique(serve);
    let mut stream = UnixStream::connect(&path).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    within(stream.read_to_string(&mut response)).await.unwrap();
    assert!(response.ends_with("by file"), "{response}");
    server.abort();
}

/// Fails a few times before each connection.
struct Failing {
    inner: TcpListener,
    errors: u32,
    /// That of the system, or the errors have a text.
    number: Option<i32>,
}

impl Listener for Failing {
    type Io = TcpStream;
    type Peer = SocketAddr;
    type Handshake = Ready<io::Result<TcpStream>>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, SocketAddr)>> {
        if self.errors > 0 {
            self.errors -= 1;
            let text = format!("{} to come", self.errors);
            return Poll::Ready(Err(self
                .number
                .map_or(Error::other(text), Error::from_raw_os_error)));
        }
        self.inner.poll_accept(cx).map_ok(|(stream, peer)| {
            self.errors = 2;
            (ready(Ok(stream)), peer)
        })
    }
}

#[colored::test(workers = 2, tokio)]
async fn errors_of_accepting_are_reported_and_do_not_end_it() {
    let (log, router) = (Log::default(), Router::new().route("/", get(async || "ok")));
    let errors = log.clone();
    let server = served!(router, |inner| {
        let listener = AxumListener::new(Failing { inner, errors: 2, number: None });
        listener.on_error(move |error| errors.add(error))
    });
    for connections in 1..=3 {
        exchange(&mut raw(&server).await, REQUEST, "ok").await;
        assert_eq!(log.lines()[..2 * connections], ["1 to come", "0 to come"].repeat(connections));
    }
    server.end().await;
}

#[colored::test(workers = 2, tokio)]
async fn errors_of_accepting_have_the_number_of_the_system() {
    let log = Log::default();
    let errors = log.clone();
    let router = Router::new().route("/", get(async || "ok"));
    let server = served!(router, |inner| {
        let listener = AxumListener::new(Failing { inner, errors: 1, number: Some(23) });
        listener.on_error(move |error| errors.add(format!("{:?}", error.raw_os_error())))
    });
    exchange(&mut raw(&server).await, REQUEST, "ok").await;
    assert_eq!(log.lines()[0], "Some(23)");
    server.end().await;
}

#[colored::test(workers = 2, tokio)]
async fn a_listener_tells_where_it_accepts() {
    let inner = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = inner.local_addr().unwrap();
    let serve = axum::serve(AxumListener::new(inner), Router::new());
    assert_eq!(serve.local_addr().unwrap(), addr);

    let inner = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error =
        AxumListener::new(Failing { inner, errors: 0, number: None }).local_addr().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("has no `Listener::local_addr`"), "{error}");
}

#[cfg(feature = "tls")]
mod tls {
    use super::*;
    use crate::tls::{Identity, https, pool};
    use colored::io::AsyncWriteExt;
    use colored_hyper::tls;
    use hyper::Version;

    #[colored::test(workers = 2, tokio)]
    async fn tls_is_served_and_a_handshake_delays_no_other() {
        let identity = Identity::new("axum", &["127.0.0.1"]);
        let config = identity.server();
        let router = Router::new()
            .route("/", get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string()));
        let app = router.into_make_service_with_connect_info::<SocketAddr>();
        let server = served!(app, |listener| {
            AxumListener::new(tls::Listener::new(listener, config)).with_connect_info()
        });
        // The first bytes of a handshake, and no more.
        let mut stalled = raw(&server).await;
        stalled.write_all(b"\x16\x03\x01").await.unwrap();
        // No handshake.
        let mut plain = raw(&server).await;
        plain.write_all(REQUEST.as_bytes()).await.unwrap();
        assert!(!rest(&mut plain).await.contains("HTTP"));
        for (offer, version) in [("h2", Version::HTTP_2), ("http/1.1", Version::HTTP_11)] {
            let mut config = identity.client();
            config.alpn_protocols = vec![offer.into()];
            let response = within(pool(config).get(https(&server))).await.unwrap();
            assert_eq!(response.version(), version);
            assert!(text(response).await.starts_with("127.0.0.1:"));
        }
        server.end().await;
        assert_eq!(rest(&mut stalled).await, "");
    }
}
