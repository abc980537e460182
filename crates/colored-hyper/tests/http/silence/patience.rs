//! Clients and handlers that are slow, and right: no limit cuts them off.

use super::*;
use bytes::Bytes;
use colored::time::sleep;
use hyper::body::{Body, Frame as BodyFrame, SizeHint};
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Long enough that a busy machine keeps it.
const LIMIT: Duration = Duration::from_millis(800);
/// Well within the limit.
const PAUSE: Duration = Duration::from_millis(200);
/// Together they are longer than the limit, and than twice the limit.
const PAUSES: u32 = 9;

fn limited<L: Listener, M>(server: Serve<L, M>) -> Serve<L, M> {
    server
        .header_read_timeout(LIMIT)
        .body_read_timeout(LIMIT)
        .http2_idle_timeout(LIMIT)
        .write_timeout(LIMIT)
}

/// A word, then nothing for long, then another word.
struct Events {
    words: Vec<&'static str>,
    pause: Pin<Box<colored::time::Sleep>>,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<BodyFrame<Bytes>, Infallible>>> {
        if self.words.len() == 1 {
            ready!(self.pause.as_mut().poll(cx));
        }
        let word = self.words.pop();
        Poll::Ready(word.map(|word| Ok(BodyFrame::data(Bytes::from_static(word.as_bytes())))))
    }

    fn is_end_stream(&self) -> bool {
        false
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[colored::test(workers = 2)]
async fn a_handler_takes_its_time_and_a_response_pauses() {
    let service = service_fn(async |request: Request<Incoming>| {
        if request.method() == "POST" {
            // The body has come, and is not read yet.
            sleep(PAUSE * PAUSES).await;
            let body = request.into_body().collect().await.unwrap().to_bytes();
            return Ok::<_, Infallible>(Response::new(Full::new(body).boxed()));
        }
        let (words, pause) = (vec!["last", "first"], Box::pin(sleep(PAUSE * PAUSES)));
        Ok(Response::new(Events { words, pause }.boxed()))
    });
    let server = start(|listener| limited(serve(listener, service))).await;
    let mut clients = Vec::new();
    for method in ["GET", "POST"] {
        let (mut one, mut two) = (http1(&server).await, http2(&server).await);
        let request = |uri: &str| {
            let body = Full::from(Bytes::from_static(b"firstlast"));
            Request::builder().method(method).uri(uri).header("host", "a").body(body).unwrap()
        };
        let (first, second) = (request("/"), request("http://a/"));
        clients.push(colored::spawn_unique(async move {
            text(one.send_request(first).await.unwrap()).await
        }));
        clients.push(colored::spawn_unique(async move {
            text(two.send_request(second).await.unwrap()).await
        }));
    }
    for client in clients {
        assert_eq!(within(client).await.unwrap(), "firstlast");
    }
    server.end().await;
}

#[colored::test(workers = 2)]
async fn a_slow_body_comes_and_a_slow_reader_gets_everything() {
    let server = start(|listener| limited(serve(listener, service_fn(echo)))).await;
    let mut one = raw(&server).await;
    let upload = colored::spawn_unique(async move {
        let head = format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {PAUSES}\r\n\r\n");
        one.write_all(head.as_bytes()).await.unwrap();
        for _ in 0..PAUSES {
            sleep(PAUSE).await;
            one.write_all(b"x").await.unwrap();
        }
        exchange(&mut one, "", "xxxxxxxxx").await;
    });
    let mut two = raw(&server).await;
    let both = colored::spawn_unique(async move {
        let mut words = PREFACE.to_vec();
        words.extend(frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
        words.extend(frame(HEADERS, 4, 1, POST));
        two.write_all(&words).await.unwrap();
        for last in 1..=PAUSES {
            sleep(PAUSE).await;
            two.write_all(&frame(DATA, u8::from(last == PAUSES), 1, b"x")).await.unwrap();
        }
        // The response takes longer than the server waits for another request.
        for _ in 0..PAUSES {
            sleep(PAUSE).await;
            two.write_all(&frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes())).await.unwrap();
            let data = |frame: &Frame| frame.0 == DATA && frame.2 == 1;
            assert_eq!(until(&mut two, data).await.3, b"x");
        }
    });
    within(upload).await.unwrap();
    within(both).await.unwrap();
    server.end().await;
}

/// Gives back what comes through a tunnel.
async fn echo_through(mut tunnel: hyper::upgrade::Upgraded) {
    let mut tunnel = Pin::new(&mut tunnel);
    loop {
        let mut bytes = [0; 100];
        let mut buf = hyper::rt::ReadBuf::new(&mut bytes);
        let read = poll_fn(|cx| hyper::rt::Read::poll_read(tunnel.as_mut(), cx, buf.unfilled()));
        if read.await.is_err() || buf.filled().is_empty() {
            return;
        }
        let write = poll_fn(|cx| hyper::rt::Write::poll_write(tunnel.as_mut(), cx, buf.filled()));
        write.await.unwrap();
    }
}

#[colored::test(workers = 2)]
async fn a_tunnel_is_the_handlers_and_its_end_is_not_waited_for() {
    let service = service_fn(async |request: Request<Incoming>| {
        let upgrade = hyper::upgrade::on(request);
        drop(colored::spawn_unique(async { echo_through(upgrade.await.unwrap()).await }));
        Answer::Ok(Response::new(Full::default()))
    });
    // The first bytes may be late on a busy machine.
    let server = start(|listener| hasty(serve(listener, service)).header_read_timeout(LONG)).await;
    let mut stream = raw(&server).await;
    let mut words = PREFACE.to_vec();
    words.extend(frame(SETTINGS, 0, 0, b""));
    words.extend(frame(HEADERS, 4, 1, b"\x42\x07CONNECT\x41\x01a"));
    stream.write_all(&words).await.unwrap();
    for word in [b"hello", b"world"] {
        stream.write_all(&frame(DATA, 0, 1, word)).await.unwrap();
        let data = until(&mut stream, |frame| frame.0 == DATA && frame.2 == 1).await.3;
        assert_eq!(data, word);
        // The server has said goodbye in the meantime, and more.
        sleep(SHORT * 6).await;
    }
    stream.write_all(&frame(DATA, 1, 1, b"")).await.unwrap();
    rest(&mut stream).await;
    server.end().await;
}
