//! Files sent over connections.

use super::in_all_modes;
use colored::fs::File;
use colored::io::AsyncReadExt;
use colored::time::{Duration, sleep, timeout};
use colored_tests::scratch::Scratch;
use colored_tests::{echo, run, shared};
use std::io::ErrorKind;
use std::sync::{Arc, LazyLock};

/// Longer than the buffers of the system and of `send_file`, and no multiple of a page.
const LEN: usize = (6 << 20) + 123;

fn bytes() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> =
        LazyLock::new(|| (0..LEN).map(|i| (i * 7 + i / 251) as u8).collect());
    &BYTES
}

/// Sends parts of a file, and compares what a slow reader gets. `$pair` makes a connection.
macro_rules! parts_arrive {
    ($pair:expr) => {
        in_all_modes(|| async {
            let scratch = Scratch::new();
            let file = File::open(scratch.file("file", bytes())).await.unwrap();
            for range in [0..LEN, 0..0, 5..6, 65_535..65_537, LEN - 100_000..LEN] {
                let (sender, mut receiver) = $pair;
                let wanted = bytes()[range.clone()].to_vec();
                let reader = colored::spawn_colored(1, async move {
                    let mut all = Vec::new();
                    while receiver.read_buf(&mut all).await.unwrap() > 0 {
                        sleep(Duration::from_micros(10)).await;
                    }
                    all
                });
                let mut range = range.start as u64..range.end as u64;
                sender.send_file(&file, &mut range).await.unwrap();
                assert!(range.is_empty());
                drop(sender);
                assert!(reader.await.unwrap() == wanted, "{range:?}");
            }
        })
    };
}

#[test]
fn parts_of_a_file_arrive_over_tcp() {
    parts_arrive!(echo::pair().await);
}

#[cfg(unix)]
#[test]
fn parts_of_a_file_arrive_over_a_unix_socket() {
    parts_arrive!(colored::net::UnixStream::pair().unwrap());
}

#[test]
fn a_dropped_send_goes_on_where_it_was() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let file = File::open(scratch.file("file", bytes())).await.unwrap();
        let (sender, mut receiver) = echo::pair().await;
        let mut range = 0..LEN as u64;
        let reader = colored::spawn_colored(1, async move {
            sleep(Duration::from_millis(20)).await;
            let mut all = Vec::new();
            receiver.read_to_end(&mut all).await.unwrap();
            all
        });
        let mut dropped = 0;
        while !range.is_empty() {
            let send = sender.send_file(&file, &mut range);
            match timeout(Duration::from_millis(2), send).await {
                Ok(sent) => sent.unwrap(),
                Err(_) => dropped += 1,
            }
        }
        assert!(dropped > 0, "the reader begins late");
        drop(sender);
        assert!(reader.await.unwrap() == bytes());
    });
}

#[test]
fn a_range_behind_the_end_of_the_file_is_an_error_and_the_range_is_what_is_left() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let file = File::open(scratch.file("file", "12345")).await.unwrap();
        let (sender, mut receiver) = echo::pair().await;
        let mut range = 3..10;
        let error = sender.send_file(&file, &mut range).await.unwrap_err();
        assert_eq!((error.kind(), range), (ErrorKind::UnexpectedEof, 5..10));
        assert!(
            error.to_string().contains("ends at 5, before the end of the range, 10"),
            "{error}"
        );
        drop(sender);
        let mut all = Vec::new();
        receiver.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"45");
    });
}

#[test]
fn a_peer_that_has_gone_is_an_error_and_keeps_the_rest_of_the_range() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let file = File::open(scratch.file("file", bytes())).await.unwrap();
        let (sender, receiver) = echo::pair().await;
        drop(receiver);
        let mut range = 0..LEN as u64;
        sender.send_file(&file, &mut range).await.unwrap_err();
        assert!(!range.is_empty());
    });
}

/// Shows G13.
#[test]
#[cfg(target_os = "linux")]
fn what_is_in_memory_is_sent_at_once_as_far_as_there_is_room() {
    run(1, async {
        let scratch = Scratch::new();
        let file = File::open(scratch.file("file", bytes())).await.unwrap();
        let (sender, mut receiver) = echo::pair().await;
        let len = LEN as u64;
        for nothing in [7..7, len..len + 1, u64::MAX - 1..u64::MAX] {
            assert_eq!(sender.try_send_file(&file, nothing).unwrap(), 0);
        }
        let mut sent = 0;
        loop {
            match sender.try_send_file(&file, sent as u64..len) {
                Ok(0) if sent == 0 => {
                    println!("skipped: {} is on no disk of its own", scratch.path().display());
                    return;
                }
                Ok(n) => {
                    assert!((1..=256 << 10).contains(&n), "{n} after {sent}");
                    sent += n;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    break;
                }
            }
        }
        drop(sender);
        let mut all = Vec::new();
        receiver.read_to_end(&mut all).await.unwrap();
        assert!(all == bytes()[..sent]);
    });
}

/// Two connections send one file at the same time, from two colors.
#[test]
fn one_file_goes_over_several_connections_at_a_time() {
    shared(|| {
        let scratch = Scratch::new();
        let path = scratch.file("file", bytes());
        run(2, async move {
            let file = Arc::new(File::open(path).await.unwrap());
            let mut readers = Vec::new();
            for color in 0..4 {
                let (sender, mut receiver) = echo::pair().await;
                let file = Arc::clone(&file);
                drop(colored::spawn_colored(color, async move {
                    sender.send_file(&file, &mut (0..LEN as u64)).await.unwrap();
                }));
                readers.push(colored::spawn_colored(10 + color, async move {
                    let mut all = Vec::new();
                    receiver.read_to_end(&mut all).await.unwrap();
                    all
                }));
            }
            for reader in readers {
                assert!(reader.await.unwrap() == bytes());
            }
        });
    });
}
