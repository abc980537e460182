//! Acceptors of every kind that find no descriptor: they wait longer each time, and accept all connections when they can
//! again.

use colored::io::named;
use colored::net::{TcpListener, UnixListener};
use colored::time::{Duration, Instant};
use colored_tests::{child, runtime, shared};
use std::fs::File;
use std::io;
use std::net::TcpStream as StdStream;
use std::os::unix::net::UnixStream as StdUnixStream;

/// In this time a listener has at most six errors, at 0, 5, 15, 35, 75 and 155 ms: late, perhaps, but never more.
const STARVED: Duration = Duration::from_millis(150);
const MOST: usize = 6;

/// Runs `body` where there are few descriptors.
fn starved(function: &str, body: impl FnOnce()) {
    shared(|| child::run_after("ulimit -n 64", module_path!(), function, body));
}

/// All the descriptors that are left.
fn hoard() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

/// Accepts for a while from so many listeners, and checks the errors.
async fn fail<T: std::fmt::Debug>(
    listeners: usize,
    mut accept: impl AsyncFnMut() -> io::Result<T>,
) {
    let (begin, mut errors) = (Instant::now(), Vec::new());
    while errors.len() < 2 || begin.elapsed() < STARVED {
        errors.push(named(accept()).await.unwrap_err());
    }
    assert!((2..=listeners * MOST).contains(&errors.len()), "{} errors", errors.len());
    for error in errors {
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::MFILE.raw_os_error()));
        let text = error.to_string();
        assert!(text.contains("every descriptor that is allowed is in use"), "{text}");
    }
}

#[test]
fn a_unix_listener_backs_off_and_recovers() {
    starved("a_unix_listener_backs_off_and_recovers", || {
        runtime(2).block_on(async {
            let path = std::env::temp_dir().join(format!("colored-starved-{}", std::process::id()));
            let _ = std::fs::remove_file(&path);
            let listener = UnixListener::bind(&path).unwrap();
            let _clients = [(); 4].map(|()| StdUnixStream::connect(&path).unwrap());
            let hoard = hoard();
            fail(1, async || listener.accept().await).await;
            drop(hoard);
            for _ in 0..4 {
                listener.accept().await.unwrap();
            }
            std::fs::remove_file(path).unwrap();
        });
    });
}

#[test]
fn each_listener_of_a_worker_backs_off_and_recovers() {
    starved("each_listener_of_a_worker_backs_off_and_recovers", || {
        runtime(2).block_on(async {
            const CLIENTS: usize = 16;
            let listeners = TcpListener::bind_per_worker("127.0.0.1:0").await.unwrap();
            let addr = listeners[0].local_addr().unwrap();
            let _clients = [(); CLIENTS].map(|()| StdStream::connect(addr).unwrap());
            let hoard = hoard();
            let next = async || {
                colored::select! {
                    next = listeners[0].accept() => next,
                    next = listeners[1].accept() => next,
                }
            };
            fail(listeners.len(), next).await;
            drop(hoard);
            // Each of the clients is accepted by one of them.
            for _ in 0..CLIENTS {
                next().await.unwrap();
            }
        });
    });
}
