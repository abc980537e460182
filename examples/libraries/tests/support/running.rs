//! [`Running`]: an example that serves until it is dropped.

use super::{program, watchdog};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Stdio};

/// A server of the runtime's own examples.
pub(crate) struct Running {
    child: Child,
    addr: SocketAddr,
    /// Closed, its next line would be an error to it.
    _output: BufReader<ChildStdout>,
    _watched: watchdog::Guard,
}

impl Running {
    /// `http`, whose first line names its address.
    #[track_caller]
    pub(crate) fn http() -> Running {
        Running::start("http", &["--addr", "127.0.0.1:0"], "listening on http://")
    }

    /// `proxy`, whose first line names its own address, then that of an origin.
    #[track_caller]
    pub(crate) fn proxy(coloring: &str) -> Running {
        let args = ["--addr", "127.0.0.1:0", "--coloring", coloring];
        Running::start("proxy", &args, "curl -x http://")
    }

    /// `websocket-rooms`, whose first line names its address.
    #[track_caller]
    pub(crate) fn rooms() -> Running {
        Running::start("websocket-rooms", &["--addr", "127.0.0.1:0"], "listening on http://")
    }

    #[track_caller]
    fn start(name: &str, args: &[&str], before: &str) -> Running {
        let mut child = program(name).args(args).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it prints a line");
        let (_, rest) = line.split_once(before).unwrap_or_else(|| panic!("{before:?} in {line:?}"));
        let addr = rest.split(|c: char| !c.is_ascii_digit() && !".:".contains(c)).next();
        let addr = addr.and_then(|addr| addr.parse().ok()).unwrap_or_else(|| panic!("{line:?}"));
        Running { child, addr, _output: output, _watched: watchdog::arm() }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
