//! [`colored::Handle::trace`]: each event of each level is recorded, on real runtimes.

use colored::diagnose::Options;
use colored::diagnose::trace::{Event, Level, Record, Snapshot};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::runtime::Tuning;
use colored::{Builder, Color, ColorCell, Runtime, exclusive, hop, spawn_colored, yield_now};
use colored_tests::{alone, attempts, block, join_all, runtime, shared, wait_until};
use std::collections::BTreeMap;
use std::time::Duration;

const ORDERS: Color = Color::new(7);
const OTHERS: Color = Color::new(8);

fn at(level: Level, workers: usize) -> Runtime {
    // No slice ends early where the machine takes the CPU away.
    let tuning = Tuning::new().spare_workers(0).slice(64, Duration::from_secs(1));
    let options = Options::new().trace_level(level);
    let builder = Builder::new().workers(workers).tuning(tuning).diagnose(options);
    builder.build().expect("the runtime starts")
}

fn records(snapshot: &Snapshot) -> impl Iterator<Item = &Record> {
    snapshot.threads.iter().flat_map(|thread| &thread.records)
}

fn count(runtime: &Runtime, is_it: impl Fn(&Event) -> bool) -> usize {
    let snapshot = runtime.handle().trace();
    records(&snapshot).filter(|record| is_it(&record.event)).count()
}

/// Some of everything: a spawn, a wake, a hop, a post, a call, a read.
async fn a_bit_of_all() {
    let cell = ColorCell::new(ORDERS, 0_u64);
    cell.post(|value| *value += 1);
    cell.call(|value| *value += 1).await;
    assert_eq!(cell.read(|value| *value).await, 2);
    let task = spawn_colored(ORDERS, async {
        hop(OTHERS).await;
        yield_now().await;
    });
    task.await.expect("the task ends");
}

/// The level of an event, by its documentation.
fn level_of(event: &Event) -> Level {
    match event {
        Event::Poll { .. }
        | Event::Wake { .. }
        | Event::Spawn { .. }
        | Event::End { .. }
        | Event::Hop { .. } => Level::Tasks,
        Event::Post { .. } | Event::Call { .. } => Level::All,
        _ => Level::Slices,
    }
}

#[test]
fn a_level_records_its_events_and_no_others() {
    for level in [Level::Off, Level::Slices, Level::Tasks, Level::All] {
        shared(|| {
            let runtime = at(level, 1);
            runtime.run(a_bit_of_all());
            let snapshot = runtime.handle().trace();
            let mut levels: Vec<_> =
                records(&snapshot).map(|record| level_of(&record.event)).collect();
            levels.sort_unstable();
            levels.dedup();
            let all = [Level::Slices, Level::Tasks, Level::All];
            let expected: Vec<_> = all.into_iter().filter(|of| *of <= level).collect();
            assert_eq!(levels, expected, "at {level:?}");
        });
    }
}

#[test]
fn each_act_of_a_task_is_recorded_once() {
    shared(|| {
        let runtime = at(Level::All, 1);
        let (task, main) = runtime.run(async {
            let main = colored::task::id();
            a_bit_of_all().await;
            let task = spawn_colored(ORDERS, async {
                hop(OTHERS).await;
                yield_now().await;
                colored::task::id()
            });
            (task.await.expect("the task ends"), main)
        });
        let snapshot = runtime.handle().trace();
        let count = |is_it: &dyn Fn(&Event) -> bool| {
            records(&snapshot).filter(|record| is_it(&record.event)).count()
        };
        let spawned = |event: &Event| {
            matches!(event, Event::Spawn { by: Some(by), task: of, site: Some(site) }
            if *by == main && *of == task && site.file() == file!())
        };
        assert_eq!(count(&spawned), 1);
        // The first poll hops, the second one yields.
        assert_eq!(count(&|event| matches!(event, Event::Poll { task: of, .. } if *of == task)), 3);
        let hopped = |event: &Event| matches!(event, Event::Hop { task: of, to } if (*of, *to) == (task, OTHERS));
        assert_eq!(count(&hopped), 1);
        assert_eq!(count(&|event| matches!(event, Event::End { task: of } if *of == task)), 1);
        let woke = |event: &Event| matches!(event, Event::Wake { by: Some(by), task: of } if (*by, *of) == (task, main));
        assert_eq!(count(&woke), 1, "its end wakes the one that waits for it");
        assert_eq!(count(&|event| *event == Event::Post { color: ORDERS }), 1);
        assert_eq!(count(&|event| *event == Event::Call { color: ORDERS }), 2, "a call and a read");
    });
}

#[test]
fn slices_polls_depths_and_sections_are_recorded() {
    shared(|| {
        let runtime = at(Level::Slices, 1);
        runtime.run(async {
            join_all((0..10).map(|_| spawn_colored(ORDERS, async {}))).await;
            let section = exclusive(colored::time::sleep(Duration::from_millis(3)));
            spawn_colored(OTHERS, section).await.expect("the task ends");
        });
        let polls = |event: &Event| matches!(event, Event::Slice { color: ORDERS, polls: 10, .. });
        assert_eq!(count(&runtime, polls), 1);
        assert_eq!(count(&runtime, |event| *event == Event::Depth { color: ORDERS, depth: 10 }), 1);
        let kept = |event: &Event| matches!(event, Event::Kept { color: OTHERS, kept } if *kept > 2_000_000);
        assert_eq!(count(&runtime, kept), 1);
    });
}

#[test]
fn workers_record_sleeps_timers_and_events() {
    // The reactor thread fires the timers of a worker that is late.
    shared(|| {
        attempts::some(|| {
            let runtime = at(Level::Slices, 1);
            runtime.run(async {
                colored::time::sleep(Duration::from_millis(3)).await;
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
                let address = listener.local_addr().expect("an address");
                let client = spawn_colored(OTHERS, async move {
                    let mut client = TcpStream::connect(address).await.expect("it listens");
                    colored::time::sleep(Duration::from_millis(3)).await;
                    client.write_all(b"x").await.expect("it is open");
                });
                let (mut server, _) = listener.accept().await.expect("a client");
                let mut byte = [0];
                server.read_exact(&mut byte).await.expect("a byte");
                client.await.expect("the task ends");
            });
            let slept =
                |event: &Event| matches!(event, Event::Parked { slept } if *slept > 1_000_000);
            let fired = |event: &Event| matches!(event, Event::Timers { fired: 1, .. });
            let io = |event: &Event| matches!(event, Event::Io { events: 1.., .. });
            count(&runtime, slept) >= 2 && count(&runtime, fired) >= 2 && count(&runtime, io) >= 1
        })
    });
}

#[test]
fn a_theft_is_recorded() {
    alone(|| {
        attempts::some(|| {
            let runtime = at(Level::Slices, 2);
            runtime.run(async {
                let task =
                    |n| spawn_colored(Color::new(n), async { block(Duration::from_millis(1)) });
                join_all((10..30).map(task)).await;
            });
            count(&runtime, |event| matches!(event, Event::Steal { from: 0 | 1, .. })) > 0
        });
    });
}

#[test]
fn a_long_poll_is_recorded_while_it_goes_on() {
    shared(|| {
        let runtime = at(Level::Slices, 1);
        let is_it = |event: &Event| {
            matches!(event, Event::LongPoll { color: ORDERS, ran: 5_000_000.., task: Some(_) })
        };
        let handle = runtime.handle().clone();
        let task = runtime.spawn_colored(ORDERS, async move {
            wait_until(|| records(&handle.trace()).any(|record| is_it(&record.event)));
        });
        runtime.run(async { task.await.expect("the task ends") });
        let snapshot = runtime.handle().trace();
        let outside = snapshot.threads.last().expect("threads");
        assert_eq!(outside.name, "colored outside");
        let long = outside.records.iter().filter(|record| is_it(&record.event));
        assert_eq!(long.count(), 1, "once for each long poll");
    });
}

#[test]
fn the_polls_of_block_on_are_recorded() {
    shared(|| {
        let runtime = at(Level::Tasks, 1);
        let task = runtime.block_on(async {
            yield_now().await;
            colored::task::id()
        });
        let snapshot = runtime.handle().trace();
        let outside = snapshot.threads.last().expect("threads");
        let of = |is_it: &dyn Fn(&Event) -> bool| {
            outside.records.iter().filter(|record| is_it(&record.event)).count()
        };
        let polls = of(&|event| matches!(event, Event::Poll { task: of, .. } if *of == task));
        assert_eq!(polls, 2);
        let in_slices = outside.records.iter().map(|record| match record.event {
            Event::Slice { color: Color::DEFAULT, polls, .. } => polls,
            _ => 0,
        });
        assert_eq!(in_slices.sum::<u32>(), 2);
        assert_eq!(of(&|event| *event == Event::End { task }), 1);
        let spawned =
            |event: &Event| matches!(event, Event::Spawn { by: None, task: of, .. } if *of == task);
        assert_eq!(of(&spawned), 1);
    });
}

/// A ring of 4 KiB has 127 records. What is lost is counted, and no view contradicts another one. A copy beside a busy
/// worker may have fewer records: the worker overwrites them meanwhile.
#[test]
fn small_rings_lose_the_oldest_records_and_count_them() {
    shared(|| {
        let options = Options::new().trace_bytes(4096).trace_level(Level::All);
        let runtime =
            Builder::new().workers(2).diagnose(options).build().expect("the runtime starts");
        let mut last = BTreeMap::new();
        for round in 0..40_u64 {
            let tasks: Vec<_> =
                (0..round).map(|n| runtime.spawn_colored(n % 3, a_bit_of_all())).collect();
            let before = runtime.handle().trace();
            runtime.run(join_all(tasks));
            let after = runtime.handle().trace();
            for snapshot in [&before, &after] {
                check(snapshot, &mut last);
            }
            assert!(round == 0 || after.threads.iter().any(|thread| !thread.records.is_empty()));
            let mut file = Vec::new();
            after.write_perfetto(&mut file).expect("memory takes all");
            assert!(!file.is_empty());
        }
        let lost: u64 = last.values().sum();
        assert!(lost > 1000, "{lost} records were overwritten");
    });
}

fn check(snapshot: &Snapshot, last: &mut BTreeMap<String, u64>) {
    for thread in &snapshot.threads {
        assert!(thread.records.len() <= 127, "{} records", thread.records.len());
        let lost = last.entry(thread.name.clone()).or_default();
        assert!(thread.overwritten >= *lost, "{} of {lost}", thread.overwritten);
        *lost = thread.overwritten;
        assert!(thread.records.iter().all(|record| record.nanos <= snapshot.ended));
    }
}

#[test]
fn a_runtime_that_records_nothing_has_no_records() {
    shared(|| {
        let runtime = runtime(1);
        runtime.run(a_bit_of_all());
        assert_eq!(runtime.handle().trace_level(), Level::Off);
        let snapshot = runtime.handle().trace();
        assert_eq!(records(&snapshot).count(), 0);
        assert_eq!(snapshot.threads.len(), 2, "a worker, and the threads outside");
        assert_eq!(snapshot.threads[0].name, "colored-w0");
    });
}
