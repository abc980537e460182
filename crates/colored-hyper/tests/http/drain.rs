//! Graceful shutdown.

use crate::support::*;
use colored::io::AsyncWriteExt;
use colored::net::TcpStream;
use colored_hyper::{Coloring, Serve, into_io, serve};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::time::Instant;

#[colored::test(workers = 2)]
async fn requests_under_way_finish_and_idle_connections_are_closed() {
    let gate = Gate::default();
    let server = start(|listener| serve(listener, gate.service())).await;
    let addr = server.addr;
    let (mut busy, mut silent, mut begun) =
        (raw(&server).await, raw(&server).await, raw(&server).await);
    begun.write_all(b"PRI").await.unwrap();
    busy.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    within(gate.entered.notified()).await;

    let end = server.stop();
    assert_eq!(rest(&mut silent).await, "");
    assert_eq!(rest(&mut begun).await, "");
    // A child that another test has forked may hold the listener for a moment.
    while within(TcpStream::connect(addr)).await.is_ok() {}
    let refused = within(TcpStream::connect(addr)).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    assert!(!end.is_finished());

    gate.open();
    let response = rest(&mut busy).await;
    assert!(response.ends_with("late") && response.contains("connection: close"), "{response}");
    within(end).await.unwrap().unwrap();
}

#[colored::test(workers = 2)]
async fn kept_alive_connections_are_closed() {
    let server = start(|listener| serve(listener, service_fn(echo)).drain_timeout(None)).await;
    let (mut http1, mut http2) = (raw(&server).await, http2(&server).await);
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
    exchange(&mut http1, request, "ok").await;
    let response = within(http2.send_request(post(server.uri(), "ok"))).await.unwrap();
    assert_eq!(text(response).await, "ok");
    // Both clients stay, and would for ever.
    server.end().await;
    assert_eq!(rest(&mut http1).await, "");
    within(http2.send_request(post("http://a/".parse().unwrap(), ""))).await.unwrap_err();
}

#[colored::test(workers = 2)]
async fn http2_requests_under_way_finish() {
    for coloring in [Coloring::Connection, Coloring::Stream, Coloring::Default] {
        let gate = Gate::default();
        let server = start(|listener| serve(listener, gate.service()).coloring(coloring)).await;
        let mut client = http2(&server).await;
        let response = colored::spawn_unique(client.send_request(post(server.uri(), "")));
        within(gate.entered.notified()).await;
        let addr = server.addr;
        let end = server.stop();
        while within(TcpStream::connect(addr)).await.is_ok() {}
        assert!(!end.is_finished());
        gate.open();
        assert_eq!(text(within(response).await.unwrap().unwrap()).await, "late");
        within(end).await.unwrap().unwrap();
    }
}

#[colored::test(workers = 2)]
async fn the_rest_is_cut_off_when_the_time_is_over() {
    let gate = Gate::default();
    let server = start(|listener| serve(listener, gate.service()).drain_timeout(SHORT)).await;
    let mut http1 = raw(&server).await;
    http1.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    within(gate.entered.notified()).await;
    let mut client = http2(&server).await;
    let http2 = colored::spawn_unique(client.send_request(post(server.uri(), "")));
    within(gate.entered.notified()).await;

    let begin = Instant::now();
    let error = within(server.stop()).await.unwrap().unwrap_err();
    assert!(begin.elapsed() >= SHORT);
    assert_eq!((error.connections, error.timeout), (2, SHORT));
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::TimedOut);
    assert_eq!(rest(&mut http1).await, "");
    within(http2).await.unwrap().unwrap_err();
}

#[colored::test(workers = 2)]
async fn an_upgraded_connection_is_no_longer_the_servers() {
    let service = service_fn(async |request: Request<Incoming>| -> Answer {
        colored::spawn_unique(async {
            let upgraded = hyper::upgrade::on(request).await.unwrap();
            let (mut stream, said) = into_io::<TcpStream>(upgraded).unwrap();
            stream.write_all(&said).await.unwrap();
            let (mut read, mut write) = stream.split();
            colored::io::copy(&mut read, &mut write).await.unwrap();
        });
        let answer = Response::builder().status(101).header("connection", "upgrade");
        Ok(answer.header("upgrade", "echo").body(Full::default()).unwrap())
    });
    let server = start(|listener| serve(listener, service).drain_timeout(None)).await;
    let mut stream = raw(&server).await;
    let head = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
    // Bytes that follow the head at once are not lost.
    let answer = exchange(&mut stream, &format!("{head}first"), "first").await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    exchange(&mut stream, "second", "second").await;
    server.end().await;
    exchange(&mut stream, "third", "third").await;
}

#[colored::test(workers = 2)]
async fn a_server_without_connections_ends_at_once() {
    let server = start(|listener| serve(listener, service_fn(echo))).await;
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_panic_of_the_service_ends_its_connection_only() {
    let service = service_fn(async |request: Request<Incoming>| -> Answer {
        assert!(request.uri().path() == "/", "a planned panic");
        echo(request).await
    });
    let server = start(|listener| serve(listener, service)).await;
    let (mut good, mut bad) = (raw(&server).await, raw(&server).await);
    bad.write_all(b"GET /bad HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert_eq!(rest(&mut bad).await, "");
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
    exchange(&mut good, request, "ok").await;
    server.end().await;
}

#[colored::test(workers = 2)]
async fn dropping_the_server_stops_accepting_and_leaves_the_connections() {
    let listener = colored::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let serving: Serve<_, _> = serve(listener, service_fn(echo));
    let task = colored::spawn_unique(serving.into_future());
    let mut stream = within(TcpStream::connect(addr)).await.unwrap();
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
    exchange(&mut stream, request, "ok").await;
    task.abort();
    assert!(within(task).await.unwrap_err().is_cancelled());
    exchange(&mut stream, request, "ok").await;
    // Its task is aborted, and drops the listener when it is run next.
    within(async { while TcpStream::connect(addr).await.is_ok() {} }).await;
}

/// hyper looks for bytes of the first request only.
#[colored::test(workers = 2)]
async fn half_of_a_first_request_is_waited_for_and_half_of_another_is_not() {
    let server = start(|listener| serve(listener, service_fn(echo))).await;
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
    let (half, other_half) = request.split_at(20);
    let (mut first, mut second) = (raw(&server).await, raw(&server).await);
    exchange(&mut second, request, "ok").await;
    for stream in [&mut first, &mut second] {
        stream.write_all(half.as_bytes()).await.unwrap();
    }
    // The server reads both halves before this is over, also on a busy machine.
    let mut third = raw(&server).await;
    exchange(&mut third, request, "ok").await;
    colored::time::sleep(SHORT * 5).await;
    let end = server.stop();
    assert_eq!(rest(&mut second).await, "");
    assert!(!end.is_finished());
    first.write_all(other_half.as_bytes()).await.unwrap();
    assert!(rest(&mut first).await.ends_with("ok"));
    within(end).await.unwrap().unwrap();
}
