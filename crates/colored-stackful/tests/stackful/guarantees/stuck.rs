//! G10: timers and sockets are served beside a poll that does not end.

use crate::support::{KINDS, Kind, spawn_as, until};
use colored::io::AsyncReadExt;
use colored::task::JoinHandle;
use colored::time::{Duration, sleep};
use colored::{Color, Runtime};
use colored_stackful as stackful;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

/// How long the only worker is stuck in a poll.
const STUCK: Duration = Duration::from_millis(300);
const BOUND: Duration = Duration::from_millis(100);

/// While a task of this kind does not end its poll, runs `served` and returns its time.
async fn beside(stuck: Kind, served: impl FnOnce() -> JoinHandle<Duration>) -> Duration {
    let is_stuck = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&is_stuck);
    let stuck = spawn_as!(stuck, Color::unique(), {
        begins.store(true, Ordering::Relaxed);
        thread::sleep(STUCK);
    });
    until(|| is_stuck.load(Ordering::Relaxed)).await;
    let late = served().await.unwrap();
    stuck.await.unwrap();
    late
}

/// One attempt in time is enough: the machine may be busy.
fn assert_served(served: fn(Kind) -> JoinHandle<Duration>) {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    for (stuck, kind) in Kind::pairs() {
        let mut attempts = (0..10).map(|_| runtime.run(beside(stuck, move || served(kind))));
        assert!(attempts.any(|late| late < BOUND), "{kind:?} beside {stuck:?}");
    }
}

/// Shows G10.
#[test]
fn timers_fire_beside_a_task_that_is_stuck() {
    assert_served(|kind| {
        spawn_as!(kind, Color::unique(), {
            let start = Instant::now();
            wait!(sleep(Duration::from_millis(10)));
            start.elapsed()
        })
    });
}

/// How long it takes until the byte is there that another thread sends after 10 ms.
fn spawn_reader(kind: Kind) -> JoinHandle<Duration> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    server.set_nonblocking(true).unwrap();
    let start = Instant::now();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(10));
        client.write_all(b"x").unwrap();
    });
    match kind {
        Kind::Future => colored::spawn_unique(async move {
            let mut server = colored::net::TcpStream::from_std(server).unwrap();
            server.read_exact(&mut [0]).await.unwrap();
            start.elapsed()
        }),
        Kind::Stackful => stackful::spawn_unique(move || {
            let mut server = stackful::net::TcpStream::try_from(server).unwrap();
            server.read_exact(&mut [0]).unwrap();
            start.elapsed()
        }),
    }
}

/// Shows G10.
#[test]
fn sockets_are_read_beside_a_task_that_is_stuck() {
    assert_served(spawn_reader);
}

/// Where no thread is free to run them, they are served when the poll ends.
/// Shows G10.
#[test]
fn nothing_is_lost_while_all_are_stuck() {
    let runtime = crate::support::runtime(1);
    for (stuck, kind) in Kind::pairs() {
        runtime.run(async move {
            let late = spawn_reader(kind);
            colored::yield_now().await;
            let stuck = spawn_as!(stuck, Color::unique(), { thread::sleep(STUCK) });
            stuck.await.unwrap();
            assert!(late.await.unwrap() >= Duration::from_millis(10));
        });
    }
    for kind in KINDS {
        runtime.run(async move { kind.spawn_steps(Color::unique(), 2, |_| ()).await.unwrap() });
    }
}
