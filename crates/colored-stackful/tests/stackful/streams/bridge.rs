//! Async streams as streams of the standard library.

use super::support::run;
use colored::Color;
use colored::io::{BufReader, duplex, repeat};
use colored_stackful::io::SyncIoBridge;
use colored_stackful::{spawn, spawn_unique, wait, yield_now};
use std::io::{BufRead, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn lines_go_through_a_small_pipe_in_memory() {
    run(|| {
        let (client, server) = duplex(3);
        let server = spawn_unique(move || {
            let mut lines = SyncIoBridge::new(BufReader::new(server));
            let mut text = String::new();
            while lines.read_line(&mut text).unwrap() > 0 {}
            text
        });
        let mut client = SyncIoBridge::new(client);
        for word in ["hello\n", "world\n"] {
            client.write_all(word.as_bytes()).unwrap();
        }
        client.flush().unwrap();
        client.shutdown().unwrap();
        assert_eq!(wait(server).unwrap(), "hello\nworld\n");
        assert_eq!(client.read(&mut [0]).unwrap(), 0, "the other end is gone");
    });
}

#[test]
fn a_position_is_that_of_the_stream() {
    run(|| {
        let mut stream = SyncIoBridge::new(Cursor::new(b"abcdef".to_vec()));
        assert_eq!(stream.seek(SeekFrom::End(-2)).unwrap(), 4);
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!((&*text, stream.get_ref().position()), ("ef", 6));
        assert_eq!(stream.into_inner().into_inner(), b"abcdef");
    });
}

/// Streams in memory do not consume the budget; the bridge does.
#[test]
fn a_stream_that_is_always_ready_lets_others_run() {
    run(|| {
        let color = Color::of("one");
        let turns = Arc::new(AtomicU32::new(0));
        let other = {
            let turns = turns.clone();
            spawn(color, move || {
                for _ in 0..5 {
                    // Ordering: one color runs all of it.
                    turns.fetch_add(1, Ordering::Relaxed);
                    yield_now();
                }
            })
        };
        let reader = spawn(color, move || {
            let mut stream = SyncIoBridge::new(repeat(7));
            while turns.load(Ordering::Relaxed) < 5 {
                stream.read_exact(&mut [0]).unwrap();
            }
        });
        wait(reader).unwrap();
        wait(other).unwrap();
    });
}
