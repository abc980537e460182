//! A server whose answers come late, or not as it has given them.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// What happens to the answers.
#[derive(Debug, Default)]
struct Change {
    delay: Duration,
    replaced: Option<(Vec<u8>, Vec<u8>)>,
}

/// Stands between clients and a server until the process ends.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    change: Arc<Mutex<Change>>,
}

fn lock(change: &Mutex<Change>) -> MutexGuard<'_, Change> {
    change.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// Begins to take connections for a server, `host:port`. Nothing is changed yet.
    ///
    /// # Panics
    ///
    /// If the system refuses.
    #[must_use]
    pub fn start(server: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is a socket").port();
        let (change, server) = (Arc::new(Mutex::new(Change::default())), server.to_owned());
        let changes = Arc::clone(&change);
        spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("it listens");
                // A client notices that the server is down.
                let Ok(server) = TcpStream::connect(&server) else { continue };
                join(client, server, &changes);
            }
        });
        Proxy { port, change }
    }

    /// `host:port`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Holds back for so long what the server says, also what is held back already.
    pub fn hold_back(&self, delay: Duration) {
        lock(&self.change).delay = delay;
    }

    /// Puts other words, which are as long, in place of words of the server from now on.
    ///
    /// # Panics
    ///
    /// If they are not as long.
    pub fn replace(&self, words: &str, by: &str) {
        assert_eq!(words.len(), by.len(), "the server has said how long it is");
        lock(&self.change).replaced = Some((words.into(), by.into()));
    }
}

/// Carries what both say, until one of them ends it.
fn join(client: TcpStream, server: TcpStream, change: &Arc<Mutex<Change>>) {
    for stream in [&client, &server] {
        stream.set_nodelay(true).expect("it is a socket");
    }
    let of = |stream: &TcpStream| stream.try_clone().expect("it is a socket");
    let (mut says, mut hears) = (of(&client), of(&server));
    spawn(move || {
        // Whatever has ended it, the other side hears of it.
        let _ = std::io::copy(&mut says, &mut hears);
        let _ = hears.shutdown(Shutdown::Both);
    });
    let (sender, answers) = mpsc::channel::<(Instant, Vec<u8>)>();
    let (mut server, mut client) = (server, client);
    let (change, held) = (Arc::clone(change), Arc::clone(change));
    spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = server.read(&mut bytes) {
            let (change, mut said) = (lock(&change), bytes[..count].to_vec());
            if let Some((words, by)) = &change.replaced {
                for at in 0..count {
                    if said[at..].starts_with(words) {
                        said[at..at + by.len()].copy_from_slice(by);
                    }
                }
            }
            if sender.send((Instant::now(), said)).is_err() {
                return;
            }
        }
    });
    spawn(move || {
        for (said, bytes) in answers {
            while said.elapsed() < lock(&held).delay {
                sleep(Duration::from_millis(1));
            }
            if client.write_all(&bytes).is_err() {
                break;
            }
        }
        // It may have ended already.
        let _ = client.shutdown(Shutdown::Both);
    });
}
