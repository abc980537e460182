//! Clients that are slow and never stop, for every limit of the time without progress: none cuts them off. And the same
//! clients when they stop: they are cut off.

pub(crate) mod link;

use self::link::{Slow, Speed};
use crate::silence::frames::{DATA, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE, frame, take};
use crate::support::*;
use bytes::Bytes;
use colored::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use colored::spawn_unique;
use colored::time::{Duration, sleep};
use colored_hyper::{Listener, Serve, serve};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Long enough that a busy machine keeps it, and far shorter than what the system waits for before it reports room.
const LIMIT: Duration = Duration::from_millis(800);

/// Long enough that a limit which takes slow for silent would end it.
fn slow_for() -> Duration {
    LIMIT * by_length(3, 5)
}

const CHUNK: usize = 64 << 10;
const CHUNKS: usize = 128;
const BODY: usize = CHUNK * CHUNKS;

/// A body of so many chunks, each of which is there at once.
struct Chunks(usize);

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        static CONTENT: [u8; CHUNK] = [b'x'; CHUNK];
        let Some(left) = self.0.checked_sub(1) else { return Poll::Ready(None) };
        self.0 = left;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&CONTENT)))))
    }
}

async fn download(_: Request<Incoming>) -> Result<Response<Chunks>, Infallible> {
    Ok(Response::new(Chunks(CHUNKS)))
}

/// All limits of the time without progress.
fn limited<L: Listener, M>(server: Serve<L, M>, log: &Log) -> Serve<L, M> {
    let errors = log.clone();
    let server = server.write_timeout(LIMIT).body_read_timeout(LIMIT);
    server.on_error(move |error| errors.add(error))
}

/// Two clients that `talk`, which returns how much of the body has come: one is slow for long and then fast, the other is
/// slow and then stops.
async fn reads_slowly<F>(what: &str, server: Server, log: Log, talk: impl Fn(Slow) -> F)
where
    F: Future<Output = io::Result<usize>> + Send + 'static,
{
    let speed = Speed::default();
    speed.set(Speed::SLOW);
    let client = spawn_unique(talk(Slow::connect(server.addr, &speed).await));
    sleep(slow_for()).await;
    assert!(!client.is_finished(), "{what}: cut off: {:?}", log.lines());
    speed.set(Speed::FAST);
    let got = within(client).await.unwrap().unwrap();
    assert_eq!((got, log.lines()), (BODY, vec![]), "{what}");

    speed.set(Speed::SLOW);
    let client = spawn_unique(talk(Slow::connect(server.addr, &speed).await));
    sleep(LIMIT).await;
    speed.set(Speed::NONE);
    let error = log.first().await;
    assert!(error.contains("the client has taken nothing for 800ms"), "{what}: {error}");
    client.abort();
    server.end().await;
}

async fn ask(io: &mut (impl AsyncWrite + Unpin), words: &[u8]) -> io::Result<()> {
    io.write_all(words).await?;
    io.flush().await
}

const GET: &[u8] = b"GET / HTTP/1.0\r\nhost: a\r\n\r\n";

/// The body of a response of HTTP/1, which ends with the connection.
async fn over_http1(mut io: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<usize> {
    ask(&mut io, GET).await?;
    let mut answer = Vec::new();
    io.read_to_end(&mut answer).await?;
    Ok(answer.iter().filter(|&&byte| byte == b'x').count())
}

/// The body of a response of HTTP/2, for whose streams the client gives room for `window` bytes, and half as many more when
/// it has read as many.
async fn over_http2(mut io: impl AsyncRead + AsyncWrite + Unpin, window: u32) -> io::Result<usize> {
    let mut words = crate::silence::frames::PREFACE.to_vec();
    words.extend(frame(SETTINGS, 0, 0, &[&[0, 4], &window.to_be_bytes()[..]].concat()));
    words.extend(frame(WINDOW_UPDATE, 0, 0, &0x7fff_0000_u32.to_be_bytes()));
    words.extend(frame(HEADERS, 5, 1, crate::silence::frames::GET));
    ask(&mut io, &words).await?;
    let (mut bytes, mut got, mut given) = (Vec::new(), 0, 0);
    while got < BODY {
        if io.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (kind, _, _, payload) in take(&mut bytes) {
            match kind {
                DATA => got += payload.len(),
                RST_STREAM => return Err(io::ErrorKind::ConnectionReset.into()),
                _ => {}
            }
        }
        let half = window as usize / 2;
        if got - given >= half {
            let more = ((got - given) as u32).to_be_bytes();
            given = got;
            ask(&mut io, &frame(WINDOW_UPDATE, 0, 1, &more)).await?;
        }
    }
    Ok(got)
}

#[colored::test(workers = 2)]
async fn a_client_that_reads_slowly_gets_everything_over_http1() {
    let log = Log::default();
    let server = start(|listener| limited(serve(listener, service_fn(download)), &log)).await;
    reads_slowly("HTTP/1", server, log, over_http1).await;
}

#[colored::test(workers = 2)]
async fn a_client_that_reads_slowly_gets_everything_over_http2() {
    let log = Log::default();
    let server = start(|listener| limited(serve(listener, service_fn(download)), &log)).await;
    reads_slowly("HTTP/2", server, log, |io| over_http2(io, 0x7fff_ffff)).await;
}

/// The window fits into the buffers of the system, so the server waits for room, and not for the socket.
#[colored::test(workers = 2)]
async fn a_client_that_takes_long_to_give_room_gets_everything() {
    let log = Log::default();
    let server = start(|listener| limited(serve(listener, service_fn(download)), &log)).await;
    let speed = Speed::default();
    speed.set(Speed::SLOW);
    let io = Slow::connect(server.addr, &speed).await;
    let client = spawn_unique(async { over_http2(io, 512 << 10).await });
    sleep(slow_for() * 2).await;
    assert!(!client.is_finished(), "{:?}", within(client).await);
    speed.set(Speed::FAST);
    assert_eq!(within(client).await.unwrap().unwrap(), BODY);
    server.end().await;
    assert_eq!(log.lines(), [""; 0]);
}

/// Also while the server ends: the socket takes nothing for longer than the limit, and the client does.
#[colored::test(workers = 2)]
async fn a_client_that_reads_slowly_gets_everything_from_a_server_that_ends() {
    let log = Log::default();
    let server = start(|listener| limited(serve(listener, service_fn(download)), &log)).await;
    let speed = Speed::default();
    speed.set(Speed::SLOW);
    let mut clients = Vec::new();
    for version in [1, 2] {
        let io = Slow::connect(server.addr, &speed).await;
        clients.push(spawn_unique(async move {
            match version {
                1 => over_http1(io).await,
                _ => over_http2(io, 0x7fff_ffff).await,
            }
        }));
    }
    sleep(LIMIT).await;
    let ended = server.stop();
    // Each five seconds the server asks whether a response goes on.
    sleep(Duration::from_secs(by_length(6, 11))).await;
    speed.set(Speed::FAST);
    for client in clients {
        assert_eq!(within(client).await.unwrap().unwrap(), BODY);
    }
    within(ended).await.unwrap().unwrap();
    assert_eq!(log.lines(), [""; 0]);
}

#[cfg(unix)]
#[colored::test(workers = 2)]
async fn a_client_that_reads_slowly_gets_everything_from_a_unix_socket() {
    use colored::net::{UnixListener, UnixStream};
    let name = format!("colored-hyper-slow-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let (log, listener) = (Log::default(), UnixListener::bind(&path).unwrap());
    let nowhere = "127.0.0.1:1".parse().unwrap();
    let errors = log.clone();
    // The system tells only when the client has read all of some 80 KiB, and reports room after twice as many.
    let (limit, speed_down) = (LIMIT * 6, 4);
    let server = Server::run(nowhere, |stopped| {
        let serve = serve(listener, service_fn(download)).write_timeout(limit);
        let serve = serve.on_error(move |error| errors.add(error));
        serve.with_graceful_shutdown(async { drop(stopped.await) }).into_future()
    });
    let speed = Speed::default();
    speed.set(Speed::SLOW);
    let io = Slow::over(UnixStream::connect(&path).await.unwrap(), &speed).slower(speed_down);
    let client = spawn_unique(over_http1(io));
    sleep(limit * by_length(2, 3)).await;
    assert!(!client.is_finished(), "cut off: {:?}", log.lines());
    speed.set(Speed::FAST);
    assert_eq!(within(client).await.unwrap().unwrap(), BODY);
    server.end().await;
    std::fs::remove_file(path).unwrap();
}

#[cfg(feature = "tls")]
mod tls {
    use super::*;
    use crate::tls::Identity;
    use colored::net::TcpListener;
    use http_body_util::{BodyExt, Full};
    use tokio_rustls::TlsConnector;
    use tokio_rustls::client::TlsStream;
    use tokio_rustls::rustls::pki_types::ServerName;

    /// What makes TLS of a connection.
    fn connector(identity: &Identity) -> TlsConnector {
        let mut config = identity.client();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        TlsConnector::from(std::sync::Arc::new(config))
    }

    async fn connect(connector: TlsConnector, io: Slow) -> TlsStream<Slow> {
        let name = ServerName::try_from("localhost").unwrap();
        connector.connect(name, io).await.unwrap()
    }

    #[colored::test(workers = 2)]
    async fn a_client_that_reads_slowly_gets_everything() {
        let (identity, log) = (Identity::new("slow", &["localhost"]), Log::default());
        let server = start(|listener: TcpListener| {
            let listener = colored_hyper::tls::Listener::new(listener, identity.server());
            limited(serve(listener, service_fn(download)), &log)
        })
        .await;
        let connector = connector(&identity);
        reads_slowly("TLS", server, log, |io| {
            let connector = connector.clone();
            async move { over_http1(connect(connector, io).await).await }
        })
        .await;
    }

    /// The body is one record, which takes longer than twice the limit.
    #[colored::test(workers = 2)]
    async fn a_record_that_comes_slowly_is_no_silence() {
        const BODY: usize = 16_000;
        let (identity, log) = (Identity::new("record", &["localhost"]), Log::default());
        let told = log.clone();
        let upload = service_fn(move |request: Request<Incoming>| {
            let told = told.clone();
            async move {
                match request.into_body().collect().await {
                    Ok(body) => Answer::Ok(Response::new(Full::new(body.to_bytes()))),
                    Err(error) => {
                        told.add(format!("{error:?}"));
                        Ok(Response::default())
                    }
                }
            }
        });
        let server = start(|listener: TcpListener| {
            let listener = colored_hyper::tls::Listener::new(listener, identity.server());
            limited(serve(listener, upload), &log)
        })
        .await;
        let speed = Speed::default();
        for stops in [false, true] {
            speed.set(Speed::FAST);
            let io = Slow::connect(server.addr, &speed).await;
            let mut io = connect(connector(&identity), io).await;
            let head = "POST / HTTP/1.0\r\nhost: a\r\ncontent-length: 16000\r\n\r\n";
            ask(&mut io, head.as_bytes()).await.unwrap();
            speed.set(Speed::SLOW);
            let stop = speed.clone();
            let stopping = spawn_unique(async move {
                sleep(LIMIT).await;
                if stops {
                    stop.set(Speed::NONE);
                }
            });
            let client = spawn_unique(async move {
                ask(&mut io, &[b'x'; BODY]).await?;
                let mut answer = Vec::new();
                io.read_to_end(&mut answer).await?;
                io::Result::Ok(answer.ends_with(&[b'x'; BODY]))
            });
            if stops {
                assert!(log.first().await.contains("has sent nothing of a body for 800ms"));
                client.abort();
            } else {
                assert!(within(client).await.unwrap().unwrap());
            }
            within(stopping).await.unwrap();
        }
        server.end().await;
    }
}

#[cfg(feature = "websocket")]
mod websocket {
    use super::*;
    use colored::Color;
    use colored_hyper::websocket::{self, Message, WebSocket};
    use futures_core::Stream;
    use http_body_util::Full;
    use std::future::poll_fn;
    use tokio_tungstenite::client_async;

    /// Sends the body, and says how that ended.
    async fn session(mut socket: WebSocket, log: Log) {
        let sent = async {
            for _ in 0..CHUNKS {
                socket.send(Message::binary(vec![b'x'; CHUNK])).await?;
            }
            Ok::<_, websocket::Error>(())
        };
        if let Err(error) = sent.await {
            log.add(error);
        }
    }

    #[colored::test(workers = 2)]
    async fn a_client_that_reads_slowly_gets_everything() {
        let log = Log::default();
        let told = log.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let told = told.clone();
            let session = move |socket| session(socket, told);
            let answer: Result<Response<Full<Bytes>>, Infallible> =
                Ok(websocket::upgrade(request, Color::unique(), session));
            std::future::ready(answer)
        });
        let server = start(|listener| limited(serve(listener, service), &log)).await;
        reads_slowly("WebSocket", server, log, |io| async {
            let (mut client, _) = client_async("ws://a/", io).await.map_err(io::Error::other)?;
            let mut got = 0;
            while got < BODY {
                let message = poll_fn(|cx| Pin::new(&mut client).poll_next(cx)).await;
                let Some(message) = message else { break };
                got += message.map_err(io::Error::other)?.len();
            }
            Ok(got)
        })
        .await;
    }
}
