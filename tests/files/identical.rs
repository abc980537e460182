//! Random operations on a file, beside the same operations of `std::fs`.

use super::in_all_modes;
use colored::fs::File;
use colored::io::{AsyncWrite, AsyncWriteExt};
use colored_tests::scratch::Scratch;
use colored_tests::soak::repeat;
use fastrand::Rng;
use std::io::{IoSlice, Read, Seek, SeekFrom, Write};

/// The positions of the operations. A part of them is not in the page cache, and behind the end.
const SPAN: u64 = 1 << 20;

fn bytes(random: &mut Rng) -> Vec<u8> {
    let len = match random.u64(..3) {
        0 => random.u64(..10),
        1 => random.u64(..5000),
        _ => random.u64(..400_000),
    };
    let first = random.usize(..256);
    (0..len as usize).map(|i| (first + i / 3) as u8).collect()
}

/// Shows G13.
#[test]
fn random_operations_have_the_results_of_the_standard_library() {
    for seed in 0..repeat(2, 20) as u64 {
        in_all_modes(move || async move {
            let scratch = Scratch::new();
            let mut options = std::fs::File::options();
            let options = options.read(true).write(true).create(true);
            let mut std = options.open(scratch.join("std")).unwrap();
            let mut ours = File::options();
            let ours = ours.read(true).write(true).create(true);
            let mut ours = ours.open(scratch.join("ours")).await.unwrap();
            let mut random = Rng::with_seed(seed);
            for step in 0..60 {
                operate(&mut random, &mut std, &mut ours, (seed, step)).await;
            }
            assert_eq!(
                ours.seek(SeekFrom::Current(0)).await.unwrap(),
                std.stream_position().unwrap()
            );
            ours.sync_all().await.unwrap();
            let written = std::fs::read(scratch.join("ours")).unwrap();
            assert!(written == std::fs::read(scratch.join("std")).unwrap(), "seed {seed}");
        });
    }
}

async fn operate(random: &mut Rng, std: &mut std::fs::File, ours: &mut File, at: (u64, u32)) {
    let offset = random.u64(..SPAN);
    match random.u64(..8) {
        0 => {
            let bytes = bytes(random);
            std.write_all(&bytes).unwrap();
            assert_eq!(ours.write(&bytes).await.unwrap(), bytes.len(), "{at:?}");
        }
        1 => {
            let bytes = bytes(random);
            elsewhere(std, offset, |std| std.write_all(&bytes));
            ours.write_all_at(&bytes, offset).await.unwrap();
        }
        2 => {
            let mut buf = vec![0; bytes(random).len()];
            let mut same = buf.clone();
            let wanted = read_fully(std, &mut buf);
            assert_eq!(ours.read(&mut same).await.unwrap(), wanted, "{at:?}");
            assert!(buf == same, "{at:?}");
        }
        3 => {
            let mut buf = vec![0; bytes(random).len()];
            let mut same = buf.clone();
            let n = ours.read_at(&mut same, offset).await.unwrap();
            let length = std.metadata().unwrap().len();
            assert_eq!(n as u64, (buf.len() as u64).min(length.saturating_sub(offset)), "{at:?}");
            elsewhere(std, offset, |std| std.read_exact(&mut buf[..n]));
            assert!(buf == same, "{at:?}");
        }
        4 => {
            let target = match random.u64(..3) {
                0 => SeekFrom::Start(offset),
                1 => SeekFrom::Current(random.u64(..2000) as i64 - 1000),
                _ => SeekFrom::End(random.u64(..2000) as i64 - 1000),
            };
            match std.seek(target) {
                Ok(position) => assert_eq!(ours.seek(target).await.unwrap(), position, "{at:?}"),
                Err(error) => {
                    assert_eq!(ours.seek(target).await.unwrap_err().kind(), error.kind());
                }
            }
        }
        5 => {
            std.set_len(offset).unwrap();
            ours.set_len(offset).await.unwrap();
        }
        6 => {
            let (mut all, mut same) = (Vec::new(), Vec::new());
            std.read_to_end(&mut all).unwrap();
            ours.read_to_end(&mut same).await.unwrap();
            assert!(all == same, "{at:?}");
        }
        _ => assert_eq!(ours.metadata().await.unwrap().len(), std.metadata().unwrap().len()),
    }
}

/// Does something at a place of the file, whose position stays.
fn elsewhere(
    file: &mut std::fs::File,
    place: u64,
    operation: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) {
    let position = file.stream_position().unwrap();
    file.seek(SeekFrom::Start(place)).unwrap();
    operation(file).unwrap();
    file.seek(SeekFrom::Start(position)).unwrap();
}

fn read_fully(file: &mut std::fs::File, buf: &mut [u8]) -> usize {
    let mut done = 0;
    while done < buf.len() {
        match file.read(&mut buf[done..]).unwrap() {
            0 => break,
            n => done += n,
        }
    }
    done
}

/// Shows G13.
#[test]
fn append_mode_writes_at_the_end_and_keeps_the_position() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let path = scratch.file("log", "one");
        let mut log = File::options().append(true).read(true).open(&path).await.unwrap();
        log.write(b"two").await.unwrap();
        let mut read = [0; 4];
        assert_eq!(log.read(&mut read).await.unwrap(), 4);
        log.write(b"three").await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"onetwothree");
        assert_eq!(&read, b"onet");
    });
}

/// One call writes several slices, and in append mode nobody else writes between them.
#[test]
fn slices_are_written_as_one() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let (path, long) = (scratch.file("log", "zero"), vec![b'l'; 1 << 20]);
        let mut log = File::options().append(true).open(&path).await.unwrap();
        assert!(log.is_write_vectored());
        let slices = [&b""[..], b"one", b"", b"two"].map(IoSlice::new);
        assert_eq!(log.write_vectored(&slices).await.unwrap(), 6);
        assert_eq!(log.write_vectored(&[IoSlice::new(b"three")]).await.unwrap(), 5);
        assert_eq!(std::fs::read(&path).unwrap(), b"zeroonetwothree");

        let mut file = File::create(&path).await.unwrap();
        let mut slices = &mut [IoSlice::new(b"head"), IoSlice::new(&long)][..];
        let mut wanted = b"head".to_vec();
        wanted.extend_from_slice(&long);
        while !slices.is_empty() {
            let n = file.write_vectored(slices).await.unwrap();
            assert!(n > 0);
            IoSlice::advance_slices(&mut slices, n);
        }
        assert!(std::fs::read(&path).unwrap() == wanted);
    });
}

/// Shows G13.
#[test]
fn a_file_of_the_standard_library_keeps_its_position_there_and_back() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let mut std = std::fs::File::open(scratch.file("file", "0123456789")).unwrap();
        std.seek(SeekFrom::Start(3)).unwrap();
        let mut file = File::from_std(std).unwrap();
        let mut two = [0; 2];
        file.read(&mut two).await.unwrap();
        assert_eq!(&two, b"34");
        let mut clone = file.try_clone().await.unwrap();
        clone.read(&mut two).await.unwrap();
        assert_eq!(&two, b"56", "the clone begins where the file is");
        file.read(&mut two).await.unwrap();
        assert_eq!(&two, b"56", "and has a position of its own");
        let mut std = file.into_std().await.unwrap();
        let mut rest = String::new();
        std.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "789");
    });
}

/// The runtime opens files with another flag than the standard library; nobody else sees it.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_given_back_blocks_as_any_other() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let path = scratch.file("file", "bytes");
        let flags = |file: &std::fs::File| {
            let number = std::os::fd::AsRawFd::as_raw_fd(file);
            let info = format!("/proc/self/fdinfo/{number}");
            let text = std::fs::read_to_string(info).unwrap();
            text.lines().find(|line| line.starts_with("flags:")).unwrap().to_owned()
        };
        let wanted = flags(&std::fs::File::open(&path).unwrap());
        let file = File::open(&path).await.unwrap();
        assert_eq!(flags(&file.into_std().await.unwrap()), wanted);
    });
}
