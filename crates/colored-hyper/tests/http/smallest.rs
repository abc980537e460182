//! Clients that send in the smallest pieces there are, of each layer: four times as many pieces cost some four times the CPU.

use crate::silence::frames::{DATA, HEADERS, POST, PREFACE, SETTINGS, WINDOW_UPDATE, frame};
use crate::support::*;
use colored::spawn_blocking;
use colored_hyper::serve;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The pieces of a conversation of so many pieces, each of which goes by itself. The server closes at the end, or is left.
type Pieces = fn(usize) -> Vec<Vec<u8>>;

/// How much the CPU may grow with four times as many pieces, and by how much more in any case.
const GROWTH: u64 = 7;
const SLACK: Duration = Duration::from_millis(60);
const ATTEMPTS: usize = 5;

fn bytes(text: &[u8]) -> Vec<Vec<u8>> {
    text.iter().map(|&byte| vec![byte]).collect()
}

/// A head of so many bytes, a byte at a time.
fn head(n: usize) -> Vec<Vec<u8>> {
    bytes(format!("GET / HTTP/1.0\r\na: {}\r\n\r\n", "a".repeat(n)).as_bytes())
}

/// Empty lines before a request. hyper would look at all of them again with each read.
fn lines(n: usize) -> Vec<Vec<u8>> {
    std::iter::repeat_n(b"\r\n".to_vec(), n).chain([b"GET / HTTP/1.0\r\n\r\n".to_vec()]).collect()
}

/// A body of so many bytes, a byte at a time.
fn body(n: usize) -> Vec<Vec<u8>> {
    let head = format!("POST / HTTP/1.0\r\ncontent-length: {n}\r\n\r\n");
    std::iter::once(head.into_bytes()).chain(bytes(&vec![b'a'; n])).collect()
}

/// A body of so many chunks, of a byte each.
fn chunks(n: usize) -> Vec<Vec<u8>> {
    let head =
        "POST / HTTP/1.1\r\nconnection: close\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunks = std::iter::repeat_n(b"1\r\na\r\n".to_vec(), n);
    std::iter::once(head.into()).chain(chunks).chain([b"0\r\n\r\n".to_vec()]).collect()
}

/// Frames without bytes, which say nothing, beside many streams. hyper ends a connection with too many small frames of DATA
/// that no handler has read.
fn frames(n: usize) -> Vec<Vec<u8>> {
    const STREAMS: u32 = 100;
    let begin = [PREFACE.to_vec(), frame(SETTINGS, 0, 0, b"")].concat();
    let streams = (0..STREAMS).map(|n| frame(HEADERS, 4, 2 * n + 1, POST));
    let empty = (0..n as u32).map(|n| frame(99, 0, 2 * (n % STREAMS) + 1, b""));
    // A frame that is not allowed: the server says goodbye.
    std::iter::once(begin).chain(streams).chain(empty).chain([frame(DATA, 0, 0, b"")]).collect()
}

/// Room for a response that is given a byte at a time.
fn windows(n: usize) -> Vec<Vec<u8>> {
    let settings = frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]);
    let begin = [PREFACE.to_vec(), settings, frame(HEADERS, 5, 1, POST)].concat();
    let room = std::iter::repeat_n(frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]), n);
    std::iter::once(begin).chain(room).chain([frame(DATA, 0, 0, b"")]).collect()
}

/// The CPU that the process, or this thread, has had.
fn cpu(of: &str) -> Duration {
    let tasks = match of {
        "thread" => vec!["/proc/thread-self/schedstat".into()],
        _ => {
            let tasks = fs::read_dir("/proc/self/task").unwrap();
            tasks.map(|task| task.unwrap().path().join("schedstat")).collect()
        }
    };
    let of = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0)
    };
    Duration::from_nanos(tasks.iter().map(of).sum())
}

/// Sends the pieces by `stream`, and waits for the end. Returns the CPU of this thread.
fn talk(mut stream: impl Read + Write, pieces: &[Vec<u8>]) -> Duration {
    let before = cpu("thread");
    for piece in pieces {
        stream.write_all(piece).unwrap();
    }
    let _ = stream.read_to_end(&mut Vec::new());
    cpu("thread") - before
}

fn connect(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// The CPU that the server takes for so many pieces.
async fn cost(
    server: &Server,
    pieces: Vec<Vec<u8>>,
    connect: impl FnOnce(SocketAddr) -> Box<dyn Duplex> + Send + 'static,
) -> Duration {
    let addr = server.addr;
    let client = spawn_blocking(move || {
        let before = cpu("process");
        let own = talk(connect(addr), &pieces);
        cpu("process").saturating_sub(before).saturating_sub(own)
    });
    within(client).await.unwrap()
}

trait Duplex: Read + Write {}

impl<T: Read + Write> Duplex for T {}

/// The rows of which many pieces cost too much.
async fn check(
    server: &Server,
    layer: &str,
    rows: &[(&str, Pieces, usize)],
    connect: impl Fn(SocketAddr) -> Box<dyn Duplex> + Clone + Send + 'static,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (what, pieces, n) in rows {
        // The first one warms up.
        cost(server, pieces(*n), connect.clone()).await;
        // How many pieces one read finds depends on who gets the CPU: one of a few attempts must be cheap.
        let mut failed = String::new();
        for _ in 0..ATTEMPTS {
            let few = cost(server, pieces(*n), connect.clone()).await;
            let many = cost(server, pieces(4 * n), connect.clone()).await;
            println!("{layer}, {what}: {few:?} for {n}, {many:?} for four times as many");
            if many <= few * GROWTH as u32 + SLACK {
                failed.clear();
                break;
            }
            failed = format!("{layer}, {what}: {few:?} for {n}, and {many:?} for {}", 4 * n);
        }
        wrong.extend(Some(failed).filter(|text| !text.is_empty()));
    }
    wrong
}

async fn lenient(request: Request<Incoming>) -> Answer {
    let _ = request.into_body().collect().await;
    Ok(Response::new(Full::from(vec![b'x'; 100_000])))
}

#[test]
fn small_pieces_cost_what_their_number_is() {
    run_alone("smallest::measured");
}

#[colored::test(workers = 1)]
#[ignore = "measures the CPU of its process: the test above runs it"]
async fn measured() {
    let http1: &[(&str, Pieces, usize)] = &[
        ("empty lines", lines, 10_000),
        ("head", head, 20_000),
        ("body", body, 20_000),
        ("chunks", chunks, 20_000),
    ];
    let http2: &[(&str, Pieces, usize)] = &[("frames", frames, 20_000), ("room", windows, 20_000)];
    let plain = start(|listener| serve(listener, service_fn(lenient))).await;
    let connect_plain = |addr| Box::new(connect(addr)) as Box<dyn Duplex>;
    let mut wrong = check(&plain, "HTTP/1", http1, connect_plain).await;
    wrong.extend(check(&plain, "HTTP/2", http2, connect_plain).await);
    #[cfg(feature = "tls")]
    {
        use std::sync::Arc;
        use tokio_rustls::rustls::pki_types::ServerName;
        use tokio_rustls::rustls::{ClientConnection, StreamOwned};
        let identity = crate::tls::Identity::new("smallest", &["localhost"]);
        let server = start(|listener| {
            let listener = colored_hyper::tls::Listener::new(listener, identity.server());
            serve(listener, service_fn(lenient))
        })
        .await;
        // At home one row of each: what differs is below HTTP.
        let (http1, http2) = by_length((&http1[2..3], &http2[..1]), (http1, http2));
        for (protocol, rows) in [("http/1.1", http1), ("h2", http2)] {
            let mut config = identity.client();
            config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
            let config = Arc::new(config);
            let connect = move |addr| {
                let name = ServerName::try_from("localhost").unwrap();
                let tls = ClientConnection::new(Arc::clone(&config), name).unwrap();
                Box::new(StreamOwned::new(tls, connect(addr))) as Box<dyn Duplex>
            };
            wrong.extend(check(&server, "TLS", rows, connect).await);
        }
    }
    #[cfg(feature = "websocket")]
    {
        use colored_hyper::websocket::{self, WebSocket};
        let service = service_fn(|request: Request<Incoming>| {
            let session =
                async |mut socket: WebSocket| while let Some(Ok(_)) = socket.recv().await {};
            let answer: Answer = Ok(websocket::upgrade(request, colored::Color::unique(), session));
            std::future::ready(answer)
        });
        let server = start(|listener| serve(listener, service)).await;
        let rows: &[(&str, Pieces, usize)] =
            &[("messages", |n| ws(n, 0x82), 20_000), ("fragments", |n| ws(n, 0x00), 20_000)];
        wrong.extend(check(&server, "WebSocket", rows, connect_plain).await);
    }
    assert_eq!(wrong, [""; 0]);
}

/// So many frames of a byte, and a close frame.
#[cfg(feature = "websocket")]
fn ws(n: usize, kind: u8) -> Vec<Vec<u8>> {
    let ask = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
        sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let frame = |kind| vec![kind, 0x81, 0, 0, 0, 0, b'a'];
    let first = frame(if kind == 0 { 0x02 } else { kind });
    let frames = std::iter::repeat_n(frame(kind), n);
    [ask.into(), first].into_iter().chain(frames).chain([vec![0x88, 0x80, 0, 0, 0, 0]]).collect()
}
