//! What keeps paused time from moving, and what does not.

use super::{HOUR, paused, run};
use colored::fs;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{UdpSocket, UnixStream};
use colored::time::{Duration, Instant, advance, sleep, timeout};
use colored_tests::scratch::Scratch;
use colored_tests::{join_all, watched};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;

#[test]
fn a_blocking_call_keeps_time_from_moving() {
    run(2, async {
        for _ in 0..5 {
            let start = Instant::now();
            let call = colored::spawn_blocking(|| thread::sleep(Duration::from_millis(10)));
            timeout(Duration::from_millis(1), call).await.unwrap().unwrap();
            assert_eq!(start.elapsed(), Duration::ZERO);
        }
    });
}

/// Nothing wakes a worker when a call ends whose handle is gone.
#[test]
fn time_moves_again_after_a_call_that_nobody_waits_for() {
    run(2, async {
        let (start, ended) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let ends = Arc::clone(&ended);
        drop(colored::spawn_blocking(move || {
            thread::sleep(Duration::from_millis(10));
            ends.store(true, SeqCst);
        }));
        sleep(HOUR).await;
        assert!(ended.load(SeqCst));
        assert_eq!(start.elapsed(), HOUR);
    });
}

/// The call waits for a task that only `advance` brings on.
#[test]
fn advance_moves_time_beside_a_blocking_call() {
    run(2, async {
        let start = Instant::now();
        let (send, receive) = mpsc::channel();
        let call = colored::spawn_blocking(move || receive.recv().unwrap());
        drop(colored::spawn_unique(async move {
            sleep(HOUR).await;
            send.send(start.elapsed()).unwrap();
        }));
        advance(HOUR).await;
        assert_eq!(call.await.unwrap(), HOUR);
    });
}

#[test]
fn a_read_of_a_file_keeps_time_from_moving() {
    run(2, async {
        let start = Instant::now();
        let scratch = Scratch::new();
        for round in 0..20 {
            let path = scratch.file(&format!("{round}"), vec![7; 100_000]);
            let read = timeout(Duration::from_millis(1), fs::read(path)).await.unwrap().unwrap();
            assert_eq!(read.len(), 100_000);
            // Blocking threads do these.
            let entries = fs::read_dir(scratch.path());
            let mut entries = timeout(Duration::from_millis(1), entries).await.unwrap().unwrap();
            let entry = timeout(Duration::from_millis(1), entries.next_entry());
            assert!(entry.await.unwrap().unwrap().is_some());
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
    });
}

/// A client and a server of one runtime talk, each with time-outs that would fire at once if an event that has arrived
/// did not count. Over a Unix socket, where bytes arrive in the call that sends them; of TCP, a thread of the system may
/// carry them over later. With 9 and 17 workers there are two and three selectors.
#[test]
fn the_peers_of_one_runtime_are_not_cut_off() {
    for workers in [1, 2, 4, 8, 9, 17] {
        run(workers, talk(200));
    }
}

/// A worker that has found events in one selector must not go to sleep because another selector is taken.
#[test]
fn many_peers_of_one_runtime_are_not_cut_off() {
    for workers in [2, 9, 17, 33] {
        run(workers, async {
            join_all((0..6).map(|_| colored::spawn_unique(talk(200)))).await;
        });
    }
}

async fn talk(rounds: u8) {
    let start = Instant::now();
    let (mut stream, mut peer) = UnixStream::pair().unwrap();
    let server = colored::spawn_unique(async move {
        let mut byte = [0];
        while timeout(HOUR, peer.read(&mut byte)).await.unwrap().unwrap() == 1 {
            timeout(HOUR, peer.write_all(&byte)).await.unwrap().unwrap();
        }
    });
    for byte in 0..rounds {
        let mut back = [0];
        // Another worker than the one that waits for events goes on from here.
        colored::spawn_blocking(|| {}).await.unwrap();
        stream.write_all(&[byte]).await.unwrap();
        timeout(HOUR, stream.read_exact(&mut back)).await.unwrap().unwrap();
        assert_eq!(back, [byte]);
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    // Not by a drop: a child that another test has forked, and that has not begun its program, has the descriptor too.
    stream.shutdown().await.unwrap();
    server.await.unwrap();
}

#[test]
fn a_socket_that_waits_does_not_keep_time_from_moving() {
    run(2, async {
        let start = Instant::now();
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        timeout(HOUR, socket.recv(&mut [0; 10])).await.unwrap_err();
        assert_eq!(start.elapsed(), HOUR);
    });
}

/// A thread that waits by `block_on` inside a blocking call is woken by events, and time moves when the call is over.
#[test]
fn a_call_that_uses_the_runtime_ends_before_time_moves() {
    watched(|| {
        let runtime = paused(2);
        let handle = runtime.handle().clone();
        runtime.run(async move {
            let start = Instant::now();
            let call = colored::spawn_blocking(move || {
                for _ in 0..20 {
                    handle.block_on(async {
                        colored::spawn_unique(async {}).await.unwrap();
                    });
                }
                start.elapsed()
            });
            let sleeper = colored::spawn_unique(sleep(HOUR));
            assert_eq!(call.await.unwrap(), Duration::ZERO);
            sleeper.await.unwrap();
            assert_eq!(start.elapsed(), HOUR);
        });
    });
}

/// A poll that computes or blocks is work, on whatever worker.
#[test]
fn a_long_poll_keeps_time_from_moving() {
    run(3, async {
        let start = Instant::now();
        let tasks: Vec<_> = (0..6)
            .map(|_| {
                colored::spawn_unique(async move {
                    thread::sleep(Duration::from_millis(15));
                    start.elapsed()
                })
            })
            .collect();
        sleep(HOUR).await;
        for task in tasks {
            assert_eq!(task.await.unwrap(), Duration::ZERO);
        }
        assert_eq!(start.elapsed(), HOUR);
    });
}
