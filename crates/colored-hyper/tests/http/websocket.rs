//! WebSockets, with tungstenite's client.

use crate::support::*;
use axum::Router;
use axum::extract::{Path, Request as AxumRequest};
use axum::routing::any;
use bytes::Bytes;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::TcpStream;
use colored::sync::Notify;
use colored::{Color, spawn_unique};
use colored_hyper::websocket::{self, CloseCode, CloseFrame, Error, Message, WebSocket};
use colored_hyper::{Coloring, serve, tower};
use futures_core::Stream;
use futures_sink::Sink;
use http_body_util::Full;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use tokio_tungstenite::{WebSocketStream, client_async, client_async_with_config};

type Client = WebSocketStream<TcpStream>;

async fn connect(server: &Server, path: &str) -> Client {
    let stream = raw(server).await;
    let url = format!("ws://{}{path}", server.addr);
    within(client_async(url, stream)).await.unwrap().0
}

async fn send(client: &mut Client, message: impl Into<Message>) {
    let mut client = Pin::new(client);
    within(poll_fn(|cx| client.as_mut().poll_ready(cx))).await.unwrap();
    client.as_mut().start_send(message.into()).unwrap();
    within(poll_fn(|cx| client.as_mut().poll_flush(cx))).await.unwrap();
}

async fn next(client: &mut Client) -> Option<Result<Message, Error>> {
    within(poll_fn(|cx| Pin::new(&mut *client).poll_next(cx))).await
}

async fn received(client: &mut Client) -> Message {
    next(client).await.unwrap().unwrap()
}

fn away() -> Message {
    let reason = "the server shuts down".into();
    Message::Close(Some(CloseFrame { code: CloseCode::Away, reason }))
}

async fn echo_session(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if (message.is_text() || message.is_binary()) && socket.send(message).await.is_err() {
            return;
        }
    }
}

/// A service of hyper whose WebSockets run `session`.
macro_rules! sockets {
    ($session:expr) => {{
        let session = $session;
        service_fn(move |request: Request<Incoming>| {
            let session = session.clone();
            let answer: Answer = Ok(websocket::upgrade(request, Color::unique(), session));
            std::future::ready(answer)
        })
    }};
}

#[colored::test(workers = 2)]
async fn a_thousand_messages_come_back_in_order() {
    let server = start(|listener| serve(listener, sockets!(echo_session))).await;
    let mut client = connect(&server, "/").await;
    for n in 0..1_000 {
        let message = match n % 2 {
            0 => Message::text(n.to_string()),
            _ => Message::binary(vec![n as u8; n]),
        };
        send(&mut client, message.clone()).await;
        assert_eq!(received(&mut client).await, message);
    }
    // And at once: the bytes of one read are several messages.
    for n in 0..1_000 {
        let mut client = Pin::new(&mut client);
        poll_fn(|cx| client.as_mut().poll_ready(cx)).await.unwrap();
        client.start_send(Message::text(n.to_string())).unwrap();
    }
    send(&mut client, Message::text("last")).await;
    for n in 0..1_000 {
        assert_eq!(received(&mut client).await, Message::text(n.to_string()));
    }
    assert_eq!(received(&mut client).await, Message::text("last"));
    drop(client);
    server.end().await;
}

#[colored::test(workers = 2)]
async fn pings_are_answered_and_the_close_frame_too() {
    let log = Log::default();
    let seen = log.clone();
    let session = async move |mut socket: WebSocket| {
        while let Some(message) = socket.recv().await {
            seen.add(format!("{:?}", message.unwrap()));
        }
        seen.add("closed");
    };
    let session = move |socket| {
        let session = session.clone();
        async move { session(socket).await }
    };
    let server = start(|listener| serve(listener, sockets!(session))).await;
    let mut client = connect(&server, "/").await;
    send(&mut client, Message::Ping(Bytes::from_static(b"are you there?"))).await;
    let pong = Message::Pong(Bytes::from_static(b"are you there?"));
    assert_eq!(received(&mut client).await, pong);
    let bye = CloseFrame { code: CloseCode::Normal, reason: "bye".into() };
    send(&mut client, Message::Close(Some(bye.clone()))).await;
    assert_eq!(received(&mut client).await, Message::Close(Some(bye)));
    assert!(next(&mut client).await.is_none());
    server.end().await;
    let lines = log.lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("Ping(") && lines[1].starts_with("Close("), "{lines:?}");
    assert_eq!(lines[2], "closed");
}

#[colored::test(workers = 2)]
async fn a_session_may_close() {
    let session = async |socket: WebSocket| socket.close(CloseCode::Policy, "go away").await;
    let server = start(|listener| serve(listener, sockets!(session))).await;
    let mut client = connect(&server, "/").await;
    let frame = CloseFrame { code: CloseCode::Policy, reason: "go away".into() };
    assert_eq!(received(&mut client).await, Message::Close(Some(frame)));
    assert!(next(&mut client).await.is_none());
    server.end().await;
}

#[colored::test(workers = 2)]
async fn what_is_no_request_for_a_websocket_is_refused_with_the_reason() {
    let server = start(|listener| serve(listener, sockets!(echo_session))).await;
    const KEY: &str = "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    const VERSION: &str = "sec-websocket-version: 13\r\n";
    const UPGRADE: &str = "connection: upgrade\r\nupgrade: websocket\r\n";
    let cases = [
        ("GET", String::new(), 426, "upgrade: websocket", "No \"Connection: upgrade\" header"),
        (
            "GET",
            format!("connection: upgrade\r\nupgrade: echo\r\n{VERSION}{KEY}"),
            426,
            "upgrade: websocket",
            "No \"Upgrade: websocket\" header",
        ),
        (
            "GET",
            format!("{UPGRADE}{KEY}sec-websocket-version: 8\r\n"),
            426,
            "sec-websocket-version: 13",
            "No \"Sec-WebSocket-Version: 13\" header",
        ),
        ("GET", format!("{UPGRADE}{VERSION}"), 400, "", "No \"Sec-WebSocket-Key\" header"),
        (
            "GET",
            format!("{UPGRADE}{VERSION}sec-websocket-key: short\r\n"),
            400,
            "",
            "Invalid \"Sec-WebSocket-Key\" header value",
        ),
        (
            "POST",
            format!("{UPGRADE}{VERSION}{KEY}"),
            405,
            "allow: GET",
            "Unsupported HTTP method used - only GET is allowed",
        ),
    ];
    for (method, headers, status, header, why) in cases {
        let mut stream = raw(&server).await;
        let request = format!("{method} / HTTP/1.1\r\nhost: a\r\n{headers}\r\n");
        let answer = exchange(&mut stream, &request, "\n").await;
        let answer = if answer.ends_with(&format!("{why}\n")) {
            answer
        } else {
            answer + &exchange(&mut stream, "", &format!("{why}\n")).await
        };
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains(header), "{answer}");
    }
    let mut client = http2(&server).await;
    let response = within(client.send_request(post(server.uri(), ""))).await.unwrap();
    assert_eq!(response.status(), 400);
    assert!(text(response).await.contains("a WebSocket begins with HTTP/1.1"));
    drop(client);
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_graceful_stop_closes_websockets_and_waits_for_their_sessions() {
    let gate = Arc::new(Notify::new());
    let (log, open) = (Log::default(), Arc::clone(&gate));
    let ends = log.clone();
    let session = move |mut socket: WebSocket| {
        let (ends, open) = (ends.clone(), Arc::clone(&open));
        async move {
            while let Some(Ok(message)) = socket.recv().await {
                ends.add(message);
            }
            drop(socket);
            open.notified().await;
            ends.add("done");
        }
    };
    let server = start(|listener| serve(listener, sockets!(session)).drain_timeout(None)).await;
    let mut client = connect(&server, "/").await;
    send(&mut client, Message::text("before")).await;
    assert_eq!(log.first().await, "before");
    let end = server.stop();
    assert_eq!(received(&mut client).await, away());
    // To read is to answer.
    assert!(next(&mut client).await.is_none());
    assert!(!end.is_finished());
    gate.notify_one();
    within(end).await.unwrap().unwrap();
    assert_eq!(log.lines().last().unwrap(), "done");
}

#[colored::test(workers = 2)]
async fn a_session_that_does_not_end_is_dropped_when_the_time_is_over() {
    struct Dropped(Log);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.add("dropped");
        }
    }
    let (gate, log) = (Gate::default(), Log::default());
    let (held, drops) = (gate.clone(), log.clone());
    let session = move |socket: WebSocket| {
        let (held, dropped) = (held.clone(), Dropped(drops.clone()));
        async move {
            held.enter().await;
            drop((socket, dropped));
        }
    };
    let server = start(|listener| serve(listener, sockets!(session)).drain_timeout(SHORT)).await;
    let mut client = connect(&server, "/").await;
    within(gate.entered.notified()).await;
    let error = within(server.stop()).await.unwrap().unwrap_err();
    assert_eq!((error.connections, error.timeout), (1, SHORT));
    assert_eq!(log.first().await, "dropped");
    assert!(!matches!(next(&mut client).await, Some(Ok(_))));
}

#[colored::test(workers = 2)]
async fn a_client_that_does_not_read_ends_its_session() {
    let log = Log::default();
    let errors = log.clone();
    let session = move |mut socket: WebSocket| {
        let errors = errors.clone();
        async move {
            let message = Message::binary(vec![0; 1 << 20]);
            loop {
                if let Err(error) = socket.send(message.clone()).await {
                    return errors.add(error);
                }
            }
        }
    };
    let server = start(|listener| serve(listener, sockets!(session)).write_timeout(SHORT)).await;
    let client = connect(&server, "/").await;
    assert_eq!(log.first().await, "IO error: the client has taken nothing for 100ms");
    server.end().await;
    drop(client);
}

#[colored::test(workers = 2)]
async fn the_two_directions_are_independent() {
    let session = async |socket: WebSocket| {
        let (mut sender, mut receiver) = socket.split();
        let sending = spawn_unique(async move {
            // The client does not read until it has been heard.
            let sent = sender.send(Message::binary(vec![7; 64 << 20])).await;
            (sender, sent)
        });
        assert_eq!(receiver.recv().await.unwrap().unwrap(), Message::text("heard"));
        let (mut sender, sent) = sending.await.unwrap();
        sent.unwrap();
        sender.feed(Message::text("and")).await.unwrap();
        sender.send(Message::text("goodbye")).await.unwrap();
        while let Some(Ok(_)) = receiver.recv().await {}
    };
    let server = start(|listener| serve(listener, sockets!(session))).await;
    let stream = raw(&server).await;
    let config = websocket::WebSocketConfig::default().max_frame_size(None);
    let url = format!("ws://{}/", server.addr);
    let mut client = within(client_async_with_config(url, stream, Some(config))).await.unwrap().0;
    send(&mut client, Message::text("heard")).await;
    assert_eq!(received(&mut client).await.len(), 64 << 20);
    assert_eq!(received(&mut client).await, Message::text("and"));
    assert_eq!(received(&mut client).await, Message::text("goodbye"));
    send(&mut client, Message::Close(None)).await;
    assert_eq!(received(&mut client).await, Message::Close(None));
    assert!(next(&mut client).await.is_none());
    server.end().await;
}

#[colored::test(workers = 2)]
async fn routes_of_axum_have_websockets_under_the_colors_that_they_name() {
    let router: Router = Router::new().route(
        "/{room}",
        any(async |Path(room): Path<String>, request: AxumRequest| -> axum::response::Response {
            websocket::upgrade(request, Color::of(&room), async |mut socket: WebSocket| {
                let color = Color::current().unwrap().to_string();
                let _ = socket.send(Message::text(color)).await;
                echo_session(socket).await;
            })
        }),
    );
    let server = start(|listener| serve(listener, tower(router)).coloring(Coloring::Default)).await;
    for room in ["kitchen", "cellar"] {
        let mut client = connect(&server, &format!("/{room}")).await;
        let color = Color::of(room.to_owned()).to_string();
        assert_eq!(received(&mut client).await, Message::text(color));
        send(&mut client, Message::text("hello")).await;
        assert_eq!(received(&mut client).await, Message::text("hello"));
    }
    let mut stream = raw(&server).await;
    let request = "GET /kitchen HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 426 "), "{answer}");
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_request_without_a_connection_is_refused() {
    let request = Request::get("/")
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA==")
        .body(())
        .unwrap();
    let answer: hyper::Response<Full<Bytes>> =
        websocket::upgrade(request, Color::unique(), echo_session);
    assert_eq!(answer.status(), 400);
}

#[colored::test(workers = 2)]
async fn many_websockets_at_once() {
    let server = Arc::new(start(|listener| serve(listener, sockets!(echo_session))).await);
    let clients: Vec<_> = (0..100)
        .map(|n| {
            let server = Arc::clone(&server);
            spawn_unique(async move {
                let mut client = connect(&server, "/").await;
                for turn in 0..10 {
                    let message = Message::text(format!("{n} {turn}"));
                    send(&mut client, message.clone()).await;
                    assert_eq!(received(&mut client).await, message);
                }
                client
            })
        })
        .collect();
    let mut open = Vec::new();
    for client in clients {
        open.push(within(client).await.unwrap());
    }
    let end = Arc::into_inner(server).unwrap().stop();
    for client in &mut open {
        assert_eq!(received(client).await, away());
        assert!(next(client).await.is_none());
    }
    within(end).await.unwrap().unwrap();
}

#[colored::test(workers = 2)]
async fn a_close_frame_of_the_session_is_answered_in_time_or_not_at_all() {
    let ended = Log::default();
    let told = ended.clone();
    let session = move |mut socket: WebSocket| {
        let told = told.clone();
        async move {
            socket.send(Message::Close(None)).await.unwrap();
            while let Some(Ok(_)) = socket.recv().await {}
            told.add("ended");
        }
    };
    let server = start(|listener| serve(listener, sockets!(session))).await;
    // The client talks on, and answers nothing.
    let mut stream = raw(&server).await;
    let ask = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
        sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(ask.as_bytes()).await.unwrap();
    let talking = async {
        // Pings, masked with zeros.
        while stream.write_all(&[0x89, 0x81, 0, 0, 0, 0, b'a']).await.is_ok() {
            colored::time::sleep(SHORT).await;
        }
    };
    within(talking).await;
    assert_eq!(ended.lines(), ["ended"]);
    server.end().await;
}
