//! A NATS server with JetStream.

use crate::Directory;
use crate::server::{Server, find, free_port};
use std::io::Read;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const WAIT: Duration = Duration::from_secs(120);

/// A server.
#[derive(Debug)]
pub struct Nats {
    directory: Directory,
    program: PathBuf,
    port: u16,
    server: Option<Server>,
}

impl Nats {
    /// Starts a server; `None` if it is not there, and may be missing.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[must_use]
    pub fn start() -> Option<Nats> {
        let program = find("nats-server")?;
        let (directory, port) = (Directory::new(), free_port());
        let data = directory.path().join("data");
        let data = data.display();
        let settings =
            format!("listen: 127.0.0.1:{port}\njetstream {{\n store_dir: \"{data}\"\n}}\n");
        std::fs::write(directory.path().join("server.conf"), settings).expect("it is new");
        let mut nats = Nats { directory, program, port, server: None };
        nats.restart();
        Some(nats)
    }

    /// Kills the server if it runs, starts it again with its data, and waits until it answers.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn restart(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill();
        }
        let settings = self.directory.path().join("server.conf");
        let arguments = ["-c".to_owned(), settings.display().to_string()];
        self.server = Some(Server::start(&self.program, &arguments, self.directory.path()));
        let end = Instant::now() + WAIT;
        // It greets whom it serves.
        let greets = || {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(WAIT))?;
            stream.read_exact(&mut [0; 4])
        };
        while greets().is_err() {
            let said = || std::fs::read_to_string(self.directory.path().join("log"));
            assert!(Instant::now() < end, "the server did not start: {said:?}", said = said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `host:port`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}
