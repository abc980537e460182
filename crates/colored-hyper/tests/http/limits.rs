//! Slow clients, and many.

use crate::support::*;
use bytes::Bytes;
use colored::io::AsyncWriteExt;
use colored::net::TcpStream;
use colored::time::{Duration, Instant, sleep};
use colored_hyper::serve;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};

/// A server that waits so long for a client, and its errors.
async fn logged(timeout: Duration, http2_only: bool) -> (Server, Log) {
    let log = Log::default();
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(listener, service_fn(echo)).header_read_timeout(timeout);
        let serve = serve.on_error(move |error| errors.add(error));
        if http2_only { serve.http2_only() } else { serve }
    })
    .await;
    (server, log)
}

#[colored::test(workers = 2)]
async fn a_client_that_sends_nothing_or_too_little_is_disconnected() {
    for http2_only in [false, true] {
        for word in ["", "P", "PRI * HTTP/2.0"] {
            let (server, log) = logged(SHORT, http2_only).await;
            let begin = Instant::now();
            let mut stream = raw(&server).await;
            // On a busy machine the server may have given up before.
            let _ = stream.write_all(word.as_bytes()).await;
            assert_eq!(rest(&mut stream).await, "");
            assert!(begin.elapsed() >= SHORT);
            let error = log.first().await;
            assert!(error.ends_with("first request: the client did not begin in 100ms"), "{error}");
            server.end().await;
        }
    }
}

#[colored::test(workers = 2)]
async fn headers_that_trickle_in_are_not_waited_for() {
    // Long enough that the first line is in time even on a busy machine.
    let (server, log) = logged(SHORT * 5, false).await;
    let stream = raw(&server).await;
    let drip = async |mut stream: &TcpStream| {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n").await;
        for n in 0.. {
            let header = format!("x-{n}: y\r\n");
            if stream.write_all(header.as_bytes()).await.is_err() {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    // The write fails when the server has closed: each byte in time is not enough.
    within(drip(&stream)).await;
    assert!(log.first().await.contains("read header from client timeout"));
    server.end().await;
}

#[colored::test(workers = 2)]
async fn an_idle_connection_is_closed_and_that_is_no_error() {
    // Long enough that the second request is in time even on a busy machine.
    let idle = SHORT * 10;
    let (server, log) = logged(idle, false).await;
    let mut stream = raw(&server).await;
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
    exchange(&mut stream, request, "ok").await;
    sleep(idle / 2).await;
    let begin = Instant::now();
    exchange(&mut stream, request, "ok").await;
    assert_eq!(rest(&mut stream).await, "");
    assert!(begin.elapsed() >= idle, "{:?}", begin.elapsed());
    server.end().await;
    assert_eq!(log.lines(), [""; 0]);
}

#[colored::test(workers = 2)]
async fn half_a_second_request_is_an_error() {
    // Long enough that the half is in time even on a busy machine.
    let (server, log) = logged(SHORT * 5, false).await;
    let mut stream = raw(&server).await;
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
    exchange(&mut stream, request, "ok").await;
    stream.write_all(b"POST / HTTP").await.unwrap();
    rest(&mut stream).await;
    assert!(log.first().await.contains("read header from client timeout"));
    server.end().await;
}

#[colored::test(workers = 2)]
async fn an_http2_client_that_answers_no_ping_is_disconnected() {
    let server = start(|listener| {
        serve(listener, service_fn(echo)).http2(|http2| {
            http2.keep_alive_interval(SHORT).keep_alive_timeout(SHORT);
        })
    })
    .await;
    let begin = Instant::now();
    let mut stream = raw(&server).await;
    // An empty SETTINGS frame, and then nothing.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    rest(&mut stream).await;
    assert!(begin.elapsed() >= 2 * SHORT);
    server.end().await;
}

#[colored::test(workers = 2)]
async fn an_http2_connection_without_requests_is_closed_after_those_that_run() {
    // Long enough that the request is in time even on a busy machine.
    let idle = SHORT * 10;
    let (gate, log) = (Gate::default(), Log::default());
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(listener, gate.service()).http2_idle_timeout(idle);
        serve.on_error(move |error| errors.add(error))
    })
    .await;
    let mut client = http2(&server).await;
    let response = colored::spawn_unique(client.send_request(post(server.uri(), "")));
    within(gate.entered.notified()).await;
    // The time is over while the request runs, and the client may not send another one.
    sleep(idle * 2).await;
    assert!(!response.is_finished());
    gate.open();
    assert_eq!(text(within(response).await.unwrap().unwrap()).await, "late");
    within(async {
        while client.ready().await.is_ok() {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    server.end().await;
    assert_eq!(log.lines(), [""; 0]);
}

#[colored::test(workers = 2)]
async fn a_client_that_just_closes_is_no_error() {
    let log = Log::default();
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(listener, service_fn(echo)).max_connections(1);
        serve.on_error(move |error| errors.add(error))
    })
    .await;
    drop(raw(&server).await);
    // This one is served when that one has ended.
    let mut next = raw(&server).await;
    exchange(&mut next, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok", "ok").await;
    server.end().await;
    assert_eq!(log.lines(), [""; 0]);
}

#[colored::test(workers = 2)]
async fn nonsense_is_an_error_with_the_peer_in_it() {
    let (server, log) = logged(LONG, false).await;
    let mut stream = raw(&server).await;
    let peer = stream.local_addr().unwrap();
    stream.write_all(b"nonsense\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 400 "));
    assert!(log.first().await.starts_with(&format!("connection of {peer} ended: ")));
    server.end().await;
}

#[colored::test(workers = 2)]
async fn no_more_connections_than_allowed() {
    let server = start(|listener| serve(listener, service_fn(echo)).max_connections(2)).await;
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
    let (mut first, mut second) = (raw(&server).await, raw(&server).await);
    exchange(&mut first, request, "ok").await;
    exchange(&mut second, request, "ok").await;
    let mut third = raw(&server).await;
    third.write_all(request.as_bytes()).await.unwrap();
    let answer = colored::time::timeout(SHORT, third.readable()).await;
    assert!(answer.is_err(), "a third connection was served");
    drop(first);
    exchange(&mut third, "", "ok").await;
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_client_that_does_not_read_is_disconnected() {
    // More than the buffers of two sockets hold.
    const LENGTH: usize = 64 << 20;
    let body = Bytes::from(vec![b'x'; LENGTH]);
    for http2 in [false, true] {
        let (log, body) = (Log::default(), body.clone());
        let errors = log.clone();
        let server = start(|listener| {
            let service = service_fn(move |_: Request<Incoming>| {
                let answer: Answer = Ok(Response::new(Full::from(body.clone())));
                std::future::ready(answer)
            });
            let serve = serve(listener, service).write_timeout(SHORT);
            serve.on_error(move |error| errors.add(error))
        })
        .await;
        let mut stream = raw(&server).await;
        if http2 {
            stream.write_all(WIDE_HTTP2).await.unwrap();
        } else {
            stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        }
        let error = log.first().await;
        assert!(error.contains("the client has taken nothing for 100ms"), "{error}");
        assert!(rest(&mut stream).await.len() < LENGTH);
        server.end().await;
    }
}

/// Answers after a moment.
async fn late(_: Request<Incoming>) -> Answer {
    sleep(SHORT).await;
    Ok(Response::new(Full::from("late")))
}

#[colored::test(workers = 2)]
async fn of_the_requests_before_the_end_the_last_is_dropped() {
    for half_close in [false, true] {
        let server = start(|listener| {
            serve(listener, service_fn(late)).http1(|http1| {
                http1.half_close(half_close);
            })
        })
        .await;
        let mut stream = raw(&server).await;
        let requests = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(3);
        stream.write_all(requests.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let answers = rest(&mut stream).await.matches("late").count();
        assert_eq!(answers, if half_close { 3 } else { 2 });
        server.end().await;
    }
}

/// They are allowed, and hyper does not see them.
#[colored::test(workers = 2)]
async fn empty_lines_before_a_request_are_nothing() {
    let (server, log) = logged(LONG, false).await;
    let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n\r\n\r\n\r\nok";
    let mut stream = raw(&server).await;
    for lines in ["", "\r\n", "\n\n\r\n"] {
        stream.write_all(lines.as_bytes()).await.unwrap();
        sleep(SHORT / 10).await;
        let answer = exchange(&mut stream, &format!("{lines}{request}"), "ok").await;
        assert!(answer.ends_with("\r\n\r\n\r\n\r\nok"), "the body is whole: {answer:?}");
    }
    // A client that sends nothing else has said nothing.
    stream.write_all(b"\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
    server.end().await;
    assert_eq!(log.lines(), [""; 0]);
}

/// The handler of `/wait` reads nothing.
async fn wait_or_echo(request: Request<Incoming>) -> Answer {
    if request.uri().path() == "/wait" {
        std::future::pending::<()>().await;
    }
    echo(request).await
}

#[colored::test(workers = 2)]
async fn an_unread_body_holds_those_of_other_streams() {
    const WINDOW: u32 = 1 << 20;
    for (connection, is_held) in [(WINDOW, true), (2 * WINDOW, false)] {
        let server = start(|listener| {
            serve(listener, service_fn(wait_or_echo)).drain_timeout(SHORT).http2(move |http2| {
                http2.initial_stream_window_size(WINDOW);
                http2.initial_connection_window_size(connection);
            })
        })
        .await;
        let mut client = http2(&server).await;
        let wait = format!("http://{}/wait", server.addr).parse().unwrap();
        let unread = client.send_request(post(wait, vec![0; 2 * WINDOW as usize]));
        let unread = colored::spawn_unique(unread);
        // All of the window has come when the client gets no more out.
        sleep(SHORT * 5).await;
        let other = client.send_request(post(server.uri(), "hello"));
        let other = colored::spawn_unique(other);
        let answered = colored::time::timeout(SHORT * 10, other).await;
        assert_eq!(answered.is_err(), is_held, "{answered:?}");
        unread.abort();
        drop(client);
        let _ = within(server.stop()).await.unwrap();
    }
}

/// The beginning of an HTTP/2 connection, windows without a limit, and a `GET`.
const WIDE_HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\
    \0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff\
    \0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0\
    \0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x41\x01a";

#[test]
#[should_panic = "max_connections(0): a server needs at least 1 connection"]
fn a_server_without_connections_is_refused() {
    let runtime = colored::Runtime::builder().workers(1).build().unwrap();
    runtime.block_on(async {
        let listener = colored::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        drop(serve(listener, service_fn(echo)).max_connections(0));
    });
}
