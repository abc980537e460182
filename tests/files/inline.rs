//! Data in memory is read at the first poll, on the worker.

use super::{of_devices, runtime_that_is};
use colored::Color;
use colored::fs::{self, File};
use colored::metrics::FileMetrics;
use colored_tests::polls::at_once;
use colored_tests::scratch::Scratch;
use colored_tests::{run, shared};
use std::path::Path;

/// Whether this system can read without waiting where the tests have their files.
fn skips(scratch: &Scratch) -> bool {
    let probed = run(1, {
        let path = scratch.file("probe", [1; 4096]);
        async move {
            let file = File::open(path).await.unwrap();
            file.read_at(&mut [0; 4096], 0).await.unwrap();
            of_devices(|of| of.unsupported)
        }
    });
    if probed > 0 {
        println!("skipped: the file system of {} has no attempts", scratch.path().display());
    }
    probed > 0
}

/// Shows G13.
#[test]
fn a_cached_read_is_one_poll_and_no_submission() {
    let scratch = Scratch::new();
    if skips(&scratch) {
        return;
    }
    let path = scratch.file("file", vec![7; 1 << 16]);
    run(1, async move {
        let file = File::open(&path).await.unwrap();
        let before = of_devices(|of| of.deferred);
        for len in [1, 4096, 1 << 16] {
            let mut buf = vec![0; len];
            assert_eq!(at_once(file.read_at(&mut buf, 0)).await.unwrap().unwrap(), len);
            assert_eq!(buf, vec![7; len]);
        }
        assert_eq!(at_once(file.read_at(&mut [0; 10], (1 << 16) - 3)).await.unwrap().unwrap(), 3);
        assert_eq!(of_devices(|of| of.deferred), before);
        assert_eq!(of_devices(|of| of.hits), 4, "the last read finds the end by another attempt");
        assert_eq!(of_devices(|of| of.hit_bytes), 1 + 4096 + (1 << 16) + 3);
    });
}

/// Shows G13.
#[test]
fn a_cached_path_is_opened_and_looked_at_at_once() {
    let scratch = Scratch::new();
    if skips(&scratch) {
        return;
    }
    let path = scratch.file("file", "bytes");
    run(1, async move {
        // The first call learns the kind of the device. The system may refuse an attempt while a path
        // changes, as it does in tests beside this one: but not each time.
        fs::metadata(&path).await.unwrap();
        let mut all_at_once = 0;
        for _ in 0..20 {
            let Some(file) = at_once(File::open(&path)).await else { continue };
            let of_file = at_once(file.unwrap().metadata()).await.expect("the file is open");
            assert_eq!(of_file.unwrap().len(), 5);
            let Some(of_path) = at_once(fs::metadata(&path)).await else { continue };
            assert_eq!(of_path.unwrap().len(), 5);
            let Some(bytes) = at_once(fs::read(&path)).await else { continue };
            assert_eq!(bytes.unwrap(), b"bytes");
            all_at_once += 1;
        }
        assert!(all_at_once > 0, "the path is in memory");
    });
}

/// Shows G13.
#[test]
fn without_attempts_every_operation_is_deferred() {
    shared(|| {
        let scratch = Scratch::new();
        let path = scratch.file("file", "bytes");
        let runtime = runtime_that_is(false, 1);
        runtime.run(async move {
            let file = File::open(&path).await.unwrap();
            file.read_at(&mut [0; 5], 0).await.unwrap();
        });
        let metrics = runtime.metrics();
        let sum = |counter: fn(&FileMetrics) -> u64| metrics.files.iter().map(counter).sum::<u64>();
        assert_eq!(sum(|of| of.hits + of.would_block + of.unsupported), 0);
        assert!(sum(|of| of.deferred) >= 2);
    });
}

/// A file system in memory has no attempts, and needs none.
/// Shows G13.
#[test]
fn a_file_in_memory_is_read_and_written_on_the_worker() {
    let shm = Path::new("/dev/shm");
    let is_tmpfs = std::fs::read_to_string("/proc/mounts")
        .is_ok_and(|mounts| mounts.lines().any(|line| line.contains(" /dev/shm tmpfs ")));
    if !is_tmpfs {
        println!("skipped: /dev/shm is no tmpfs");
        return;
    }
    let scratch = Scratch::within(shm);
    let path = scratch.file("file", vec![7; 4096]);
    run(1, async move {
        let file = File::options().read(true).write(true).open(&path).await.unwrap();
        let mut buf = vec![0; 4096];
        // The first operations learn what the device can do.
        file.read_at(&mut buf, 0).await.unwrap();
        file.write_at(&buf, 0).await.unwrap();
        let before = of_devices(|of| of.deferred);
        for _ in 0..10 {
            assert_eq!(at_once(file.read_at(&mut buf, 0)).await.unwrap().unwrap(), 4096);
            assert_eq!(at_once(file.write_at(&buf, 4096)).await.unwrap().unwrap(), 4096);
        }
        assert_eq!(of_devices(|of| of.deferred), before);
        assert_eq!(std::fs::read(&path).unwrap(), vec![7; 8192]);
    });
}

/// A task that reads only cached data lets other tasks of its color run.
/// Shows G13.
#[test]
fn cached_reads_share_their_color() {
    let scratch = Scratch::new();
    let path = scratch.file("file", vec![7; 1 << 18]);
    run(1, async move {
        let file = File::open(&path).await.unwrap();
        colored::hop(Color::new(5)).await;
        let other = colored::spawn_here(async {});
        let mut buf = vec![0; 1 << 18];
        let mut reads = 0;
        while !other.is_finished() {
            file.read_at(&mut buf, 0).await.unwrap();
            reads += 1;
            assert!(reads <= 4, "a read of 256 KiB uses the budget of its poll up");
        }
    });
}
