//! Data that is not in memory.
//!
//! Where the system does not take pages out of memory, or has no io_uring, these tests print the reason, and check the
//! bytes only.

use super::of_devices;
use colored::fs::File;
use colored::io::AsyncReadExt;
use colored::runtime::Tuning;
use colored::time::Duration;
use colored::{Runtime, spawn_unique};
use colored_tests::scratch::Scratch;
use colored_tests::soak::repeat;
use colored_tests::{echo, join_all, run, shared};
use rustix::fs::{Advice, fadvise};
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

const PAGE: usize = 4096;
const PAGES: usize = 1024;

/// The bytes of a file whose pages differ.
fn bytes() -> Vec<u8> {
    (0..PAGES).flat_map(|page| (page as u64).to_le_bytes().repeat(PAGE / 8)).collect()
}

fn is_page(bytes: &[u8], page: usize) -> bool {
    bytes.chunks(8).all(|number| number == (page as u64).to_le_bytes())
}

/// A file that is not in memory.
fn cold(scratch: &Scratch) -> PathBuf {
    let path = scratch.file("cold", bytes());
    cool(&path);
    path
}

/// Takes a file out of memory, and lets a read bring only its own pages.
fn cool(path: &Path) {
    let file = std::fs::File::open(path).unwrap();
    file.sync_all().unwrap();
    fadvise(&file, 0, None, Advice::DontNeed).unwrap();
}

/// Opens a file of which a read brings no more than its own pages.
fn open(path: &Path) -> File {
    let file = std::fs::File::open(path).unwrap();
    fadvise(&file, 0, None, Advice::Random).unwrap();
    File::from_std(file).unwrap()
}

/// Shows G13.
#[test]
fn a_cold_read_is_one_submission_and_one_wake() {
    let scratch = Scratch::new();
    let path = cold(&scratch);
    run(1, async move {
        let file = open(&path);
        for i in 0..PAGES {
            let page = i * 631 % PAGES;
            let mut buf = vec![0; PAGE];
            let polls = count_polls(file.read_exact_at(&mut buf, (page * PAGE) as u64)).await;
            assert!(polls <= 2, "the read was polled {polls} times");
            assert!(is_page(&buf, page), "page {page}");
        }
        let [hits, deferred, by_ring] = [
            of_devices(|of| of.hits),
            of_devices(|of| of.deferred),
            of_devices(|of| of.deferred_to_ring),
        ];
        assert_eq!(hits + deferred, PAGES as u64, "each read is one operation");
        println!("{hits} of {PAGES} reads found their page in memory, io_uring did {by_ring}");
        // A thread does the first one on a device, and finds out what it is.
        let could = has_ring() && of_devices(|of| of.unsupported) == 0;
        assert_eq!(by_ring, if could { deferred.saturating_sub(1) } else { 0 });
    });
}

async fn count_polls(read: impl Future<Output = std::io::Result<()>>) -> usize {
    let (mut read, mut polls) = (pin!(read), 0);
    let done = poll_fn(|cx| {
        polls += 1;
        read.as_mut().poll(cx)
    });
    done.await.unwrap();
    polls
}

/// Whether the system lets this process have an io_uring.
fn has_ring() -> bool {
    // The crate `io-uring` has no bindings for the others.
    let is_known = cfg!(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "loongarch64",
        target_arch = "powerpc64",
    ));
    let forbids = |value: String| value == "0";
    let is_off = ["COLORED_LAZY_FILES", "COLORED_IO_URING"]
        .into_iter()
        .any(|name| std::env::var(name).is_ok_and(forbids));
    // Without `/proc` nobody knows, as with a filter.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_filtered = !status.contains("\nSeccomp:\t0\n");
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    let is_disabled = disabled.is_ok_and(|value| value.trim() != "0");
    let has_ring = is_known && !(is_off || is_filtered || is_disabled);
    if !has_ring {
        println!("skipped: no io_uring here, or perhaps none");
    }
    has_ring
}

/// Shows G13.
#[test]
fn without_io_uring_threads_read() {
    shared(|| {
        let scratch = Scratch::new();
        let path = cold(&scratch);
        let runtime =
            Runtime::builder().workers(1).tuning(Tuning::new().io_uring(false)).build().unwrap();
        runtime.run(async move {
            let file = open(&path);
            for page in (0..PAGES).rev().step_by(7) {
                let mut buf = vec![0; PAGE];
                file.read_exact_at(&mut buf, (page * PAGE) as u64).await.unwrap();
                assert!(is_page(&buf, page), "page {page}");
            }
            assert_eq!(of_devices(|of| of.deferred_to_ring), 0);
        });
    });
}

/// The buffer of a read whose future is gone is freed once, and its bytes go nowhere.
/// Shows G13.
#[test]
fn reads_that_are_dropped_under_way_are_discarded() {
    let scratch = Scratch::new();
    let path = cold(&scratch);
    run(2, async move {
        let file = Arc::new(open(&path));
        for round in 0..4 {
            cool(&path);
            let readers: Vec<_> = (0..PAGES)
                .map(|page| {
                    let file = Arc::clone(&file);
                    spawn_unique(async move {
                        let mut buf = vec![0; PAGE];
                        file.read_exact_at(&mut buf, (page * PAGE) as u64).await.unwrap();
                        assert!(is_page(&buf, page), "page {page}");
                    })
                })
                .collect();
            for (i, reader) in readers.into_iter().enumerate() {
                if i % 4 == round {
                    reader.await.unwrap();
                } else {
                    reader.abort();
                }
            }
        }
    });
}

/// Shows G13.
#[test]
fn a_runtime_ends_in_the_middle_of_a_thousand_cold_reads() {
    shared(|| {
        let scratch = Scratch::new();
        for _ in 0..repeat(2, 5) {
            let path = cold(&scratch);
            let runtime = Runtime::builder().workers(2).build().unwrap();
            runtime.run(async move {
                let file = Arc::new(open(&path));
                file.read_at(&mut [0], 0).await.unwrap();
                for page in 0..PAGES {
                    let file = Arc::clone(&file);
                    drop(spawn_unique(async move {
                        let mut buf = vec![0; PAGE];
                        file.read_exact_at(&mut buf, (page * PAGE) as u64).await.unwrap();
                        assert!(is_page(&buf, page), "page {page}");
                    }));
                }
                colored::yield_now().await;
            });
            runtime.shutdown_timeout(Duration::from_secs(30)).unwrap();
        }
    });
}

/// More reads than a ring takes.
/// Shows G13.
#[test]
fn all_of_many_reads_are_done() {
    let scratch = Scratch::new();
    let path = cold(&scratch);
    run(1, async move {
        let file = Arc::new(open(&path));
        file.read_at(&mut [0], 0).await.unwrap();
        join_all((0..4 * PAGES).map(|i| {
            let (file, page) = (Arc::clone(&file), i % PAGES);
            spawn_unique(async move {
                // The longest of all, 64 MiB of which are more than a ring takes.
                let mut buf = vec![0; if i % 16 == 0 { 1 << 20 } else { PAGE }];
                let n = file.read_at(&mut buf, (page * PAGE) as u64).await.unwrap();
                assert_eq!(n, buf.len().min((PAGES - page) * PAGE));
                assert!(is_page(&buf[..PAGE], page), "page {page}");
                assert!(is_page(&buf[n - PAGE..n], page + n / PAGE - 1), "page {page}");
            })
        }))
        .await;
    });
}

/// How often this thread has slept. Being preempted does not count.
fn sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.unwrap().trim().parse().unwrap()
}

/// A file that is not in memory is sent, and the worker does not sleep for the disk. Whoever reads a file as usual sleeps
/// for each stretch of it. A lock of the system may be taken now and then.
/// Shows G13.
#[test]
fn a_cold_file_is_sent_without_sleep_in_its_polls() {
    const TIMES: usize = 8;
    let scratch = Scratch::new();
    let path = scratch.file("cold", bytes().repeat(TIMES));
    let mut seen = Vec::new();
    while seen.len() < 8 {
        cool(&path);
        let path = path.clone();
        let (slept, polls) = run(2, async move {
            let (mut reader, sender) = echo::pair().await;
            let received = spawn_unique(async move {
                let (mut buf, mut sum) = (vec![0; 1 << 18], 0);
                loop {
                    match reader.read(&mut buf).await.unwrap() {
                        0 => return sum,
                        n => sum += n,
                    }
                }
            });
            let len = TIMES * PAGES * PAGE;
            let sent = spawn_unique(async move {
                let file = File::open(path).await.unwrap();
                let mut range = 0..len as u64;
                let (mut slept, mut polls) = (0, 0);
                let mut send = pin!(sender.send_file(&file, &mut range));
                let sent = poll_fn(|cx| {
                    let before = sleeps();
                    let polled = send.as_mut().poll(cx);
                    slept += sleeps() - before;
                    polls += 1;
                    polled
                });
                sent.await.unwrap();
                (slept, polls)
            });
            let sent = sent.await.unwrap();
            assert_eq!(received.await.unwrap(), len);
            sent
        });
        seen.push((slept, polls));
        if slept * 20 <= polls {
            println!("of {polls} polls {slept} slept");
            return;
        }
    }
    panic!("sleeps and polls: {seen:?}");
}

/// overlayfs, the root of most containers, has no attempts. What it has in memory is read on the worker all the same.
/// Shows G13.
#[test]
fn a_file_on_overlayfs_is_read_on_the_worker() {
    let scratch = Scratch::new();
    const OVERLAYFS: i64 = 0x794c_7630;
    if rustix::fs::statfs(scratch.path()).unwrap().f_type as i64 != OVERLAYFS {
        println!("skipped: {} is not on overlayfs", scratch.path().display());
        return;
    }
    let path = scratch.file("warm", bytes());
    run(1, async move {
        let file = File::open(&path).await.unwrap();
        let read = async |page: usize| {
            let mut buf = vec![0; PAGE];
            file.read_exact_at(&mut buf, (page * PAGE) as u64).await.unwrap();
            assert!(is_page(&buf, page), "page {page}");
        };
        // The first one finds out that there are no attempts, and a thread, what the file system is.
        read(0).await;
        for page in 0..PAGES {
            read(page).await;
        }
        assert_eq!(of_devices(|of| of.hits), PAGES as u64);
        let mut end = [0];
        assert_eq!(file.read_at(&mut end, (PAGES * PAGE) as u64).await.unwrap(), 0);
        assert_eq!(of_devices(|of| of.deferred), 1, "the end is found, too");
    });
}

#[test]
fn an_eager_read_is_left_to_io_uring_although_its_data_is_in_memory() {
    let scratch = Scratch::new();
    let path = scratch.file("warm", bytes());
    let tuning = Tuning::new().lazy_files(false).io_uring(true);
    let runtime = Runtime::builder().workers(1).tuning(tuning).build().unwrap();
    runtime.run(async move {
        let file = open(&path);
        let mut page = [0; PAGE];
        // A thread finds out on which device the file is.
        file.read_exact_at(&mut page, 0).await.unwrap();
        let before = [of_devices(|of| of.deferred), of_devices(|of| of.deferred_to_ring)];
        for number in 0..100 {
            file.read_exact_at(&mut page, (number * PAGE) as u64).await.unwrap();
            assert!(is_page(&page, number));
        }
        assert_eq!(of_devices(|of| of.hits), 0);
        assert_eq!(of_devices(|of| of.deferred) - before[0], 100);
        match of_devices(|of| of.deferred_to_ring) - before[1] {
            0 => println!("skipped: io_uring reads no such file here"),
            by_ring => assert_eq!(by_ring, 100),
        }
    });
}
