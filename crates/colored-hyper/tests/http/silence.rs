//! Clients that go silent, at every byte of what they would say.
//!
//! The rule: no wait of a server depends on the good will of a client. So a client that stops after any byte, and keeps
//! its socket open, is closed by the server, whether it answers pings or not.

mod cut;
pub(crate) mod frames;
mod patience;

use self::cut::Cut;
use self::frames::{
    DATA, Frame, GET, HEADERS, PING, POST, PREFACE, RST_STREAM, SETTINGS, WINDOW_UPDATE, frame,
    take,
};
use crate::support::*;
use colored::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use colored::net::TcpListener;
use colored::time::{Duration, timeout};
use colored_hyper::{Listener, Serve, serve};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Connections at a time.
const WAVE: usize = 150;

/// All limits are short.
fn hasty<L: Listener, M>(server: Serve<L, M>) -> Serve<L, M> {
    server
        .header_read_timeout(SHORT)
        .body_read_timeout(SHORT)
        .http2_idle_timeout(SHORT)
        .write_timeout(SHORT)
}

/// Gives back what it gets of a body: a handler that no stalled body ends.
async fn lenient(request: Request<Incoming>) -> Answer {
    let body = request.into_body().collect().await.map(|body| body.to_bytes());
    Ok(Response::new(Full::from(body.unwrap_or_default())))
}

/// Has a conversation with the server for each number of bytes after which a client goes silent, in steps, and demands
/// that the server ends each. Returns how many bytes a whole conversation has.
async fn go_silent<F>(server: &Server, step: usize, talk: impl Fn(Cut) -> F) -> usize
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let said = Arc::<AtomicUsize>::default();
    let whole = talk(Cut::new(raw(server).await, usize::MAX, Arc::clone(&said)));
    let _ = timeout(LONG, whole).await.expect("the server does not end a whole conversation");
    let len = said.load(Ordering::Relaxed);
    let cuts: Vec<_> = (0..len).step_by(step).collect();
    for wave in cuts.chunks(WAVE) {
        let mut clients = Vec::new();
        for &end in wave {
            let client = talk(Cut::new(raw(server).await, end, Arc::default()));
            clients.push((end, colored::spawn_unique(timeout(LONG, client))));
        }
        for (end, client) in clients {
            let ended = client.await.unwrap();
            assert!(ended.is_ok(), "silent after {end} of {len} bytes, and still open");
        }
    }
    len
}

/// Says `words`, each when all before are said, and reads until the server closes.
async fn say(mut io: impl AsyncRead + AsyncWrite + Unpin, words: &[u8]) -> io::Result<()> {
    io.write_all(words).await?;
    let mut answer = Vec::new();
    io.read_to_end(&mut answer).await.map(|_| ())
}

const POSTS: &[u8] = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello\
    PUT / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n\
    5;x=y\r\nhello\r\n0\r\nlast: field\r\n\r\n\
    GET / HTTP/1.1\r\nhost: a\r\n\r\n";

#[colored::test(workers = 2)]
async fn over_http1() {
    for http1_only in [false, true] {
        let server = start(|listener| {
            let serve = hasty(serve(listener, service_fn(lenient)));
            if http1_only { serve.http1_only() } else { serve }
        })
        .await;
        let len = go_silent(&server, 1, |io| say(io, POSTS)).await;
        assert_eq!(len, POSTS.len());
        server.end().await;
    }
}

/// Two requests, of which one has a body, trailers, and fields in two frames.
fn requests() -> Vec<u8> {
    let mut words = PREFACE.to_vec();
    words.extend(frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]));
    words.extend(frame(HEADERS, 5, 1, GET));
    words.extend(frame(HEADERS, 0, 3, &POST[..3]));
    words.extend(frame(9, 4, 3, &POST[3..]));
    words.extend(frame(DATA, 0, 3, b"hello"));
    words.extend(frame(DATA, 9, 3, b"\x02hello\0\0"));
    words
}

/// As [`say`], but the client, silent otherwise, answers pings.
async fn say_alive(mut io: Cut, words: Vec<u8>) -> io::Result<()> {
    io.write_all(&words).await?;
    let mut io = io.into_inner();
    let mut bytes = Vec::new();
    while io.read_buf(&mut bytes).await? > 0 {
        for (kind, flags, _, payload) in take(&mut bytes) {
            if kind == PING && flags & 1 == 0 {
                io.write_all(&frame(PING, 1, 0, &payload)).await?;
            }
        }
    }
    Ok(())
}

#[colored::test(workers = 2)]
async fn over_http2() {
    for http2_only in [false, true] {
        let server = start(|listener| {
            let serve = hasty(serve(listener, service_fn(lenient)));
            if http2_only { serve.http2_only() } else { serve }
        })
        .await;
        let len = go_silent(&server, 1, |io| async { say(io, &requests()).await }).await;
        assert_eq!(len, requests().len());
        go_silent(&server, 1, |io| say_alive(io, requests())).await;
        server.end().await;
    }
}

#[cfg(feature = "tls")]
#[colored::test(workers = 2)]
async fn over_tls() {
    use crate::tls::Identity;
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::pki_types::ServerName;
    let identity = Identity::new("silence", &["localhost"]);
    let server = start(|listener| {
        let listener = colored_hyper::tls::Listener::new(listener, identity.server());
        // Enough for a handshake on a busy machine.
        hasty(serve(listener, service_fn(lenient))).header_read_timeout(SHORT * 10)
    })
    .await;
    for (protocol, words) in [("http/1.1", POSTS.to_vec()), ("h2", requests())] {
        let mut config = identity.client();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        let talk = |io| {
            let (connector, words) = (connector.clone(), words.clone());
            async move {
                let name = ServerName::try_from("localhost").unwrap();
                say(connector.connect(name, io).await?, &words).await
            }
        };
        // A prime, so that all parts of the records are hit.
        let len = go_silent(&server, 5, talk).await;
        assert!(len > words.len() + 200, "{len}");
    }
    server.end().await;
}

#[cfg(feature = "websocket")]
#[colored::test(workers = 2)]
async fn on_a_websocket() {
    use colored::Color;
    use colored_hyper::websocket::{self, CloseCode, CloseFrame, Message, WebSocket};
    use futures_core::Stream;
    use futures_sink::Sink;
    use std::future::poll_fn;
    use std::pin::Pin;
    use tokio_tungstenite::client_async;

    let session = async |mut socket: WebSocket| {
        socket.set_idle_timeout(SHORT);
        while let Some(Ok(message)) = socket.recv().await {
            if message.is_text() && socket.send(message).await.is_err() {
                return;
            }
        }
    };
    let server = start(|listener| {
        let service = service_fn(move |request| {
            let answer: Answer = Ok(websocket::upgrade(request, Color::unique(), session));
            std::future::ready(answer)
        });
        hasty(serve(listener, service))
    })
    .await;
    let talk = |io| async {
        let Ok((mut client, _)) = client_async("ws://a/", io).await else { return Ok(()) };
        let close = CloseFrame { code: CloseCode::Normal, reason: "bye".into() };
        for message in [Message::text("hello"), Message::Close(Some(close))] {
            let mut sink = Pin::new(&mut client);
            sink.as_mut().start_send(message).map_err(io::Error::other)?;
            let _ = poll_fn(|cx| sink.as_mut().poll_flush(cx)).await;
            let _ = poll_fn(|cx| Pin::new(&mut client).poll_next(cx)).await;
        }
        while let Some(Ok(_)) = poll_fn(|cx| Pin::new(&mut client).poll_next(cx)).await {}
        Ok(())
    };
    let len = go_silent(&server, 1, talk).await;
    assert!(len > 100, "{len}");
    server.end().await;
}

#[colored::test(workers = 2)]
async fn silent_clients_leave_room_for_others() {
    const ROOM: usize = 4;
    let settings = [PREFACE, &frame(SETTINGS, 0, 0, b"")].concat();
    let half = [&settings, &b"\0\0\x10"[..]].concat();
    let post = [settings.clone(), frame(HEADERS, 4, 1, POST)].concat();
    for words in [&b""[..], b"GET / HTTP/1.1\r\nho", POSTS.split_at(60).0, &settings, &half, &post]
    {
        let server =
            start(|listener| hasty(serve(listener, service_fn(lenient))).max_connections(ROOM))
                .await;
        let mut silent = Vec::new();
        for _ in 0..ROOM {
            let mut stream = raw(&server).await;
            stream.write_all(words).await.unwrap();
            silent.push(stream);
        }
        let mut other = raw(&server).await;
        let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
        exchange(&mut other, request, "ok").await;
        drop(silent);
        server.end().await;
    }
}

#[colored::test(workers = 2)]
async fn a_shutdown_does_not_wait_for_silent_clients() {
    // The time for the answer to the goodbye is never longer than the idle time, and nothing else limits the shutdown.
    let idle = SHORT * 20;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let server = Server::run(addr, |stopped| {
        serve(listener, service_fn(lenient))
            .header_read_timeout(idle)
            .http2_idle_timeout(idle)
            .drain_timeout(None)
            .with_graceful_shutdown(async { drop(stopped.await) })
            .into_future()
    });
    let settings = [PREFACE, &frame(SETTINGS, 0, 0, b"")].concat();
    let mut silent = Vec::new();
    for words in [&b""[..], b"GET / HTTP/1.1\r\nho", &settings] {
        let mut stream = raw(&server).await;
        stream.write_all(words).await.unwrap();
        silent.push(stream);
    }
    // The server has read this, and answers by settings of its own.
    assert!(within(silent[2].read_u8()).await.is_ok());
    within(server.stop()).await.unwrap().unwrap();
}

/// Reads frames until one is as it should be.
async fn until(io: &mut (impl AsyncRead + Unpin), wanted: impl Fn(&Frame) -> bool) -> Frame {
    let mut bytes = Vec::new();
    loop {
        if let Some(frame) = take(&mut bytes).into_iter().find(&wanted) {
            return frame;
        }
        assert!(within(io.read_buf(&mut bytes)).await.unwrap() > 0, "closed");
    }
}

#[colored::test(workers = 2)]
async fn a_response_without_room_is_reset_and_others_go_on() {
    let server = start(|listener| serve(listener, service_fn(lenient)).write_timeout(SHORT)).await;
    let mut stream = raw(&server).await;
    let mut words = PREFACE.to_vec();
    // No room on any stream, but for what the client grants.
    words.extend(frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
    words.extend(frame(HEADERS, 4, 1, POST));
    words.extend(frame(DATA, 1, 1, b"hello"));
    stream.write_all(&words).await.unwrap();
    let (_, _, _, reason) = until(&mut stream, |frame| (frame.0, frame.2) == (RST_STREAM, 1)).await;
    assert_eq!(reason, 8_u32.to_be_bytes(), "cancelled");
    let mut words = frame(HEADERS, 4, 3, POST);
    words.extend(frame(DATA, 1, 3, b"world"));
    words.extend(frame(WINDOW_UPDATE, 0, 3, &10_u32.to_be_bytes()));
    stream.write_all(&words).await.unwrap();
    let (_, _, _, body) = until(&mut stream, |frame| (frame.0, frame.2) == (DATA, 3)).await;
    assert_eq!(body, b"world");
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_body_that_stalls_is_an_error() {
    for http2 in [false, true] {
        let log = Log::default();
        let (errors, read) = (log.clone(), log.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let read = read.clone();
            async move {
                let error = request.into_body().collect().await.unwrap_err();
                // Over HTTP/2 the connection has the cause.
                if !http2 {
                    read.add(format!("{error:?}"));
                }
                Answer::Ok(Response::new(Full::default()))
            }
        });
        let server = start(|listener| {
            let serve = serve(listener, service).body_read_timeout(SHORT);
            serve.on_error(move |error| errors.add(error))
        })
        .await;
        let mut stream = raw(&server).await;
        let words = if http2 {
            [PREFACE, &frame(SETTINGS, 0, 0, b""), &frame(HEADERS, 4, 1, POST)].concat()
        } else {
            POSTS[..50].to_vec()
        };
        stream.write_all(&words).await.unwrap();
        rest(&mut stream).await;
        let error = log.first().await;
        assert!(error.contains("the client has sent nothing of a body for 100ms"), "{error}");
        server.end().await;
    }
}
