//! Programs that run, and connections to talk to them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Far longer than anything here should take.
const LONG: Duration = Duration::from_secs(60);

/// An example, or a program of the package, with its standard input closed.
fn example(name: &str, args: &str) -> Command {
    // The tests are in `target/PROFILE/deps`.
    let mut path: PathBuf = std::env::current_exe().expect("a test has a path");
    path.pop();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let program = path.with_file_name(&file);
    path.set_file_name("examples");
    path.push(file);
    if !path.exists() {
        path = program;
    }
    assert!(path.exists(), "{path:?} is missing: `cargo test` of its package builds it");
    let mut command = Command::new(path);
    command.args(args.split_whitespace()).stdin(Stdio::null()).env("RUST_BACKTRACE", "0");
    command
}

/// A program that runs until this is dropped.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(crate) fn start(name: &str, args: &str) -> Running {
        let mut child = example(name, args).stdout(Stdio::piped()).spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let (send, lines) = channel();
        // Ends with the program.
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|l| send.send(l)));
        Running { child, lines }
    }

    /// The number of its process.
    #[cfg(unix)]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it prints.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(LONG).expect("it prints a line")
    }

    /// Asks it to end, and returns its further output.
    #[cfg(unix)]
    pub(crate) fn stop(self) -> Vec<String> {
        signal(self.id());
        self.end()
    }

    /// Its output until it ends, which must be without an error.
    pub(crate) fn end(self) -> Vec<String> {
        let (success, lines) = self.outcome();
        assert!(success, "it fails: {lines:?}");
        lines
    }

    /// Its output until it ends, which must be with an error.
    #[cfg(unix)]
    pub(crate) fn fail(self) -> Vec<String> {
        let (success, lines) = self.outcome();
        assert!(!success, "it does not fail: {lines:?}");
        lines
    }

    fn outcome(mut self) -> (bool, Vec<String>) {
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(LONG) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {lines:?}"),
            }
        }
        // It has closed its output.
        (self.child.wait().expect("it ends").success(), lines)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks a process to end.
#[cfg(unix)]
pub(crate) fn signal(id: u32) {
    assert!(Command::new("kill").arg(id.to_string()).status().expect("`kill` runs").success());
}

/// The error output of a program that must fail with these arguments.
pub(crate) fn error(name: &str, args: &str) -> String {
    let output = example(name, args).output().expect("it starts");
    assert!(!output.status.success(), "{name} {args}");
    assert!(output.stdout.is_empty(), "{name} {args}");
    String::from_utf8(output.stderr).expect("it is text")
}

/// The first address after `before` in a line.
pub(crate) fn addr_after(line: &str, before: &str) -> SocketAddr {
    let (_, rest) = line.split_once(before).unwrap_or_else(|| panic!("{before:?} in {line:?}"));
    let addr = rest.split(|c: char| !c.is_ascii_digit() && !".:".contains(c)).next();
    addr.and_then(|addr| addr.parse().ok()).unwrap_or_else(|| panic!("an address in {line:?}"))
}

pub(crate) fn connect(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&addr, LONG).expect("it listens");
    stream.set_read_timeout(Some(LONG)).expect("it is a socket");
    stream
}

/// The head and the body of the answer to `GET url`, on a connection of its own.
pub(crate) fn get(addr: SocketAddr, url: &str) -> (String, String) {
    send(addr, &format!("GET {url} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"))
}

/// The head and the body of the answer to `request`.
pub(crate) fn send(addr: SocketAddr, request: &str) -> (String, String) {
    let mut answer = String::new();
    let talk = |answer: &mut String| -> io::Result<()> {
        let mut stream = connect(addr);
        stream.write_all(request.as_bytes())?;
        stream.read_to_string(answer)?;
        Ok(())
    };
    talk(&mut answer).unwrap_or_else(|error| panic!("{request:?}: {error} after {answer:?}"));
    let (head, body) = answer.split_once("\r\n\r\n").expect("there is a head");
    (head.to_owned(), body.to_owned())
}
