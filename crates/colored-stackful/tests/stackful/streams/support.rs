//! A runtime of one worker, and connections on it.

use colored::runtime::Builder;
use colored::time::timeout;
use colored_stackful::net::{TcpListener, TcpStream};
use colored_stackful::spawn_unique;
use std::io::{Read, Write};
use std::time::Duration;

/// Far longer than any test should take.
const LONG: Duration = Duration::from_secs(60);

/// Runs a closure as a stackful task.
pub(crate) fn run<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let runtime = Builder::new().workers(1).build().unwrap();
    runtime.block_on(async { timeout(LONG, spawn_unique(f)).await.unwrap().unwrap() })
}

/// As [`run`], with the clock paused: time passes while nothing runs.
pub(crate) fn run_paused<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let runtime = Builder::new().workers(1).start_paused(true).build().unwrap();
    runtime.block_on(async { spawn_unique(f).await.unwrap() })
}

/// Two ends of one connection.
pub(crate) fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    (client, server)
}

/// Sends more than the buffers of the system hold, and gets it back.
pub(crate) fn echo<S: Read + Write + Send + 'static>(
    mut client: S,
    mut server: S,
    end: impl FnOnce(&mut S) + Send + 'static,
) {
    const PART: [u8; 10_000] = [7; 10_000];
    const PARTS: usize = 1_000;
    let server = spawn_unique(move || {
        let mut buffer = [0; 5_000];
        let mut bytes = 0;
        loop {
            match server.read(&mut buffer).unwrap() {
                0 => return bytes,
                n => {
                    server.write_all(&buffer[..n]).unwrap();
                    bytes += n;
                }
            }
        }
    });
    for _ in 0..PARTS {
        client.write_all(&PART).unwrap();
        let mut back = [0; PART.len()];
        client.read_exact(&mut back).unwrap();
        assert_eq!(back, PART);
    }
    end(&mut client);
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    assert_eq!(colored_stackful::wait(server).unwrap(), PARTS * PART.len());
}
