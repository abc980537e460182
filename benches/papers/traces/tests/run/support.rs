//! A directory for a test, and a server that answers from memory.

use colored_traces::{content, place};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// An empty directory, which is removed with the value.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("colored-traces-{}-{}", std::process::id(), NUMBER.fetch_add(1, SeqCst));
        let path = std::env::temp_dir().join(name);
        // An earlier process of this number may have been killed, and have left it behind.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("the name is new");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A test that fails here has failed before.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What the server does with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Right,
    /// A status with an empty body.
    Status(u16),
    /// A body that has this many bytes more than the file, and says so.
    Longer(u64),
    /// A body that ends before the length that the head gives.
    Half,
    /// A body of another file.
    Other,
    /// Bytes that are not HTTP.
    Garbage,
    /// A right response to close the connection after.
    Last,
    /// A right response after a while.
    Late(Duration),
}

/// A server that runs until the process ends, and counts.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    sizes: Vec<u64>,
    answer: Box<dyn Fn(u64) -> Answer + Send + Sync>,
    requests: AtomicU64,
    bytes: AtomicU64,
    connections: AtomicU64,
    is_stopped: AtomicBool,
}

impl Server {
    /// Serves files of these sizes. `answer` says what to do with the request of a number, from 0 on.
    pub(crate) fn new(
        sizes: &[u64],
        answer: impl Fn(u64) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared {
            sizes: sizes.to_vec(),
            answer: Box::new(answer),
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
        });
        let server = Self { address, shared: shared.clone() };
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_stopped.load(SeqCst) {
                    return;
                }
                shared.connections.fetch_add(1, SeqCst);
                let (stream, shared) = (stream.expect("it is accepted"), shared.clone());
                // The client may be gone before the response.
                thread::spawn(move || shared.serve(&stream).unwrap_or(()));
            }
        });
        server
    }

    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(SeqCst)
    }

    /// The bytes of all bodies.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.bytes.load(SeqCst)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.shared.connections.load(SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, SeqCst);
        // The listener waits for one more connection.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream).lines();
        let mut output = stream;
        while let Some(line) = lines.next() {
            let line = line?;
            let path = line.strip_prefix("GET /").and_then(|line| line.strip_suffix(" HTTP/1.1"));
            let file = place::number(path.expect("a GET")).expect("the path of a file");
            let mut closes = false;
            for line in lines.by_ref() {
                let line = line?;
                closes |= line == "Connection: close";
                if line.is_empty() {
                    break;
                }
            }
            let answer = (self.answer)(self.requests.fetch_add(1, SeqCst));
            closes |= self.respond(&mut output, file, answer)?;
            if closes {
                break;
            }
        }
        Ok(())
    }

    /// Whether the connection ends.
    fn respond(&self, output: &mut impl Write, file: u32, answer: Answer) -> std::io::Result<bool> {
        let size = self.sizes[file as usize];
        let (mut status, mut length, mut sent, mut header) = (200, size, size, "");
        match answer {
            Answer::Right => {}
            Answer::Status(other) => (status, length, sent) = (other, 0, 0),
            Answer::Longer(more) => (length, sent) = (size + more, size + more),
            Answer::Half => sent = size / 2,
            Answer::Other => {}
            Answer::Garbage => return output.write_all(b"no HTTP\r\n\r\n").map(|()| true),
            Answer::Last => header = "Connection: close\r\n",
            Answer::Late(time) => thread::sleep(time),
        }
        // One write: a second one would wait for the delayed acknowledgment of the first.
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{header}\r\n");
        let mut bytes = head.into_bytes();
        let body = bytes.len();
        bytes.resize(body + sent as usize, 0);
        let file = file + u32::from(matches!(answer, Answer::Other));
        content::fill(file, 0, &mut bytes[body..]);
        // The client may end the run as soon as it has the last byte.
        self.bytes.fetch_add(sent, SeqCst);
        output.write_all(&bytes)?;
        Ok(matches!(answer, Answer::Last | Answer::Half))
    }
}
