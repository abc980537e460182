//! [`colored::Builder::freeze_on`]: what a trigger keeps.

use colored::admission::Admission;
use colored::diagnose::Options;
use colored::diagnose::trace::{Event, Level, Trigger};
use colored::runtime::Tuning;
use colored::{Builder, Color, Handle, Runtime, exclusive, spawn_colored};
use colored_tests::scratch::Scratch;
use colored_tests::{ON_PURPOSE, shared, wait_until};
use std::time::{Duration, Instant};
use std::{fs, thread};

const ORDERS: Color = Color::new(7);

fn freezes_on(trigger: Trigger) -> Runtime {
    let options = Options::new().trace_level(Level::Tasks).freeze_on([trigger]);
    let builder =
        Builder::new().workers(1).tuning(Tuning::new().spare_workers(0)).diagnose(options);
    builder.build().expect("the runtime starts")
}

fn panic(runtime: &Runtime) {
    let task = runtime.spawn_colored(ORDERS, async { panic!("{ON_PURPOSE}") });
    runtime.run(async { task.await.expect_err("the task panics") });
}

fn trigger(handle: &Handle) -> Option<Trigger> {
    handle.frozen().map(|snapshot| snapshot.trigger.expect("an event"))
}

#[test]
fn a_panic_of_a_task_freezes_what_was_before_it() {
    shared(|| {
        let runtime = freezes_on(Trigger::Panic);
        runtime.run(async { spawn_colored(ORDERS, async {}).await.expect("the task ends") });
        assert!(runtime.handle().frozen().is_none());
        panic(&runtime);
        runtime.run(async { spawn_colored(Color::new(8), async {}).await.expect("the task ends") });
        let frozen = runtime.handle().frozen().expect("the panic");
        assert_eq!(frozen.trigger, Some(Trigger::Panic));
        let slices = |color| {
            let records = frozen.threads.iter().flat_map(|thread| &thread.records);
            let is_it =
                |event: &Event| matches!(event, Event::Slice { color: of, .. } if *of == color);
            records.filter(|record| is_it(&record.event)).count()
        };
        assert_eq!(slices(ORDERS), 1, "the slice of the panic has not ended");
        assert_eq!(slices(Color::new(8)), 0);
        assert!(runtime.handle().frozen().is_none(), "it has been taken");
    });
}

#[test]
fn the_first_copy_is_kept_and_there_is_one_a_second() {
    shared(|| {
        let runtime = freezes_on(Trigger::Panic);
        let begin = Instant::now();
        panic(&runtime);
        panic(&runtime);
        let first = runtime.handle().frozen().expect("the first panic");
        let ends = |event: &Event| matches!(event, Event::End { .. });
        let records = first.threads.iter().flat_map(|thread| &thread.records);
        assert_eq!(records.filter(|record| ends(&record.event)).count(), 0);
        panic(&runtime);
        if begin.elapsed() < Duration::from_secs(1) {
            assert!(runtime.handle().frozen().is_none(), "another one within a second");
        }
        thread::sleep(Duration::from_millis(1010));
        panic(&runtime);
        assert_eq!(trigger(runtime.handle()), Some(Trigger::Panic));
    });
}

#[test]
fn a_long_poll_freezes_while_it_goes_on() {
    shared(|| {
        let runtime = freezes_on(Trigger::LongPoll);
        let handle = runtime.handle().clone();
        let task = runtime.spawn_colored(ORDERS, async move {
            let mut frozen = None;
            while frozen.is_none() {
                thread::sleep(Duration::from_millis(1));
                frozen = handle.frozen();
            }
            frozen.expect("a copy").trigger
        });
        let trigger = runtime.run(async { task.await.expect("the task ends") });
        assert_eq!(trigger, Some(Trigger::LongPoll));
    });
}

#[test]
fn a_deadlock_freezes() {
    shared(|| {
        let runtime = freezes_on(Trigger::Deadlock);
        panic(&runtime);
        assert_eq!(trigger(runtime.handle()), None, "a panic is not wanted");
        let result = runtime.run(async {
            let other = colored::ColorCell::new(ORDERS, ());
            // The section holds the color for which it waits, through a task of that color.
            let within = exclusive(async move {
                spawn_colored(ORDERS, async move { other.checked_call(|()| ()).await }).await
            });
            spawn_colored(ORDERS, within).await
        });
        assert!(result.is_ok_and(|inner| inner.is_err()), "the wait is an error");
        assert_eq!(trigger(runtime.handle()), Some(Trigger::Deadlock));
    });
}

/// Work that comes too late.
fn refuse() {
    let admission = Admission::new(Duration::from_millis(1));
    let arrived = Instant::now();
    thread::sleep(Duration::from_millis(3));
    admission.admit_since(arrived).expect_err("it is too late");
}

#[test]
fn refused_work_freezes() {
    shared(|| {
        let runtime = freezes_on(Trigger::Overload);
        runtime.run(async { refuse() });
        assert_eq!(trigger(runtime.handle()), Some(Trigger::Overload));
        refuse();
        assert_eq!(trigger(runtime.handle()), None, "outside of the runtime");
    });
}

#[test]
fn a_copy_is_written_as_a_file() {
    shared(|| {
        let directory = Scratch::new();
        let path = directory.join("trace.perfetto");
        let options = Options::new().trace_level(Level::Tasks);
        let options = options.freeze_on([Trigger::Panic]).trace_file(&path);
        let runtime =
            Builder::new().workers(1).diagnose(options).build().expect("the runtime starts");
        runtime.run(async { spawn_colored(ORDERS, async {}).await.expect("the task ends") });
        assert!(!path.exists());
        panic(&runtime);
        wait_until(|| path.exists());
        let mut expected = Vec::new();
        let frozen = runtime.handle().frozen().expect("it is kept as well");
        frozen.write_perfetto(&mut expected).expect("memory takes all");
        assert_eq!(fs::read(&path).expect("the file"), expected);
    });
}
