//! Requests and responses, over both versions.

use crate::support::*;
use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::{get, post as on_post};
use colored::io::AsyncWriteExt;
use colored_hyper::{
    ColoredExecutor, Connector, client, client_builder, serve, serve_with, tower, with_extension,
};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[colored::test(workers = 2)]
async fn both_versions_on_one_port() {
    let server = start(|listener| serve(listener, service_fn(echo))).await;
    let body = "x".repeat(100_000);
    let http1: Pool = client();
    let http2: Pool =
        client_builder(ColoredExecutor::unique()).http2_only(true).build(Connector::new());
    for (client, version) in [(http1, Version::HTTP_11), (http2, Version::HTTP_2)] {
        let response = within(client.request(post(server.uri(), body.clone()))).await.unwrap();
        assert_eq!(response.version(), version);
        assert_eq!(text(response).await, body);
    }
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_connection_serves_request_after_request() {
    let server = start(|listener| serve(listener, service_fn(echo))).await;
    let mut stream = raw(&server).await;
    for word in ["one", "two", "six"] {
        let request = format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\n{word}");
        let response = exchange(&mut stream, &request, word).await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    }
    server.end().await;
}

#[colored::test(workers = 2)]
async fn the_version_shows_even_if_the_first_bytes_come_one_by_one() {
    let server = start(|listener| serve(listener, service_fn(echo))).await;
    // "P" could still become either.
    let mut stream = raw(&server).await;
    stream.set_nodelay(true).unwrap();
    for byte in b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n" {
        stream.write_all(&[*byte]).await.unwrap();
        colored::yield_now().await;
    }
    let response = exchange(&mut stream, "ok", "ok").await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");

    let mut stream = raw(&server).await;
    stream.set_nodelay(true).unwrap();
    for byte in PREFACE {
        stream.write_all(&[*byte]).await.unwrap();
        colored::yield_now().await;
    }
    // An empty SETTINGS frame; the server answers with its own, type 4.
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
    let mut header = [0; 9];
    within(colored::io::AsyncReadExt::read_exact(&mut stream, &mut header)).await.unwrap();
    assert_eq!(header[3], 4);
    drop(stream);
    server.end().await;
}

#[colored::test(workers = 2)]
async fn one_version_only_if_asked_for() {
    let server = start(|listener| serve(listener, service_fn(echo)).http1_only()).await;
    let mut stream = raw(&server).await;
    stream.write_all(PREFACE).await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
    server.end().await;

    let log = Log::default();
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(listener, service_fn(echo)).http2_only();
        serve.on_error(move |error| errors.add(error))
    })
    .await;
    let mut stream = raw(&server).await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert!(!rest(&mut stream).await.contains("HTTP/1.1 200"));
    assert!(log.first().await.starts_with("connection of 127.0.0.1:"));
    server.end().await;
}

#[colored::test(workers = 2)]
async fn an_axum_router_is_served() {
    let router: Router = Router::new()
        .route("/", get(async || "Hello, World!"))
        .route("/length", on_post(async |body: String| body.len().to_string()));
    let server = start(|listener| serve(listener, tower(router))).await;
    let client: Pool = client();
    assert_eq!(text(client.get(server.uri()).await.unwrap()).await, "Hello, World!");
    let uri = format!("{}length", server.uri()).parse().unwrap();
    assert_eq!(text(client.request(post(uri, "12345")).await.unwrap()).await, "5");
    let uri = format!("{}nothing", server.uri()).parse().unwrap();
    assert_eq!(client.get(uri).await.unwrap().status(), 404);
    drop(client);
    server.end().await;
}

#[colored::test(workers = 2)]
async fn an_axum_handler_knows_its_client() {
    let router: Router = Router::new()
        .route("/", get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string()));
    let server = start(|listener| {
        serve_with(listener, move |peer| with_extension(tower(router.clone()), ConnectInfo(peer)))
    })
    .await;
    for _ in 0..3 {
        let mut stream = raw(&server).await;
        let own = stream.local_addr().unwrap().to_string();
        for _ in 0..2 {
            exchange(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n", &own).await;
        }
    }
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_service_can_be_made_for_each_peer() {
    let server = start(|listener| {
        serve_with(listener, |peer| {
            service_fn(move |_: Request<Incoming>| {
                let answer: Answer = Ok(Response::new(Full::from(peer.to_string())));
                std::future::ready(answer)
            })
        })
    })
    .await;
    let mut stream = raw(&server).await;
    let own = stream.local_addr().unwrap().to_string();
    exchange(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n", &own).await;
    drop(stream);
    server.end().await;
}

#[colored::test(workers = 2)]
async fn many_connections_at_once() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let server = start(|listener| {
        serve_with(listener, move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            service_fn(echo)
        })
    })
    .await;
    let server = Arc::new(server);
    let clients: Vec<_> = (0..400)
        .map(|n| {
            let server = Arc::clone(&server);
            colored::spawn_unique(async move {
                let mut stream = raw(&server).await;
                for turn in 0..5 {
                    let body = format!("{n:04}{turn}");
                    let head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n";
                    exchange(&mut stream, &format!("{head}{body}"), &body).await;
                }
            })
        })
        .collect();
    for client in clients {
        within(client).await.unwrap();
    }
    assert_eq!(opened.load(Ordering::Relaxed), 400);
    Arc::into_inner(server).unwrap().end().await;
}
