//! Tests of files with faults: attempts that fail in every way give the same bytes.

use super::File;
use super::fault::{self, Fault};
use crate::device::FileMetrics;
use crate::io::named;
use crate::services::testing::World;
use std::io::{ErrorKind, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

mod answers;
#[cfg(target_os = "linux")]
mod linux;

const FAULTS: [Option<Fault>; 10] = [
    None,
    Some(Fault::WouldBlock),
    Some(Fault::Unsupported),
    Some(Fault::Partial(1)),
    Some(Fault::Partial(1000)),
    Some(Fault::Partial(4096)),
    Some(Fault::Interrupted),
    Some(Fault::Short(1)),
    Some(Fault::Short(1000)),
    Some(Fault::Short(4096)),
];

/// A path of its own for each test, which is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("colored-fs-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs a future whose attempts have the fault. Returns the counters of the devices, too.
fn run_with<F: Future>(fault: Option<Fault>, main: F) -> (F::Output, Vec<FileMetrics>) {
    let world = World::new();
    fault::set(fault);
    let output = world.block_on(main);
    fault::set(None);
    (output, world.services.devices.metrics().split_off(1))
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
}

/// Shows G13.
#[test]
fn every_fault_of_a_read_gives_the_same_bytes() {
    for len in [0, 1, 4096, 300_000] {
        let (scratch, bytes) = (Scratch::new(), pattern(len));
        std::fs::write(&scratch.0, &bytes).unwrap();
        let is_quick = |fault: &Option<Fault>| {
            len < 10_000 || !matches!(fault, Some(Fault::Partial(1) | Fault::Short(1)))
        };
        for fault in FAULTS.into_iter().filter(is_quick) {
            let (path, wanted) = (scratch.0.clone(), bytes.clone());
            run_with(fault, async move {
                let mut file = File::open(path).await.unwrap();
                let mut buf = vec![0xaa; wanted.len() + 10];
                assert_eq!(file.read_at(&mut buf, 0).await.unwrap(), wanted.len(), "{fault:?}");
                assert_eq!(buf[..wanted.len()], wanted, "{fault:?}");
                assert_eq!(buf[wanted.len()..], [0xaa; 10], "no byte behind the end is touched");
                let mut all = vec![1, 2];
                assert_eq!(file.read_to_end(&mut all).await.unwrap(), wanted.len());
                assert_eq!(all[2..], wanted, "{fault:?}");
                assert_eq!(file.read(&mut buf).await.unwrap(), 0, "at the end");
                let half = wanted.len() as u64 / 2;
                file.seek(SeekFrom::Start(half)).await.unwrap();
                all.clear();
                file.read_to_end(&mut all).await.unwrap();
                assert_eq!(all, wanted[half as usize..], "{fault:?}");
            });
        }
    }
}

/// Shows G13.
#[test]
fn every_fault_of_a_write_gives_the_same_bytes() {
    for fault in FAULTS {
        let (scratch, bytes) = (Scratch::new(), pattern(20_000));
        let (path, wanted) = (scratch.0.clone(), bytes.clone());
        run_with(fault, async move {
            let mut file = File::create(path).await.unwrap();
            assert_eq!(file.write(&wanted[..7]).await.unwrap(), 7);
            file.write_all_at(&wanted[10_000..], 10_000).await.unwrap();
            assert_eq!(file.write(&wanted[7..10_000]).await.unwrap(), 9993);
            assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), 10_000);
            assert_eq!(file.metadata().await.unwrap().len(), 20_000);
        });
        assert_eq!(std::fs::read(&scratch.0).unwrap(), bytes, "{fault:?}");
    }
}

/// Shows G13.
#[test]
fn an_attempt_that_would_block_is_one_deferred_operation() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, pattern(100_000)).unwrap();
    let path = scratch.0.clone();
    let ((), metrics) = run_with(Some(Fault::WouldBlock), async move {
        let file = File::open(path).await.unwrap();
        let mut buf = vec![0; 100_000];
        assert_eq!(file.read_at(&mut buf, 0).await.unwrap(), 100_000);
        assert_eq!(buf, pattern(100_000));
    });
    let [of] = &metrics[..] else { panic!("one device: {metrics:?}") };
    assert_eq!((of.would_block, of.deferred, of.hits), (1, 1, 0));
    assert_eq!((of.deferred_bytes, of.hit_bytes), (100_000, 0));
}

/// Shows G13.
#[test]
fn an_error_of_an_attempt_names_the_operation_and_the_path() {
    /// Of a broken device: `EIO`, or `ERROR_IO_DEVICE`.
    const EIO: i32 = if cfg!(windows) { 1117 } else { 5 };
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, "bytes").unwrap();
    let path = scratch.0.clone();
    let (error, _) = run_with(Some(Fault::Error(EIO)), async move {
        let file = File::open(path).await.unwrap();
        named(file.read_at(&mut [0; 5], 0)).await.unwrap_err()
    });
    let path = scratch.0.display().to_string();
    assert!(error.to_string().starts_with(&format!("cannot read {path}: ")), "{error}");
    assert_eq!(error.raw_os_error(), Some(EIO));
}

/// Shows G13.
#[test]
fn a_truncated_file_ends_where_it_ends() {
    for fault in [None, Some(Fault::Partial(1000)), Some(Fault::WouldBlock)] {
        let scratch = Scratch::new();
        std::fs::write(&scratch.0, pattern(10_000)).unwrap();
        let path = scratch.0.clone();
        run_with(fault, async move {
            let mut file = File::open(&path).await.unwrap();
            let mut buf = vec![0; 5000];
            assert_eq!(file.read(&mut buf).await.unwrap(), 5000);
            std::fs::File::options().write(true).open(&path).unwrap().set_len(6000).unwrap();
            assert_eq!(file.read(&mut buf).await.unwrap(), 1000);
            assert_eq!(buf[..1000], pattern(10_000)[5000..6000]);
            let error = file.read_exact_at(&mut buf, 5999).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
            assert!(error.to_string().contains("it ends 1 bytes behind offset 5999"), "{error}");
        });
    }
}

/// What io_uring fails is done again by a thread, whose error is told.
/// Shows G13.
#[test]
fn an_error_of_the_ring_is_the_error_of_the_call() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, pattern(100)).unwrap();
    let path = scratch.0.clone();
    let ((), metrics) = run_with(Some(Fault::WouldBlock), async move {
        let file = File::open(&path).await.unwrap();
        // The first one, of a thread, finds out what the device is.
        for _ in 0..2 {
            let mut buf = [0; 200];
            assert_eq!(file.read_at(&mut buf, 10).await.unwrap(), 90);
            assert_eq!(buf[..90], pattern(100)[10..]);
        }
        let file = File::options().write(true).open(&path).await.unwrap();
        let error = named(file.read_at(&mut [0; 5], 0)).await.unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot read {}: ", path.display())));
        let mut of_std = std::fs::File::options().write(true).open(&path).unwrap();
        let of_std = std::io::Read::read(&mut of_std, &mut [0; 5]).unwrap_err();
        assert_eq!(error.raw_os_error(), of_std.raw_os_error());
    });
    let by_ring = metrics[0].deferred_to_ring;
    println!("io_uring was asked {by_ring} times");
    assert!(metrics[0].deferred >= 3);
}

/// Shows G13.
#[test]
fn slow_attempts_are_counted_of_those_that_are_timed() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, pattern(100)).unwrap();
    let path = scratch.0.clone();
    let ((), metrics) = run_with(Some(Fault::Slow), async move {
        let file = File::open(path).await.unwrap();
        for _ in 0..160 {
            file.read_at(&mut [0; 100], 0).await.unwrap();
        }
    });
    let of = &metrics[0];
    // One attempt of sixteen is timed, and each of these is slow, also an attempt that the system does not support.
    let timed = (of.hits + of.would_block) / 16..=160 / 16;
    assert!(timed.contains(&(of.slow_hits + of.slow_refusals)), "{of:?}");
    if of.unsupported == 0 {
        assert!(of.slow_hits > 0, "{of:?}");
    }
}
