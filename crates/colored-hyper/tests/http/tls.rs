//! TLS, with certificates that are made here.

mod identity;
mod refused;

pub(crate) use self::identity::{Identity, https, pool};
use crate::support::*;
use bytes::Bytes;
use colored::Color;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored_hyper::tls::{self, ClientConfig};
use colored_hyper::{Coloring, into_io, serve};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::client::legacy::Client;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tower_service::Service;

type Pool = Client<tls::Connector, Full<Bytes>>;

/// One connection of a client over TLS.
async fn connect(server: &Server, config: ClientConfig) -> tls::ClientStream {
    within(tls::Connector::new(config).call(https(server))).await.unwrap()
}

async fn write(stream: &mut tls::ClientStream, text: &str) -> io::Result<()> {
    let mut stream = Pin::new(stream);
    let mut left = text.as_bytes();
    while !left.is_empty() {
        let n = poll_fn(|cx| stream.as_mut().poll_write(cx, left)).await?;
        left = &left[n..];
    }
    poll_fn(|cx| stream.as_mut().poll_flush(cx)).await
}

/// Everything until the server closes, gently or not.
async fn rest_of(stream: &mut tls::ClientStream) -> String {
    let (mut all, mut stream) = (Vec::new(), Pin::new(stream));
    loop {
        let mut bytes = [0; 1024];
        let mut buf = hyper::rt::ReadBuf::new(&mut bytes);
        let read = poll_fn(|cx| stream.as_mut().poll_read(cx, buf.unfilled()));
        if within(read).await.is_err() || buf.filled().is_empty() {
            return String::from_utf8_lossy(&all).into_owned();
        }
        all.extend_from_slice(buf.filled());
    }
}

/// The versions of the answers to a client that offers these protocols, or what it offers by itself.
async fn version(server: &Server, identity: &Identity, offers: &[&str]) -> Version {
    let mut config = identity.client();
    config.alpn_protocols = offers.iter().map(|name| name.as_bytes().to_vec()).collect();
    let client = pool(config);
    // More than the buffers hold.
    let body = "x".repeat(1_000_000);
    let response = within(client.request(post(https(server), body.clone()))).await.unwrap();
    let version = response.version();
    assert!(text(response).await == body, "the echo differs");
    version
}

#[colored::test(workers = 2)]
async fn alpn_chooses_the_version() {
    let identity = Identity::new("alpn", &["127.0.0.1"]);
    let config = identity.server();
    let server = start(|listener| serve(tls::Listener::new(listener, config), service_fn(echo)));
    let server = server.await;
    assert_eq!(version(&server, &identity, &[]).await, Version::HTTP_2);
    assert_eq!(version(&server, &identity, &["h2"]).await, Version::HTTP_2);
    assert_eq!(version(&server, &identity, &["http/1.1"]).await, Version::HTTP_11);
    assert_eq!(version(&server, &identity, &["http/1.1", "h2"]).await, Version::HTTP_2);
    // The same client speaks plain HTTP to other servers.
    let plain = start(|listener| serve(listener, service_fn(echo))).await;
    let response = within(pool(identity.client()).request(post(plain.uri(), "plain"))).await;
    assert_eq!(text(response.unwrap()).await, "plain");
    server.end().await;
    plain.end().await;
}

#[colored::test(workers = 2)]
async fn a_server_of_one_version_offers_only_that() {
    let identity = Identity::new("one", &["127.0.0.1"]);
    let config = identity.server();
    let server = start(|listener| {
        serve(tls::Listener::new(listener, config), service_fn(echo)).http1_only()
    })
    .await;
    assert_eq!(version(&server, &identity, &[]).await, Version::HTTP_11);
    server.end().await;

    let (log, config) = (Log::default(), identity.server());
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(tls::Listener::new(listener, config), service_fn(echo)).http2_only();
        serve.on_error(move |error| errors.add(error))
    })
    .await;
    let mut client = identity.client();
    client.alpn_protocols = vec![b"http/1.1".to_vec()];
    let error = within(tls::Connector::new(client).call(https(&server))).await.unwrap_err();
    assert!(error.to_string().contains("NoApplicationProtocol"), "{error}");
    let error = log.first().await;
    assert!(error.contains("the TLS handshake failed: "), "{error}");
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_client_without_tls_fails_and_the_server_goes_on() {
    let identity = Identity::new("plain", &["127.0.0.1"]);
    let (log, config) = (Log::default(), identity.server());
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(tls::Listener::new(listener, config), service_fn(echo));
        serve.on_error(move |error| errors.add(error))
    })
    .await;
    let mut stream = raw(&server).await;
    let peer = stream.local_addr().unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert!(!rest(&mut stream).await.contains("HTTP"));
    let expected = format!(
        "connection of {peer} ended before its first request: the client does not speak TLS"
    );
    assert_eq!(log.first().await, expected);
    assert_eq!(version(&server, &identity, &[]).await, Version::HTTP_2);
    server.end().await;

    let plain = start(|listener| serve(listener, service_fn(echo))).await;
    let uri = https(&plain);
    let error = within(tls::Connector::new(identity.client()).call(uri)).await.unwrap_err();
    let expected = format!("cannot connect to {}: the server does not speak TLS", plain.addr);
    assert_eq!(error.to_string(), expected);
    plain.end().await;
}

#[colored::test(workers = 2)]
async fn a_handshake_that_stalls_is_cut_off_and_delays_nobody() {
    let identity = Identity::new("stall", &["127.0.0.1"]);
    let (log, config) = (Log::default(), identity.server());
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(tls::Listener::new(listener, config), service_fn(echo));
        serve.header_read_timeout(SHORT).on_error(move |error| errors.add(error))
    })
    .await;
    let mut silent = raw(&server).await;
    let peer = silent.local_addr().unwrap();
    // The first bytes of a handshake.
    let _ = silent.write_all(b"\x16\x03\x01").await;
    assert_eq!(rest(&mut silent).await, "");
    let error = "ended before its first request: the client did not begin in 100ms";
    assert_eq!(log.first().await, format!("connection of {peer} {error}"));
    server.end().await;

    let config = identity.server();
    let server = start(|listener| {
        let serve = serve(tls::Listener::new(listener, config), service_fn(echo));
        serve.header_read_timeout(None).drain_timeout(None)
    })
    .await;
    let mut silent = raw(&server).await;
    assert_eq!(version(&server, &identity, &[]).await, Version::HTTP_2);
    // Neither does it delay the end.
    server.end().await;
    assert_eq!(rest(&mut silent).await, "");
}

#[colored::test(workers = 2)]
async fn half_a_request_over_tls_is_not_waited_for() {
    let identity = Identity::new("half", &["127.0.0.1"]);
    let (log, config) = (Log::default(), identity.server());
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(tls::Listener::new(listener, config), service_fn(echo));
        // Enough for a handshake on a busy machine.
        serve.header_read_timeout(SHORT * 10).on_error(move |error| errors.add(error))
    })
    .await;
    let mut stream = connect(&server, identity.client()).await;
    write(&mut stream, "GET / HTTP/1.1\r\n").await.unwrap();
    assert_eq!(rest_of(&mut stream).await, "");
    let error = log.first().await;
    assert!(error.contains("read header from client timeout"), "{error}");
    server.end().await;
}

#[colored::test(workers = 2)]
async fn the_end_of_a_client_without_a_notice_is_no_error() {
    let identity = Identity::new("notice", &["127.0.0.1"]);
    let (log, config) = (Log::default(), identity.server());
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(tls::Listener::new(listener, config), service_fn(echo));
        serve.max_connections(1).on_error(move |error| errors.add(error))
    })
    .await;
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
    for request in ["", request] {
        let connector = TlsConnector::from(Arc::new(identity.client()));
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let mut stream = within(connector.connect(name, raw(&server).await)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        let mut answer = Vec::new();
        while !request.is_empty() && !answer.ends_with(b"ok") {
            within(stream.read_buf(&mut answer)).await.unwrap();
        }
        // It closes the socket, and does not say so in TLS.
        stream.get_mut().0.shutdown().await.unwrap();
        // The server may say as little to a client that has gone.
        let _ = within(stream.read_to_end(&mut answer)).await;
    }
    // The next is served when these have ended.
    assert_eq!(version(&server, &identity, &["http/1.1"]).await, Version::HTTP_11);
    server.end().await;
    assert_eq!(log.lines(), [""; 0]);
}

#[colored::test(workers = 2)]
async fn a_graceful_stop_finishes_requests() {
    let identity = Identity::new("drain", &["127.0.0.1"]);
    for offers in ["h2", "http/1.1"] {
        let (gate, config) = (Gate::default(), identity.server());
        let listen = |listener| serve(tls::Listener::new(listener, config), gate.service());
        let server = start(listen).await;
        let mut config = identity.client();
        config.alpn_protocols = vec![offers.into()];
        let client = pool(config);
        let request = colored::spawn_unique(client.get(https(&server)));
        within(gate.entered.notified()).await;
        let mut silent = raw(&server).await;
        let end = server.stop();
        assert_eq!(rest(&mut silent).await, "");
        assert!(!end.is_finished());
        gate.open();
        assert_eq!(text(within(request).await.unwrap().unwrap()).await, "late");
        within(end).await.unwrap().unwrap();
    }
}

/// Tells under which color a handshake below that of TLS runs.
struct Telling {
    inner: TcpListener,
    log: Log,
}

impl colored_hyper::Listener for Telling {
    type Io = TcpStream;
    type Peer = SocketAddr;
    type Handshake = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, SocketAddr)>> {
        let log = self.log.clone();
        self.inner.poll_accept(cx).map_ok(|(stream, peer)| {
            let tell = async move {
                log.add(Color::current().unwrap());
                Ok(stream)
            };
            (Box::pin(tell) as _, peer)
        })
    }
}

#[colored::test(workers = 2)]
async fn the_handshake_runs_under_the_color_of_its_connection() {
    let identity = Identity::new("color", &["127.0.0.1"]);
    for coloring in [Coloring::Connection, Coloring::One(Color::of("tls"))] {
        let (log, config) = (Log::default(), identity.server());
        let server = start(|inner| {
            let listener = tls::Listener::new(Telling { inner, log: log.clone() }, config);
            serve(listener, service_fn(color)).coloring(coloring)
        })
        .await;
        let response = within(pool(identity.client()).get(https(&server))).await.unwrap();
        assert_eq!([text(response).await], *log.lines());
        server.end().await;
    }
}

#[colored::test(workers = 2)]
async fn an_upgraded_connection_speaks_tls() {
    let identity = Identity::new("upgrade", &["127.0.0.1"]);
    let config = identity.server();
    let service = service_fn(async |request: Request<Incoming>| -> Answer {
        colored::spawn_unique(async {
            let upgraded = hyper::upgrade::on(request).await.unwrap();
            let (mut stream, said) = into_io::<tls::Stream<TcpStream>>(upgraded).unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
            stream.write_all(&said).await.unwrap();
            stream.write_all(b" and goodbye").await.unwrap();
            stream.shutdown().await.unwrap();
        });
        let answer = Response::builder().status(101).header("connection", "upgrade");
        Ok(answer.header("upgrade", "echo").body(Full::default()).unwrap())
    });
    let server = start(|listener| serve(tls::Listener::new(listener, config), service)).await;
    let mut config = identity.client();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut stream = connect(&server, config).await;
    let head = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
    write(&mut stream, &format!("{head}hello")).await.unwrap();
    let answer = rest_of(&mut stream).await;
    assert!(
        answer.starts_with("HTTP/1.1 101 ") && answer.ends_with("hello and goodbye"),
        "{answer}"
    );
    server.end().await;
}
