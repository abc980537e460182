//! Dropped operations. Each is polled once before; it has an output then if a thread was fast enough for the one poll.

use super::{in_all_modes, runtime_that_is};
use colored::fs::File;
use colored::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use colored_tests::polls::at_once;
use colored_tests::scratch::Scratch;
use colored_tests::shared;
use std::io::SeekFrom;

/// Shows G13.
#[test]
fn a_dropped_read_moves_nothing_and_loses_nothing() {
    shared(|| {
        let scratch = Scratch::new();
        let path = scratch.file("file", (0..100).collect::<Vec<u8>>());
        runtime_that_is(false, 1).run(async move {
            let mut file = File::open(&path).await.unwrap();
            for _ in 0..30 {
                let mut byte = [0];
                at_once(file.read(&mut byte)).await;
                at_once(AsyncReadExt::read(&mut file, &mut byte)).await;
                let position = file.seek(SeekFrom::Current(0)).await.unwrap();
                assert_eq!(file.read(&mut byte).await.unwrap(), 1);
                assert_eq!(u64::from(byte[0]), position);
            }
        });
    });
}

/// Shows G13.
#[test]
fn a_write_behind_a_dropped_one_has_the_last_word() {
    shared(|| {
        let scratch = Scratch::new();
        let path = scratch.join("file");
        let made = path.clone();
        runtime_that_is(false, 1).run(async move {
            let mut file = File::create(&made).await.unwrap();
            for i in 0..100_u8 {
                at_once(file.write(&[b'x'; 64])).await;
                at_once(AsyncWriteExt::write(&mut file, b"yy")).await;
                // Otherwise a dropped write that was fast enough has moved the position.
                file.seek(SeekFrom::Start(i.into())).await.unwrap();
                assert_eq!(file.write(&[i]).await.unwrap(), 1);
            }
            assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), 100);
        });
        let written = std::fs::read(&path).unwrap();
        assert_eq!(written[..100], (0..100).collect::<Vec<u8>>());
    });
}

/// Shows G13.
#[test]
fn a_write_that_is_repeated_is_written_once() {
    shared(|| {
        let scratch = Scratch::new();
        let path = scratch.join("log");
        let made = path.clone();
        runtime_that_is(false, 1).run(async move {
            let mut log = File::options().append(true).create(true).open(&made).await.unwrap();
            for _ in 0..50 {
                // The second call takes the first one's operation over.
                if at_once(log.write(b"line\n")).await.is_none() {
                    log.write(b"line\n").await.unwrap();
                }
            }
            log.flush().await.unwrap();
        });
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "line\n".repeat(50));
    });
}

/// Shows G13.
#[test]
fn a_dropped_seek_does_not_keep_the_file() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let mut file = File::open(scratch.file("file", "0123456789")).await.unwrap();
        at_once(file.seek(SeekFrom::End(-1))).await;
        assert_eq!(file.seek(SeekFrom::Start(4)).await.unwrap(), 4);
        let mut byte = [0];
        file.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"4");
        assert_eq!(AsyncSeekExt::stream_position(&mut file).await.unwrap(), 5);
    });
}

/// Shows G13.
#[test]
fn bytes_of_a_file_that_is_dropped_behind_a_write_are_not_lost() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        for i in 0..50 {
            let path = scratch.join(&i.to_string());
            let mut file = File::create(&path).await.unwrap();
            assert_eq!(file.write(&[i; 10_000]).await.unwrap(), 10_000);
            drop(file);
            assert_eq!(std::fs::read(&path).unwrap(), [i; 10_000]);
        }
    });
}

/// Shows G13.
#[test]
fn a_dropped_read_to_end_keeps_what_it_has() {
    shared(|| {
        let scratch = Scratch::new();
        let path = scratch.file("file", vec![3; 3 << 20]);
        runtime_that_is(false, 1).run(async move {
            let mut file = File::open(&path).await.unwrap();
            let mut bytes = Vec::new();
            for _ in 0..100 {
                at_once(file.read_to_end(&mut bytes)).await;
                let position = file.seek(SeekFrom::Current(0)).await.unwrap();
                assert_eq!(bytes.len() as u64, position);
            }
            file.read_to_end(&mut bytes).await.unwrap();
            assert!(bytes == vec![3; 3 << 20]);
        });
    });
}
