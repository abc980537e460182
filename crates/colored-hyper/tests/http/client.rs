//! The client and its pool.

use crate::support::*;
use colored::Color;
use colored::io::AsyncWriteExt;
use colored_hyper::{ColoredExecutor, Connector, client, client_builder, serve_with};
use hyper::service::service_fn;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A server, and how many connections it has accepted.
async fn counting() -> (Server, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    let server = start(|listener| {
        serve_with(listener, move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            service_fn(echo)
        })
    })
    .await;
    (server, connections)
}

#[colored::test(workers = 2)]
async fn connections_are_used_again() {
    let executors = [ColoredExecutor::here(), ColoredExecutor::fixed(Color::of("client"))];
    let own = executors.map(|executor| client_builder(executor).build(Connector::new()));
    for client in own.into_iter().chain([client()]) {
        let client: Pool = client;
        let (server, connections) = counting().await;
        for n in 0..20 {
            let body = n.to_string();
            let response = within(client.request(post(server.uri(), body.clone()))).await.unwrap();
            assert_eq!(text(response).await, body);
            // The pool has the connection back a moment later.
            colored::time::sleep(Duration::from_millis(10)).await;
        }
        // One, and another one each time that this was too short: seldom all times, on the busiest machine.
        let connections = connections.load(Ordering::Relaxed);
        assert!(connections < 20, "{connections} connections");
        server.end().await;
    }
}

#[colored::test(workers = 2)]
async fn idle_connections_are_closed_in_the_background() {
    let listener = colored::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let client: Pool = client_builder(ColoredExecutor::unique())
        .pool_idle_timeout(Duration::from_millis(50))
        .build(Connector::new());
    let request = colored::spawn_unique({
        let client = client.clone();
        async move { text(client.get(uri).await.unwrap()).await }
    });
    let (mut stream, _) = within(listener.accept()).await.unwrap();
    exchange(&mut stream, "", "\r\n\r\n").await;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
    assert_eq!(within(request).await.unwrap(), "ok");
    // The client is not used, and yet it closes the connection.
    assert_eq!(rest(&mut stream).await, "");
    drop(client);
}

#[colored::test(workers = 2)]
async fn errors_say_what_could_not_be_connected_to() {
    // Nobody listens, and no other test gets the port.
    let socket = colored::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let client: Pool = client();
    let error = async |uri: String| {
        let error = within(client.get(uri.parse().unwrap())).await.unwrap_err();
        error.source().unwrap().to_string()
    };
    let uri = format!("http://127.0.0.1:{port}/");
    let refused = error(uri.clone()).await;
    assert!(refused.starts_with(&format!("cannot connect to 127.0.0.1:{port}: ")), "{refused}");
    let by_std = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap_err();
    let by_client = within(client.get(uri.parse().unwrap())).await.unwrap_err();
    assert!(by_std.raw_os_error().is_some());
    assert_eq!(number(&by_client), by_std.raw_os_error());
    let tls = error("https://127.0.0.1/".into()).await;
    assert!(tls.contains("speaks plain HTTP only"), "{tls}");
}

#[test]
fn block_on_can_use_the_client() {
    let runtime = colored::Runtime::builder().workers(1).build().unwrap();
    runtime.block_on(async {
        let (server, _) = counting().await;
        let client: Pool = client_builder(ColoredExecutor::here()).build(Connector::new());
        let response = within(client.request(post(server.uri(), "here"))).await.unwrap();
        assert_eq!(text(response).await, "here");
        server.end().await;
    });
}
