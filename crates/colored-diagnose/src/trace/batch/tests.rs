//! Five shapes whose limits are known.

use super::{Batch, Blame};
use crate::trace::{Event, Record, Snapshot, ThreadTrace};
use colored_core::trace::task;
use colored_core::{Color, Id};
use std::time::Duration;

const ORDERS: Color = Color::new(7);
const MS: u64 = 1_000_000;

fn id(number: u64) -> Id {
    task(number).expect("not 0")
}

/// A thread that runs slices of one poll, each of a task that was spawned at 0 by nobody that is known, unless a record
/// says otherwise.
#[derive(Default)]
struct Thread(Vec<Record>);

impl Thread {
    fn poll(mut self, color: Color, task: u64, begin: u64, end: u64) -> Self {
        let ran = (end - begin) * MS;
        self.0.push(Record { nanos: end * MS, event: Event::Poll { task: id(task), ran } });
        let slice = Event::Slice { color, ran, queued: 0, polls: 1 };
        self.0.push(Record { nanos: end * MS, event: slice });
        self
    }

    /// A poll of a microsecond.
    fn short_poll(mut self, color: Color, task: u64, begin: u64) -> Self {
        let nanos = (begin + 1) * 1_000;
        self.0.push(Record { nanos, event: Event::Poll { task: id(task), ran: 1_000 } });
        let slice = Event::Slice { color, ran: 1_000, queued: 0, polls: 1 };
        self.0.push(Record { nanos, event: slice });
        self
    }

    fn wake(mut self, nanos: u64, by: Option<u64>, task: u64) -> Self {
        let event = Event::Wake { by: by.map(id), task: id(task) };
        self.0.push(Record { nanos, event });
        self
    }
}

fn batch(threads: Vec<Thread>, tasks: u64) -> Batch {
    let mut threads: Vec<ThreadTrace> = threads
        .into_iter()
        .map(|thread| ThreadTrace { records: thread.0, ..ThreadTrace::default() })
        .collect();
    let spawn =
        |task| Record { nanos: 0, event: Event::Spawn { by: None, task: id(task), site: None } };
    let records = (1..=tasks).map(spawn).collect();
    let workers = threads.len();
    threads.push(ThreadTrace { records, ..ThreadTrace::default() });
    let snapshot = Snapshot { workers, ..Snapshot::new(threads, 100 * MS, Duration::ZERO) };
    snapshot.batch().expect("there are polls")
}

fn about(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.001
}

#[test]
fn one_color_on_two_workers() {
    let thread = (0..10).fold(Thread::default(), |thread, n| thread.poll(ORDERS, n + 1, n, n + 1));
    let batch = batch(vec![thread, Thread::default()], 10);
    assert_eq!(batch.time, Duration::from_millis(10));
    assert_eq!(batch.longest_chain, Duration::from_millis(1));
    assert!(about(batch.colors[0].at_most, 2.0), "two workers: {batch:?}");
    assert!(about(batch.colors[0].estimate, 2.0), "{batch:?}");
    assert_eq!(batch.to_string(), format!("90 % {ORDERS}, 10 % work"));
}

#[test]
fn four_colors_on_one_worker() {
    let thread =
        (0..4).fold(Thread::default(), |thread, n| thread.poll(Color::new(n), n + 1, n, n + 1));
    let batch = batch(vec![thread], 4);
    assert!(batch.colors.iter().all(|split| about(split.at_most, 1.0)), "{batch:?}");
    assert_eq!(batch.to_string(), "75 % CPUs, 25 % work");
}

#[test]
fn a_chain_of_tasks_that_wake_one_another() {
    let one = Thread::default().poll(Color::new(1), 1, 0, 2).poll(Color::new(3), 3, 5, 6);
    let two = Thread::default().wake(2 * MS, Some(1), 2).poll(Color::new(2), 2, 2, 5).wake(
        5 * MS,
        Some(2),
        3,
    );
    // The first poll of each waits for its wake: the spawns are not known.
    let batch = batch(vec![one, two], 1);
    assert_eq!(batch.longest_chain, Duration::from_millis(6));
    assert!(batch.colors.iter().all(|split| about(split.at_most, 1.0)), "{batch:?}");
    assert_eq!(batch.to_string(), "100 % work");
}

#[test]
fn a_task_that_waits_for_an_event() {
    let thread =
        Thread::default().poll(ORDERS, 1, 0, 1).wake(9 * MS, None, 1).poll(ORDERS, 1, 9, 10);
    let batch = batch(vec![thread, Thread::default()], 1);
    assert_eq!(batch.longest_chain, Duration::from_millis(10), "an event has its time");
    assert!(about(batch.colors[0].at_most, 1.0), "{batch:?}");
    assert_eq!(batch.to_string(), "80 % outside, 20 % work");
}

#[test]
fn two_colors_of_which_one_is_longer() {
    let other = Color::new(8);
    let one = (0..6).fold(Thread::default(), |thread, n| thread.poll(ORDERS, n + 1, n, n + 1));
    let two = (0..4).fold(Thread::default(), |thread, n| thread.poll(other, n + 11, n, n + 1));
    let batch = batch(vec![one, two], 20);
    assert_eq!(batch.colors[0].color, ORDERS);
    assert!(about(batch.colors[0].at_most, 1.2), "10 ms of work on two workers: {batch:?}");
    assert!(about(batch.colors[1].at_most, 1.0), "the other one is as long as all: {batch:?}");
    // While both workers are busy, the CPUs are to blame.
    let of_color = batch.blame.iter().find(|(blame, _)| *blame == Blame::Color(ORDERS));
    assert_eq!(of_color.expect("after the other one's end").1, Duration::from_millis(1));
}

#[test]
fn a_chain_of_polls_takes_turns_with_the_tasks_of_a_split_color() {
    let (other, one_task) = (Color::new(8), 11);
    let one = (0..5).fold(Thread::default(), |thread, n| thread.poll(ORDERS, n + 1, n, n + 1));
    let two = (0..5).fold(Thread::default(), |thread, n| thread.poll(other, one_task, n, n + 1));
    let batch = batch(vec![one, two], 20);
    // The first poll of the chain runs beside a task, the second behind the four others on both workers: 7 ms.
    assert!(about(batch.colors[0].estimate, 5.0 / 7.0), "{batch:?}");
    assert!(about(batch.colors[1].estimate, 1.0), "it is one task: {batch:?}");
    assert!(batch.colors.iter().all(|split| about(split.at_most, 1.0)), "{batch:?}");
}

/// A slice has 64 polls: a task of ten ends before a task of another color runs on its worker.
#[test]
fn short_polls_of_one_color_run_in_one_slice() {
    let mut thread = Thread::default();
    for n in 0..10 {
        thread = thread.short_poll(Color::new(8), 1, n);
    }
    for n in 0..20 {
        thread = thread.short_poll(ORDERS, n + 2, n + 10);
    }
    let batch = batch(vec![thread, Thread::default()], 30);
    // 20 µs before. After: one worker runs the task while the other one runs ten others, then both run the last ten: 15 µs.
    assert!(about(batch.colors[0].estimate, 20.0 / 15.0), "{batch:?}");
    assert!(about(batch.colors[1].estimate, 1.0), "it is one task: {batch:?}");
}

#[test]
fn the_blame_adds_up_to_the_time_whatever_the_records_are() {
    let mut seed = 1_u64;
    let mut below = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % bound
    };
    for _ in 0..200 {
        let threads = (0..3).map(|_| {
            let mut nanos = 0;
            let mut records: Vec<Record> = (0..60)
                .map(|_| {
                    nanos += below(1000);
                    let (task, by) =
                        (id(1 + below(9)), Some(id(1 + below(9))).filter(|_| below(3) > 0));
                    let event = match below(5) {
                        0 | 1 => Event::Poll { task, ran: below(500) },
                        2 => Event::Slice {
                            color: Color::new(below(3)),
                            ran: below(2000),
                            queued: 0,
                            polls: 1,
                        },
                        3 => Event::Wake { by, task },
                        _ => Event::Spawn { by, task, site: None },
                    };
                    Record { nanos, event }
                })
                .collect();
            records.drain(..below(30) as usize);
            ThreadTrace { records, ..ThreadTrace::default() }
        });
        let snapshot = Snapshot::new(threads.collect(), 100_000, Duration::ZERO);
        let Some(batch) = snapshot.batch() else { continue };
        let sum: Duration = batch.blame.iter().map(|(_, time)| *time).sum();
        assert_eq!(sum, batch.time, "{batch:?}");
        assert!(
            batch.colors.iter().all(|split| split.estimate <= split.at_most + 1e-9),
            "{batch:?}"
        );
    }
}

#[test]
fn a_snapshot_without_polls_has_no_batch() {
    let snapshot = Snapshot::new(vec![ThreadTrace::default()], 1, Duration::ZERO);
    assert_eq!(snapshot.batch(), None);
}
