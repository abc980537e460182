//! Files that are no regular files.

use super::in_all_modes;
use colored::fs::File;
use colored::io::named;
use colored::sync::oneshot;
use colored::time::{Duration, sleep, timeout};
use colored_tests::scratch::Scratch;
use colored_tests::{child, run, shared};
use std::future::Future;
use std::io::{ErrorKind, Read, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::pin::pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake};

/// A named pipe, and its directory.
fn pipe() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let path = scratch.join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    (scratch, path)
}

/// The opening waits for the other end, and the read for bytes; the worker for neither.
#[test]
fn a_pipe_waits_without_its_worker() {
    let (_scratch, path) = pipe();
    run(1, async move {
        let at = path.clone();
        let (reads, has_read) = oneshot::channel();
        let reader = colored::spawn_colored(7, async move {
            let mut pipe = File::open(&at).await.unwrap();
            let mut bytes = [0; 10];
            let n = pipe.read(&mut bytes).await.unwrap();
            reads.send(()).unwrap();
            assert_eq!(
                pipe.seek(SeekFrom::Start(0)).await.unwrap_err().kind(),
                ErrorKind::NotSeekable
            );
            let mut rest = Vec::new();
            pipe.read_to_end(&mut rest).await.unwrap();
            (bytes[..n].to_vec(), rest)
        });
        sleep(Duration::from_millis(20)).await;
        // It waits for the reader, which needs the worker if the machine is busy.
        let open = move || std::fs::File::options().write(true).open(path).unwrap();
        let mut writer = colored::spawn_blocking(open).await.unwrap();
        sleep(Duration::from_millis(20)).await;
        writer.write_all(b"first").unwrap();
        has_read.await.unwrap();
        sleep(Duration::from_millis(20)).await;
        writer.write_all(b"second").unwrap();
        drop(writer);
        assert_eq!(reader.await.unwrap(), (b"first".to_vec(), b"second".to_vec()));
    });
}

/// Bytes that come piecemeal, both ways at once, through a pipe that is too small for them.
/// Shows G13.
#[test]
fn a_pipe_moves_all_bytes_in_order() {
    in_all_modes(|| async {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut reader = File::from_std(std::fs::File::from(OwnedFd::from(reader))).unwrap();
        let mut writer = File::from_std(std::fs::File::from(OwnedFd::from(writer))).unwrap();
        let bytes: Vec<_> = (0..3_000_000_u32).map(|i| (i * 7 + i / 251) as u8).collect();
        let sent = bytes.clone();
        let sender = colored::spawn_unique(async move {
            for part in [1, 70_000, 2_000_000, 929_999].iter().scan(0, |from, len| {
                *from += len;
                Some(*from - len..*from)
            }) {
                let (len, part) = (part.len(), &sent[part]);
                assert_eq!(writer.write(part).await.unwrap(), len);
                sleep(Duration::from_millis(1)).await;
            }
        });
        let mut all = Vec::new();
        reader.read_to_end(&mut all).await.unwrap();
        assert!(all == bytes);
        sender.await.unwrap();
        assert_eq!(reader.read(&mut [0]).await.unwrap(), 0, "at the end");
    });
}

/// The thread that a waiting read would need is named after its class.
/// Shows G13.
#[cfg(target_os = "linux")]
#[test]
fn a_read_that_waits_takes_no_thread() {
    use colored_tests::process::{threads, tries_streams};
    child::run(module_path!(), "a_read_that_waits_takes_no_thread", || {
        run(1, async {
            let (reader, mut writer) = std::io::pipe().unwrap();
            let watched = reader.try_clone().unwrap();
            let mut reader = File::from_std(std::fs::File::from(OwnedFd::from(reader))).unwrap();
            let task = colored::spawn_unique(async move {
                let mut byte = [0];
                assert_eq!(reader.read(&mut byte).await.unwrap(), 1);
                byte[0]
            });
            sleep(Duration::from_millis(20)).await;
            let has_thread = || threads().values().any(|thread| thread.name.contains("-str-"));
            // A thread names itself, some time after its start.
            while !tries_streams() && !has_thread() {
                sleep(Duration::from_millis(1)).await;
            }
            assert_eq!(has_thread(), !tries_streams());
            let mode = rustix::fs::fcntl_getfl(&watched).unwrap();
            assert!(!mode.contains(rustix::fs::OFlags::NONBLOCK), "the mode is shared");
            writer.write_all(b"x").unwrap();
            assert_eq!(task.await.unwrap(), b'x');
        });
    });
}

#[test]
fn a_write_to_a_pipe_without_a_reader_is_an_error() {
    in_all_modes(|| async {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        // Until no child that another test has forked holds the reader.
        while (&writer).write(b"x").is_ok() {}
        let mut writer = File::from_std(std::fs::File::from(OwnedFd::from(writer))).unwrap();
        let error = named(writer.write(b"lost")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        assert!(error.to_string().starts_with("cannot write to a file: "), "{error}");
    });
}

/// Shows G13.
#[test]
fn bytes_of_a_pipe_that_a_dropped_read_took_come_with_the_next_one() {
    in_all_modes(|| async {
        let (_scratch, path) = pipe();
        let mut options = File::options();
        let mut pipe = options.read(true).write(true).open(&path).await.unwrap();
        let mut bytes = [0; 4];
        assert!(timeout(Duration::from_millis(20), pipe.read(&mut bytes)).await.is_err());
        let mut writer = std::fs::File::options().write(true).open(&path).unwrap();
        writer.write_all(b"abcdef").unwrap();
        let mut read = Vec::new();
        while read.len() < 6 {
            let n = pipe.read(&mut bytes).await.unwrap();
            read.extend_from_slice(&bytes[..n]);
        }
        assert_eq!(read, b"abcdef");
    });
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn the_error_of_a_dropped_write_is_not_that_of_another_write() {
    // In a child that another test has forked, the reader might stay open.
    let name = "the_error_of_a_dropped_write_is_not_that_of_another_write";
    child::run(module_path!(), name, || {
        run(1, async {
            let (_scratch, path) = pipe();
            let mut both = std::fs::File::options();
            both.read(true).write(true);
            let reader = both.open(&path).unwrap();
            let mut pipe = File::options().write(true).open(&path).await.unwrap();
            drop(reader);
            let is_over = Arc::new(Flag(AtomicBool::new(false)));
            {
                let waker = is_over.clone().into();
                let mut lost = pin!(pipe.write(b"lost"));
                if lost.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                    while !is_over.0.load(Ordering::SeqCst) {
                        sleep(Duration::from_millis(1)).await;
                    }
                }
            }
            let mut reader = both.open(&path).unwrap();
            assert_eq!(pipe.write(b"kept").await.unwrap(), 4);
            let mut bytes = [0; 4];
            reader.read_exact(&mut bytes).unwrap();
            assert_eq!(&bytes, b"kept");
        })
    });
}

#[test]
fn a_full_device_is_an_error_that_names_it() {
    run(1, async {
        let mut full = File::options().write(true).open("/dev/full").await.unwrap();
        let error = named(full.write(b"bytes")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(error.to_string().starts_with("cannot write to /dev/full: "), "{error}");
    });
}

/// No end of the program waits for a pipe.
/// Shows G13.
#[test]
fn a_read_that_never_ends_does_not_keep_the_program() {
    child::run(module_path!(), "a_read_that_never_ends_does_not_keep_the_program", || {
        shared(|| {
            let (_scratch, path) = pipe();
            run(1, async move {
                let mut options = File::options();
                let mut pipe = options.read(true).write(true).open(&path).await.unwrap();
                let mut byte = [0];
                assert!(timeout(Duration::from_millis(20), pipe.read(&mut byte)).await.is_err());
            });
        });
    });
}
