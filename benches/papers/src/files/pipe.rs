//! Reads from a pipe.

use super::super::{Goal, Plan, Report};
use super::ring::Ring;
use super::{medians, runtime};
use colored::fs;
use colored::spawn_blocking;
use colored_benches::chart::number;
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

/// A read by a thread costs so much more that there are fewer.
const FEWER: usize = 5;

/// The bytes of a read: the paper's, and a page.
const LENGTHS: [(usize, &str); 2] = [(1, "1 byte"), (4096, "4 KiB")];

pub(super) fn run(plan: &Plan, report: &mut Report) {
    report.text(
        "**Reads from a pipe**, ns a read. If the bytes are not there when the read begins, the figure includes their \
         write. The eager reads hand each read to io_uring, by calls without a runtime, as the paper's did to the \
         asynchronous I/O of POSIX; the last column is what a read costs that a runtime hands to a thread, for \
         information.",
    );
    let all = LENGTHS.map(|(len, _)| measured(plan, len));
    let row = |name: &str, times: &[f64]| {
        let mut row = vec![String::from(name)];
        row.extend(times.iter().copied().map(number));
        row
    };
    let rows: Vec<_> = LENGTHS
        .iter()
        .zip(&all)
        .flat_map(|((_, name), times)| {
            let (there, early) = times.split_at(WAYS);
            [row(&format!("{name}, there"), there), row(&format!("{name}, not there"), early)]
        })
        .collect();
    let heads =
        ["", "non-blocking", "lazy", "tokio's pipe", "eager: io_uring", "a thread of the pool"];
    report.table(&heads, &rows);
    for ((_, name), times) in LENGTHS.iter().zip(all) {
        let [there, lazy, _, eager, _, _, lazy_early, _, eager_early, _] = times;
        let of_the_paper = |figure| match *name {
            "1 byte" => format!(" (paper {figure})"),
            _ => String::new(),
        };
        let what =
            format!("{name} of a pipe, there: lazy over non-blocking{}", of_the_paper("1.4"));
        report.goal(&what, lazy / there, Goal::AtMost(1.4));
        let what = format!("{name} of a pipe, there: eager over lazy{}", of_the_paper("3.2"));
        report.goal(&what, eager / lazy, Goal::AtLeast(3.2));
        let what = format!("{name}, not there: lazy over eager{}", of_the_paper("1.08"));
        report.goal(&what, lazy_early / eager_early, Goal::AtMost(1.08));
    }
}

/// The ways to read.
const WAYS: usize = 5;

/// The medians of all ways, of bytes that are there, then of those that are not, in ns.
fn measured(plan: &Plan, len: usize) -> [f64; 2 * WAYS] {
    let reads = plan.pick(100_000, 20_000, 100);
    let runs: Vec<_> = (0..plan.pick(7, 3, 1))
        .map(|_| {
            let all = [
                non_blocking(reads, len),
                lazy(reads, len),
                by_tokio(reads, len),
                eager(reads, len),
                by_thread(reads / FEWER, len),
                non_blocking_early(reads, len),
                lazy_early(reads, len),
                by_tokio_early(reads, len),
                eager_early(reads, len),
                by_thread_early(reads / FEWER, len),
            ];
            all.map(|(time, reads)| time.as_secs_f64() * 1e9 / reads as f64)
        })
        .collect();
    medians(&runs)
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

/// Whether all that was wanted has come.
fn check(bytes: &[u8], wanted: usize) {
    assert!(bytes.len() == wanted && bytes[0] == 7 && bytes[wanted - 1] == 7);
}

/// Reads bytes that are there.
fn non_blocking(reads: usize, len: usize) -> Reads {
    let (reader, mut writer) = pipe(PipeFlags::NONBLOCK);
    let (mut time, mut buf) = (Duration::ZERO, vec![0; len]);
    for batch in batches(reads, len) {
        put(&mut writer, batch * len);
        let start = Instant::now();
        for _ in 0..batch {
            assert_eq!(read(&reader, &mut buf[..]), Ok(len));
            check(&buf, len);
        }
        time += start.elapsed();
    }
    (time, reads)
}

/// Begins each read before its bytes are there.
fn non_blocking_early(reads: usize, len: usize) -> Reads {
    let (reader, mut writer) = pipe(PipeFlags::NONBLOCK);
    let mut buf = vec![0; len];
    let start = Instant::now();
    for _ in 0..reads {
        assert_eq!(read(&reader, &mut buf[..]), Err(Errno::AGAIN));
        put(&mut writer, len);
        let mut descriptors = [PollFd::new(&reader, PollFlags::IN)];
        assert_eq!(poll(&mut descriptors, None), Ok(1));
        assert_eq!(read(&reader, &mut buf[..]), Ok(len));
        check(&buf, len);
    }
    (start.elapsed(), reads)
}

/// Hands reads of bytes that are there to the system.
fn eager(reads: usize, len: usize) -> Reads {
    let (reader, mut writer) = pipe(PipeFlags::empty());
    let (mut time, mut ring) = (Duration::ZERO, Ring::new(len));
    for batch in batches(reads, len) {
        put(&mut writer, batch * len);
        let start = Instant::now();
        for _ in 0..batch {
            ring.begin(&reader);
            check(ring.end().expect("the writer is there"), len);
        }
        time += start.elapsed();
    }
    (time, reads)
}

/// Hands each read to the system before its bytes are there.
fn eager_early(reads: usize, len: usize) -> Reads {
    let (reader, mut writer) = pipe(PipeFlags::empty());
    let mut ring = Ring::new(len);
    let start = Instant::now();
    for _ in 0..reads {
        ring.begin(&reader);
        assert!(!ring.has_ended(), "there is no byte");
        put(&mut writer, len);
        check(ring.end().expect("the writer is there"), len);
    }
    (start.elapsed(), reads)
}

/// The numbers of reads between which the pipe is filled.
fn batches(reads: usize, len: usize) -> impl Iterator<Item = usize> {
    let most = BATCH / len;
    (0..reads).step_by(most).map(move |done| most.min(reads - done))
}

/// The two tests of a reader: of bytes that are there, and of bytes that are not.
macro_rules! tests_of_a_reader {
    ($there:ident, $early:ident, $on:expr, $flags:expr, $open:expr, $read:expr) => {
        fn $there(reads: usize, len: usize) -> Reads {
            let (reader, mut writer) = pipe($flags);
            $on(async move {
                let (mut reader, mut time, mut buf) = ($open(reader), Duration::ZERO, vec![0; len]);
                for batch in batches(reads, len) {
                    put(&mut writer, batch * len);
                    let start = Instant::now();
                    for _ in 0..batch {
                        $read(&mut reader, &mut buf).await;
                        check(&buf, len);
                    }
                    time += start.elapsed();
                }
                (time, reads)
            })
        }

        fn $early(reads: usize, len: usize) -> Reads {
            let (reader, mut writer) = pipe($flags);
            $on(async move {
                let (mut reader, mut buf) = ($open(reader), vec![0; len]);
                let start = Instant::now();
                for _ in 0..reads {
                    {
                        let mut read = pin!($read(&mut reader, &mut buf));
                        let begun = poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await;
                        assert!(begun.is_pending(), "there is no byte");
                        put(&mut writer, len);
                        read.await;
                    }
                    check(&buf, len);
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
tests_of_a_reader!(
    by_thread,
    by_thread_early,
    on_colored,
    PipeFlags::empty(),
    Arc::new,
    read_by_thread
);

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

async fn read_lazily(reader: &mut fs::File, buf: &mut [u8]) {
    assert_eq!(reader.read(buf).await.expect("the writer is there"), buf.len());
}

fn open_by_tokio(reader: OwnedFd) -> Receiver {
    Receiver::from_owned_fd(reader).expect("it is a pipe")
}

async fn read_by_tokio(reader: &mut Receiver, buf: &mut [u8]) {
    assert_eq!(reader.read(buf).await.expect("the writer is there"), buf.len());
}

async fn read_by_thread(reader: &mut Arc<OwnedFd>, buf: &mut [u8]) {
    let (reader, len) = (Arc::clone(reader), buf.len());
    let bytes = spawn_blocking(move || {
        let mut bytes = vec![0; len];
        read(&reader, &mut bytes[..]).map(|_| bytes)
    });
    let bytes = bytes.await.expect("it does not panic").expect("the writer is there");
    buf.copy_from_slice(&bytes);
}
