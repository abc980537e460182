//! [`colored::runtime::inspect`]: the socket, its readers, and what they are told.

mod file;
mod readers;

use colored::{Builder, Runtime};
use colored_tests::scratch::Scratch;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// A runtime with one worker and a socket.
fn inspected(path: &Path) -> Runtime {
    settings(path).build().expect("the runtime starts")
}

fn settings(path: &Path) -> Builder {
    Runtime::builder().workers(1).spare_workers(0).inspect(path)
}

fn place() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let path = scratch.join("socket");
    (scratch, path)
}

struct Reader(BufReader<UnixStream>);

impl Reader {
    fn connect(path: &Path) -> Self {
        Self(BufReader::new(UnixStream::connect(path).expect("the socket is open")))
    }

    fn send(&mut self, request: &str) {
        self.0.get_mut().write_all(request.as_bytes()).expect("the runtime reads");
    }

    /// The next line, without its end; none if the runtime has disconnected.
    fn reply(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(1..) => Some(line.strip_suffix('\n').expect("a reply is a line").to_owned()),
            _ => None,
        }
    }

    fn ask(&mut self, request: &str) -> String {
        self.send(&format!("{request}\n"));
        self.reply().expect("each request has a reply")
    }

    /// Asks for the state. Another test reads all of it: that of `colored-top`.
    fn snapshot(&mut self) -> String {
        let snapshot = self.ask("snapshot");
        assert!(snapshot.starts_with(r#"{"protocol":1,"#) && snapshot.ends_with('}'), "{snapshot}");
        snapshot
    }

    fn error(&mut self) -> String {
        let reply = self.reply().expect("there is a reply");
        let text = reply.strip_prefix(r#"{"error":""#).and_then(|text| text.strip_suffix(r#""}"#));
        text.unwrap_or_else(|| panic!("no error: {reply}")).to_owned()
    }
}

/// The reply to `level`.
fn level(number: u8) -> String {
    format!(r#"{{"level":{number}}}"#)
}
