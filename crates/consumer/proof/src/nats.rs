//! A NATS server with JetStream.

use crate::Directory;
use crate::server::{Server, find, free_port};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
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

    /// Kills the server if it runs.
    fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill();
        }
    }

    /// Kills the server if it runs, starts it again with its data, and waits until it answers.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn restart(&mut self) {
        self.kill();
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

    /// Where the server keeps a stream.
    fn stream(&self, name: &str) -> PathBuf {
        self.directory.path().join("data/jetstream/$G/streams").join(name)
    }

    /// Copies streams, while the server is killed and started again.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn copy(&mut self, streams: &[&str]) -> Directory {
        let to = Directory::new();
        self.kill();
        for name in streams {
            copy_all(&self.stream(name), &to.path().join(name));
        }
        self.restart();
        to
    }

    /// Puts copies of streams in their places, while the server is killed and started again.
    ///
    /// # Panics
    ///
    /// If there are no such streams.
    pub fn bring_back(&mut self, copy: &Directory) {
        self.kill();
        for entry in std::fs::read_dir(copy.path()).expect("it is a directory") {
            let name = entry.expect("it is a directory").file_name();
            let to = self.stream(&name.to_string_lossy());
            std::fs::remove_dir_all(&to).expect("there is such a stream");
            copy_all(&copy.path().join(name), &to);
        }
        self.restart();
    }

    /// Deletes a message.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn delete_message(&self, stream: &str, sequence: u64) {
        let text = format!(r#"{{"seq":{sequence}}}"#);
        self.request(&format!("STREAM.MSG.DELETE.{stream}"), &text);
    }

    /// Deletes the messages of a subject, as somebody does who erases all that there is about a key.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn purge(&self, stream: &str, subject: &str) {
        let text = format!(r#"{{"filter":"{subject}"}}"#);
        self.request(&format!("STREAM.PURGE.{stream}"), &text);
    }

    /// Whether the last message of a subject has a value. What a bucket leaves of a deleted entry has none.
    ///
    /// # Panics
    ///
    /// If there is no message, or the server refuses.
    #[must_use]
    pub fn has_value(&self, stream: &str, subject: &str) -> bool {
        let text = format!(r#"{{"last_by_subj":"{subject}"}}"#);
        self.request(&format!("STREAM.MSG.GET.{stream}"), &text).contains("\"data\":")
    }

    /// Deletes a stream.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn delete_stream(&self, stream: &str) {
        self.request(&format!("STREAM.DELETE.{stream}"), "");
    }

    /// How many messages of a stream the server has sent to consumers.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    #[must_use]
    pub fn delivered(&self, stream: &str) -> u64 {
        let all = self.request(&format!("CONSUMER.LIST.{stream}"), "");
        let counts = all.split("\"delivered\":{\"consumer_seq\":").skip(1);
        let count = |text: &str| text.split(',').next()?.parse::<u64>().ok();
        counts.map(|text| count(text).expect("it is a number")).sum()
    }

    /// Lets a stream have so many messages at most.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn limit_messages(&self, stream: &str, most: u64) {
        const CONFIG: &str = "\"config\":";
        let info = self.request(&format!("STREAM.INFO.{stream}"), "");
        let mut config = &info[info.find(CONFIG).expect("it says it") + CONFIG.len()..];
        let mut depth = 0;
        for (at, letter) in config.char_indices() {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            if depth == 0 {
                config = &config[..at];
                break;
            }
        }
        // Of two values of one name the last counts.
        let text = format!("{config},\"max_msgs\":{most}}}");
        self.request(&format!("STREAM.UPDATE.{stream}"), &text);
    }

    /// Publishes a record, by a connection of its own: a server that was started again has it, too.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn publish(&self, subject: &str, value: &str) {
        self.say(subject, "NATS/1.0\r\n\r\n", value);
    }

    /// Publishes what the server leaves where it has removed the last message of a subject.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn publish_marker(&self, subject: &str) {
        self.say(subject, "NATS/1.0\r\nNats-Marker-Reason: MaxAge\r\n\r\n", "");
    }

    /// Asks what the client of the engine cannot ask.
    fn request(&self, of: &str, text: &str) -> String {
        self.say(&format!("$JS.API.{of}"), "NATS/1.0\r\n\r\n", text)
    }

    fn say(&self, subject: &str, headers: &str, text: &str) -> String {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server runs");
        stream.set_read_timeout(Some(WAIT)).expect("it is a socket");
        let (head, all) = (headers.len(), headers.len() + text.len());
        let connect = "CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB _INBOX.x 1\r\n";
        let says = format!("{connect}HPUB {subject} _INBOX.x {head} {all}\r\n{headers}{text}\r\n");
        (&stream).write_all(says.as_bytes()).expect("the server runs");
        let mut lines = BufReader::new(&stream).lines().map(|line| line.expect("it is text"));
        lines.find(|line| line.starts_with("MSG ")).expect("the server answers");
        let answer = lines.next().expect("the server answers");
        assert!(!answer.contains("\"error\""), "{subject}: {answer}");
        answer
    }
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("it is a directory");
    for entry in std::fs::read_dir(from).expect("it is a directory") {
        let entry = entry.expect("it is a directory");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_all(&from, &to);
        } else {
            std::fs::copy(from, to).expect("it is a file");
        }
    }
}
