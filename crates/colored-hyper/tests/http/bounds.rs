//! What a client can make a server keep: far more than each bound of the table of [`serve`] is sent, to a server with the
//! default settings, and its memory does not grow by as much.

use crate::silence::frames::{
    DATA, GET, HEADERS, PING, POST, PREFACE, RST_STREAM, SETTINGS, frame,
};
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

/// The piece of each number that a client sends.
type Piece = fn(u32) -> Vec<u8>;

/// What is sent, how it begins, how it goes on, and to how many MiB.
type Row = (&'static str, fn() -> Vec<u8>, Piece, usize);

/// The memory may grow by so many MiB in a row: more than each bound, and far less than what is sent.
const MOST: usize = 5;

const CHUNKED: &str = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";

/// What HTTP/1 has no end for.
const HTTP1: &[Row] = &[
    ("line of a request", || b"GET /".into(), |_| vec![b'a'; 4096], 20),
    ("name of a field", || b"GET / HTTP/1.1\r\n".into(), |_| vec![b'a'; 4096], 20),
    ("value of a field", || b"GET / HTTP/1.1\r\na: ".into(), |_| vec![b'a'; 4096], 20),
    ("fields", || b"GET / HTTP/1.1\r\n".into(), |_| b"a: b\r\n".repeat(700), 20),
    ("size of a chunk", || CHUNKED.into(), |_| vec![b'0'; 4096], 20),
    ("spaces behind it", || [CHUNKED, "5"].concat().into(), |_| vec![b' '; 4096], 20),
    ("extension", || [CHUNKED, "5;"].concat().into(), |_| vec![b'a'; 4096], 20),
    ("extensions", || CHUNKED.into(), |_| b"1;aaaa\r\nx\r\n".repeat(300), 20),
    ("trailer", || [CHUNKED, "0\r\na: "].concat().into(), |_| vec![b'a'; 4096], 20),
    ("trailers", || [CHUNKED, "0\r\n"].concat().into(), |_| b"a: b\r\n".repeat(700), 20),
    (
        "body that nobody reads",
        || b"POST /wait HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n".into(),
        |_| vec![b'a'; 4096],
        60,
    ),
    (
        "requests behind another",
        || b"GET /wait HTTP/1.1\r\nhost: a\r\n\r\n".into(),
        |_| b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(100),
        60,
    ),
    (
        "requests whose answers nobody reads",
        Vec::new,
        |_| b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(100),
        60,
    ),
];

fn begin(frames: &[Vec<u8>]) -> Vec<u8> {
    [PREFACE.to_vec(), frame(SETTINGS, 0, 0, b""), frames.concat()].concat()
}

/// A `POST` whose handler reads nothing.
const WAIT: &[u8] = b"\x83\x86\x44\x05/wait\x41\x01a";

fn stream(n: u32) -> u32 {
    2 * n + 1
}

/// The same of HTTP/2.
const HTTP2: &[Row] = &[
    ("fields", || begin(&[frame(HEADERS, 0, 1, GET)]), |_| frame(9, 0, 1, &[b'a'; 16_000]), 20),
    ("pings", || begin(&[]), |_| frame(PING, 0, 0, b"12345678").repeat(200), 60),
    ("settings", || begin(&[]), |_| frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]).repeat(200), 60),
    ("unknown frames", || begin(&[]), |_| frame(99, 0, 0, &[b'a'; 16_000]), 60),
    ("streams", || begin(&[]), |n| frame(HEADERS, 4, stream(n), WAIT), 2),
    (
        "streams that are reset",
        || begin(&[]),
        |n| [frame(HEADERS, 4, stream(n), WAIT), frame(RST_STREAM, 0, stream(n), &[0; 4])].concat(),
        20,
    ),
    (
        "body that nobody reads",
        || begin(&[frame(HEADERS, 4, 1, WAIT)]),
        |_| frame(DATA, 0, 1, &[b'a'; 16_000]),
        60,
    ),
    (
        "requests whose answers nobody reads",
        || begin(&[]),
        |n| [frame(HEADERS, 4, stream(n), POST), frame(DATA, 1, stream(n), b"hello")].concat(),
        20,
    ),
];

/// The same of TLS, before anything is encrypted: a message that is announced with 16 MiB.
#[cfg(feature = "tls")]
const TLS: &[Row] = &[(
    "handshake",
    || b"\x16\x03\x01\x40\x00\x01\xff\xff\xff".iter().copied().chain([0; 16_380]).collect(),
    |_| b"\x16\x03\x01\x40\x00".iter().copied().chain([0; 16_384]).collect(),
    20,
)];

/// The same of a WebSocket. The frames are masked with zeros.
#[cfg(feature = "websocket")]
const WEBSOCKET: &[Row] = &[
    ("pings", || UPGRADE.into(), |_| ws(0x89, &[b'a'; 125]).repeat(50), 60),
    (
        "message",
        || [UPGRADE.as_bytes(), &ws(0x02, b"a")].concat(),
        |_| ws(0x00, &[b'a'; 100]).repeat(50),
        60,
    ),
    (
        "fragments without bytes",
        || [UPGRADE.as_bytes(), &ws(0x02, b"a")].concat(),
        |_| ws(0x00, b"").repeat(500),
        20,
    ),
];

#[cfg(feature = "websocket")]
const UPGRADE: &str = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

#[cfg(feature = "websocket")]
fn ws(kind: u8, payload: &[u8]) -> Vec<u8> {
    let head = [kind, 0x80 | payload.len() as u8, 0, 0, 0, 0];
    [&head, payload].concat()
}

/// The resident memory, in MiB.
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    (pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096) >> 20
}

/// How many MiB of a row are sent: far more than the memory may grow by, and than the system buffers.
fn mib_to_send(mib: usize) -> usize {
    by_length(mib.min(8 + mib / 8), mib)
}

/// Sends a row, and reads nothing. Returns by how many MiB the memory has grown at most, and how much was sent.
fn send(addr: SocketAddr, (_, begin, piece, mib): Row) -> (usize, usize) {
    let (before, mib) = (resident(), mib_to_send(mib));
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let (mut most, mut sent) = (before, 0);
    let pieces = std::iter::once(begin()).chain((0..).map(piece));
    for (n, piece) in pieces.enumerate() {
        // The server has closed, or reads no more.
        if stream.write_all(&piece).is_err() || sent > mib << 20 {
            break;
        }
        sent += piece.len();
        if n % 64 == 0 {
            most = most.max(resident());
        }
    }
    std::thread::sleep(Duration::from_millis(50));
    most = most.max(resident());
    // The next row begins when the server has noticed the end of this one.
    stream.shutdown(std::net::Shutdown::Write).unwrap_or_default();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
    (most - before, sent >> 20)
}

async fn check(server: Server, what: &str, rows: &'static [Row]) -> Vec<String> {
    let mut wrong = Vec::new();
    // The first row of all warms up.
    let addr = server.addr;
    spawn_blocking(move || send(addr, rows[0])).await.unwrap();
    for row in rows {
        let addr = server.addr;
        let (grown, sent) = spawn_blocking(move || send(addr, *row)).await.unwrap();
        println!("{what}, {}: {sent} MiB sent, grown by {grown} MiB", row.0);
        if grown > MOST {
            wrong.push(format!("{what}, {}: {grown} MiB of {sent}", row.0));
        }
    }
    drop(server);
    wrong
}

async fn read_or_wait(request: Request<Incoming>) -> Answer {
    if request.uri().path() == "/wait" {
        std::future::pending::<()>().await;
    }
    let _ = request.into_body().collect().await;
    Ok(Response::new(Full::from("hello")))
}

#[test]
fn nothing_that_a_client_sends_is_kept_without_a_bound() {
    run_alone("bounds::body");
}

#[colored::test(workers = 1)]
#[ignore = "measures the memory of its process: the test above runs it"]
async fn body() {
    let plain = || start(|listener| serve(listener, service_fn(read_or_wait)));
    let mut wrong = check(plain().await, "HTTP/1", HTTP1).await;
    wrong.extend(check(plain().await, "HTTP/2", HTTP2).await);
    #[cfg(feature = "tls")]
    {
        let identity = crate::tls::Identity::new("bounds", &["localhost"]);
        let server = start(|listener| {
            let listener = colored_hyper::tls::Listener::new(listener, identity.server());
            serve(listener, service_fn(read_or_wait))
        });
        wrong.extend(check(server.await, "TLS", TLS).await);
    }
    #[cfg(feature = "websocket")]
    {
        use colored_hyper::websocket::{self, WebSocket, WebSocketConfig};
        let service = service_fn(|request: Request<Incoming>| {
            let config = WebSocketConfig::default().max_message_size(Some(1 << 20));
            let session =
                async |mut socket: WebSocket| while let Some(Ok(_)) = socket.recv().await {};
            let color = colored::Color::unique();
            let answer: Answer = Ok(websocket::upgrade_with(request, color, config, session));
            std::future::ready(answer)
        });
        let server = start(|listener| serve(listener, service)).await;
        wrong.extend(check(server, "WebSocket", WEBSOCKET).await);
    }
    assert_eq!(wrong, [""; 0]);
}
