//! One-byte reads from a pipe.

use super::super::{Goal, Plan, Report};
use super::{medians, runtime};
use crate::chart::number;
use colored::fs;
use colored::spawn_blocking;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::future::poll_fn;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// So many bytes are in the pipe before the reads of those that are there.
const BATCH: usize = 32 << 10;

/// An eager read costs so much more that there are fewer.
const FEWER: usize = 5;

pub(super) fn run(plan: &Plan, report: &mut Report) {
    let reads = plan.pick(100_000, 20_000, 100);
    let runs: Vec<_> = (0..plan.pick(7, 3, 1))
        .map(|_| {
            let there = [
                non_blocking(reads),
                lazy(reads),
                by_tokio(reads),
                eager(reads / FEWER),
                non_blocking_early(reads),
                lazy_early(reads),
                by_tokio_early(reads),
                eager_early(reads / FEWER),
            ];
            there.map(|(time, reads)| time.as_secs_f64() * 1e9 / reads as f64)
        })
        .collect();
    let all = medians(&runs);
    report.text(
        "**One-byte reads from a pipe**, ns a read. If the byte is not there when the read begins, the figure includes \
         its write.",
    );
    let row = |name: &str, times: &[f64]| {
        let mut row = vec![String::from(name)];
        row.extend(times.iter().copied().map(number));
        row
    };
    report.table(
        &["the byte is", "non-blocking", "lazy", "tokio's pipe", "eager: a thread of the pool"],
        &[row("there", &all[..4]), row("not there", &all[4..])],
    );
    let [there, lazy, _, eager, _, lazy_early, _, eager_early] = all;
    let lazily = "a byte of a pipe that is there: lazy over non-blocking (paper 1.4)";
    report.goal(lazily, lazy / there, Goal::AtMost(1.4));
    report.goal("the same: eager over lazy (paper 3.2)", eager / lazy, Goal::AtLeast(3.2));
    let early = "a byte that is not there: lazy over eager (paper 1.08)";
    report.goal(early, lazy_early / eager_early, Goal::AtMost(1.08));
}

/// What so many reads took.
type Reads = (Duration, usize);

fn pipe(flags: PipeFlags) -> (OwnedFd, File) {
    let (reader, writer) = pipe_with(flags | PipeFlags::CLOEXEC).expect("descriptors are left");
    (reader, File::from(writer))
}

fn put(writer: &mut File, bytes: usize) {
    writer.write_all(&vec![7; bytes]).expect("there is room");
}

/// Reads bytes that are there.
fn non_blocking(reads: usize) -> Reads {
    let (reader, mut writer) = pipe(PipeFlags::NONBLOCK);
    let mut time = Duration::ZERO;
    for batch in batches(reads) {
        put(&mut writer, batch);
        let start = Instant::now();
        for _ in 0..batch {
            assert_eq!(read_byte(&reader), Ok(7));
        }
        time += start.elapsed();
    }
    (time, reads)
}

/// Begins each read before the byte is there.
fn non_blocking_early(reads: usize) -> Reads {
    let (reader, mut writer) = pipe(PipeFlags::NONBLOCK);
    let start = Instant::now();
    for _ in 0..reads {
        assert_eq!(read_byte(&reader), Err(Errno::AGAIN));
        put(&mut writer, 1);
        let mut descriptors = [PollFd::new(&reader, PollFlags::IN)];
        assert_eq!(poll(&mut descriptors, None), Ok(1));
        assert_eq!(read_byte(&reader), Ok(7));
    }
    (start.elapsed(), reads)
}

fn read_byte(reader: &OwnedFd) -> Result<u8, Errno> {
    let mut byte = [0];
    read(reader, &mut byte).map(|_| byte[0])
}

fn batches(reads: usize) -> impl Iterator<Item = usize> {
    (0..reads).step_by(BATCH).map(move |done| BATCH.min(reads - done))
}

/// The two tests of a reader: of bytes that are there, and of bytes that are not.
macro_rules! tests_of_a_reader {
    ($there:ident, $early:ident, $on:expr, $flags:expr, $open:expr, $read:expr) => {
        fn $there(reads: usize) -> Reads {
            let (reader, mut writer) = pipe($flags);
            $on(async move {
                let (mut reader, mut time) = ($open(reader), Duration::ZERO);
                for batch in batches(reads) {
                    put(&mut writer, batch);
                    let start = Instant::now();
                    for _ in 0..batch {
                        assert_eq!($read(&mut reader).await, 7);
                    }
                    time += start.elapsed();
                }
                (time, reads)
            })
        }

        fn $early(reads: usize) -> Reads {
            let (reader, mut writer) = pipe($flags);
            $on(async move {
                let mut reader = $open(reader);
                let start = Instant::now();
                for _ in 0..reads {
                    let mut read = pin!($read(&mut reader));
                    let begun = poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await;
                    assert!(begun.is_pending(), "there is no byte");
                    put(&mut writer, 1);
                    assert_eq!(read.await, 7);
                }
                (start.elapsed(), reads)
            })
        }
    };
}

tests_of_a_reader!(lazy, lazy_early, on_colored, PipeFlags::empty(), open_lazily, read_lazily);
tests_of_a_reader!(
    by_tokio,
    by_tokio_early,
    on_tokio,
    PipeFlags::NONBLOCK,
    open_by_tokio,
    read_by_tokio
);
tests_of_a_reader!(eager, eager_early, on_colored, PipeFlags::empty(), Arc::new, read_eagerly);

fn on_colored(test: impl Future<Output = Reads> + Send + 'static) -> Reads {
    runtime(1).build().expect("the system gives a thread").run(test)
}

fn on_tokio(test: impl Future<Output = Reads> + Send + 'static) -> Reads {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    runtime.expect("the system gives a selector").block_on(test)
}

fn open_lazily(reader: OwnedFd) -> fs::File {
    fs::File::from_std(File::from(reader)).expect("it is a pipe")
}

async fn read_lazily(reader: &mut fs::File) -> u8 {
    let mut byte = [0];
    assert_eq!(reader.read(&mut byte).await.expect("the writer is there"), 1);
    byte[0]
}

fn open_by_tokio(reader: OwnedFd) -> Receiver {
    Receiver::from_owned_fd(reader).expect("it is a pipe")
}

async fn read_by_tokio(reader: &mut Receiver) -> u8 {
    reader.read_u8().await.expect("the writer is there")
}

async fn read_eagerly(reader: &mut Arc<OwnedFd>) -> u8 {
    let reader = Arc::clone(reader);
    let read = spawn_blocking(move || read_byte(&reader));
    read.await.expect("it does not panic").expect("the writer is there")
}
