//! A recorded run comes out the same on any number of workers.

use super::Record;
use super::program::program;

/// So many replays of each record on each number of workers: set `RECORD_REPLAYS` for more.
fn replays() -> usize {
    std::env::var("RECORD_REPLAYS").map_or(2, |number| number.parse().expect("a number"))
}

#[track_caller]
fn assert_replays(seed: u64, workers: usize, tasks: u64, steps: u32) {
    let (record, recorded) = Record::of(workers, || program(seed, tasks, steps));
    for _ in 0..replays() {
        for workers in [1, 2, 8, 64] {
            let replayed = record.replay(workers, || program(seed, tasks, steps));
            let first = replayed.iter().zip(&recorded).position(|(one, other)| one != other);
            assert_eq!(first, None, "seed {seed}, {workers} workers: the first chain that differs");
        }
    }
}

#[test]
fn a_run_comes_out_the_same_on_any_number_of_workers() {
    for seed in 1..4 {
        assert_replays(seed, 2, 60, 12);
    }
}

#[test]
fn a_run_on_one_worker_or_on_many_is_the_same() {
    assert_replays(11, 1, 30, 10);
    assert_replays(12, 16, 60, 12);
}

#[test]
fn a_run_on_a_busy_machine_is_the_same() {
    let busy = std::sync::atomic::AtomicBool::new(true);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while busy.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let (record, recorded) = Record::of(4, || program(21, 60, 12));
        busy.store(false, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(record.replay(2, || program(21, 60, 12)), recorded);
    });
}

/// Else the other tests would find nothing: two runs differ.
#[test]
fn a_run_without_a_record_is_another_one() {
    let (_one, first) = Record::of(2, || program(31, 60, 12));
    let (_other, second) = Record::of(2, || program(31, 60, 12));
    assert_ne!(first, second);
}
