//! [`Server`]: a server on loopback, with a directory of its own, until it is dropped.

use crate::support::Directory;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Far longer than any start or end should take.
const LONG: Duration = Duration::from_secs(60);

/// How often to look whether it has started or ended.
const OFTEN: Duration = Duration::from_millis(10);

/// The command that starts a server with this directory and this port.
type Start = fn(&Path, u16) -> Command;

pub(super) struct Server {
    start: Start,
    /// The signal that ends it at once.
    end: &'static str,
    dir: Directory,
    port: u16,
    child: Option<Child>,
}

impl Server {
    /// A server in a new directory, which `prepare` fills.
    pub(super) fn new(end: &'static str, prepare: impl FnOnce(&Path), start: Start) -> Server {
        let mut server = Server { start, end, dir: Directory::new("server"), port: 0, child: None };
        prepare(&server.dir.0);
        // Another program may take the port before the server does.
        let started = (0..5).any(|_| {
            server.port = free_port();
            server.try_start()
        });
        assert!(started, "{:?} ends at once", start(&server.dir.0, server.port));
        server
    }

    pub(super) fn addr(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Ends it, in the middle of what it does.
    pub(super) fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let kill = format!("kill -{} {}", self.end, child.id());
        let _ = Command::new("sh").args(["-c", &kill]).status();
        let begin = Instant::now();
        while matches!(child.try_wait(), Ok(None)) {
            if begin.elapsed() > LONG {
                let _ = child.kill();
            }
            sleep(OFTEN);
        }
    }

    /// Starts it again at the same address.
    pub(super) fn start_again(&mut self) {
        let begin = Instant::now();
        while !self.try_start() {
            assert!(begin.elapsed() < LONG, "port {} is not free again", self.port);
            sleep(OFTEN);
        }
    }

    /// Whether it has started; it has ended otherwise.
    fn try_start(&mut self) -> bool {
        let mut command = (self.start)(&self.dir.0, self.port);
        let log = fs::File::create(self.dir.0.join("log")).expect("a file for its log");
        let errors = log.try_clone().expect("a second descriptor of the log");
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let mut child = command.spawn().expect("the program starts");
        let begin = Instant::now();
        loop {
            if child.try_wait().expect("it is our child").is_some() {
                return false;
            }
            // It is a child of ours that listens only if it does not end now.
            if TcpStream::connect(self.addr()).is_ok() {
                sleep(OFTEN);
                if matches!(child.try_wait(), Ok(None)) {
                    self.child = Some(child);
                    return true;
                }
            }
            assert!(begin.elapsed() < LONG, "{command:?} does not listen");
            sleep(OFTEN);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.dir.0.join("log")).unwrap_or_default();
            println!("the server's log:\n{log}");
        }
        self.stop();
        // Processes of PostgreSQL may still be writing.
        let _ = (0..100).any(|_| {
            fs::remove_dir_all(&self.dir.0).is_ok() || {
                sleep(OFTEN);
                false
            }
        });
    }
}

fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    socket.local_addr().expect("it is bound").port()
}
