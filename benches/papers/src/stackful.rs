//! Tasks with a stack beside futures and threads: a switch and a wake, a spawn, and where the stacks come from.

use super::operations::{give_turns, take_turns, threads};
use super::{Goal, Plan, Report};
use colored::Color;
use colored::sync::Notify;
use colored_benches::chart::number;
use colored_benches::measure::{Entry, Sample};
use colored_benches::rivals::{Rival, Serial};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use std::future::ready;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

/// One operation as a future, with a stack, and as a thread, in this order.
struct Row {
    name: &'static str,
    stack: Box<dyn FnMut() -> Sample>,
    future: Box<dyn FnMut() -> Sample>,
    thread: Option<Box<dyn FnMut() -> Sample>>,
    /// The most of the cost over that of a future.
    goal: Option<(&'static str, f64)>,
    /// The most nanoseconds.
    nanos: Option<(&'static str, f64)>,
}

/// Measures each operation in a loop, on one worker.
///
/// # Panics
///
/// If an operation fails.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let on = Serial::start(colored::Runtime::builder().workers(1));
    let mut lines = Vec::new();
    for row in rows(on, plan.pick(20_000, 5_000, 100)) {
        let mut entries = vec![Entry::subject(row.stack), Entry::peer("future", row.future)];
        entries.extend(row.thread.map(|thread| Entry::peer("thread", thread)));
        let outcomes = plan.alternate(Duration::from_millis(1_500), entries);
        let ratio = outcomes[1].paired;
        if let Some((what, most)) = row.goal {
            report.goal(what, ratio, Goal::AtMost(most));
        }
        if let Some((what, most)) = row.nanos {
            report.goal(what, outcomes[0].cost * 1e9, Goal::AtMost(most));
        }
        let nanos = |index: usize| outcomes.get(index).map(|outcome| outcome.cost * 1e9);
        let cells = [nanos(0), nanos(1), Some(ratio), nanos(2)];
        let cells = cells.map(|cell| cell.map_or(String::new(), number));
        lines.push([vec![row.name.to_owned()], cells.into()].concat());
    }
    report.text("Nanoseconds an operation, on one worker; two threads on one core:");
    report.table(&["operation", "with a stack", "future", "ratio", "thread"], &lines);
    stacks(plan, &mut report);
    report
}

/// The ways to a stack.
fn stacks(plan: &Plan, report: &mut Report) {
    let count = plan.pick(2_000, 500, 20);
    let entries = vec![
        Entry::subject(repeated(count, pooled)),
        Entry::peer("emptied", repeated(count, emptied)),
        Entry::peer("mmap", repeated(count, mapped)),
        Entry::peer("malloc", repeated(count, allocated)),
    ];
    let names = [
        "from the pool, with the memory that its last user has touched; one switch there and back",
        "from the pool, its memory given back to the system each time; one switch",
        "by `mmap` and `mprotect`, given back by `munmap`, as corosensei's own; one switch",
        "by `malloc`, without a guard: one page touched, and no switch",
    ];
    let outcomes = plan.alternate(Duration::from_millis(1_500), entries);
    let row = |(name, nanos): (&str, f64)| vec![name.to_owned(), number(nanos)];
    let nanos = outcomes.iter().map(|outcome| outcome.cost * 1e9);
    let lines: Vec<_> = names.into_iter().zip(nanos).map(row).collect();
    report.text("A stack of 256 KiB, taken and given back, in nanoseconds:");
    report.table(&["where it comes from", "ns"], &lines);
    let what = "a stack from the pool over one by `mmap` (paper: the reason for a cache of stacks)";
    report.goal(what, outcomes[2].paired, Goal::AtMost(0.5));
}

/// The default of a stackful task.
const STACK: usize = 256 << 10;

fn pooled() {
    let fiber = pin!(colored_stackful::future(|| black_box(())));
    let polled = fiber.poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_ready(), "it waits for nothing");
}

fn emptied() {
    pooled();
    colored_stackful::release_idle_stacks();
}

fn mapped() {
    let stack = DefaultStack::new(STACK).expect("there is memory");
    let mut coroutine = Coroutine::with_stack(stack, |_: &Yielder<(), ()>, ()| black_box(()));
    assert!(coroutine.resume(()).as_return().is_some(), "it waits for nothing");
}

fn allocated() {
    let mut memory = Vec::<u64>::with_capacity(STACK / size_of::<u64>());
    if let Some(word) = memory.spare_capacity_mut().last_mut() {
        word.write(0);
    }
    black_box(&mut memory);
}

fn repeated(count: u64, work: fn()) -> impl FnMut() -> Sample {
    move || Sample::time(count, || (0..count).for_each(|_| work()))
}

fn rows(on: Serial, count: u64) -> Vec<Row> {
    vec![
        Row {
            name: "two tasks by turns, by `Notify`: there and back",
            stack: stack(on, count, move || {
                let [ping, pong] = [(); 2].map(|()| Arc::new(Notify::new()));
                let other = {
                    let (ping, pong) = (ping.clone(), pong.clone());
                    colored_stackful::spawn(Color::DEFAULT, move || {
                        for _ in 0..count {
                            colored_stackful::wait(ping.notified());
                            pong.notify_one();
                        }
                    })
                };
                for _ in 0..count {
                    ping.notify_one();
                    colored_stackful::wait(pong.notified());
                }
                colored_stackful::wait(other).expect("it ends");
            }),
            future: future(on, count, move || async move {
                let [ping, pong] = [(); 2].map(|()| Arc::new(Notify::new()));
                let other = colored::spawn_here(take_turns(ping.clone(), pong.clone(), count));
                give_turns(ping, pong, count).await;
                other.await.expect("it ends");
            }),
            thread: Some(Box::new(threads(count))),
            goal: Some(("a switch and a wake: with a stack over a future's", 1.3)),
            nanos: None,
        },
        Row {
            name: "`yield_now`, alone under its color",
            stack: stack(on, count, move || (0..count).for_each(|_| colored_stackful::yield_now())),
            future: future(on, count, move || async move {
                for _ in 0..count {
                    colored::yield_now().await;
                }
            }),
            thread: None,
            goal: None,
            nanos: None,
        },
        Row {
            name: "a wait for what is ready",
            stack: stack(on, count, move || {
                for _ in 0..count {
                    black_box(colored_stackful::wait(ready(1)));
                }
            }),
            future: future(on, count, move || async move {
                for _ in 0..count {
                    black_box(ready(1).await);
                }
            }),
            thread: None,
            goal: None,
            nanos: None,
        },
        Row {
            name: "spawn under the same color and join, its stack from the pool",
            stack: stack(on, count, move || {
                for _ in 0..count {
                    let task = colored_stackful::spawn(Color::DEFAULT, || ());
                    colored_stackful::wait(task).expect("it ends");
                }
            }),
            future: future(on, count, move || async move {
                for _ in 0..count {
                    colored::spawn_here(async {}).await.expect("it ends");
                }
            }),
            thread: None,
            goal: None,
            nanos: Some((
                "spawn and join a task with a stack from the pool, in nanoseconds",
                1_000.0,
            )),
        },
    ]
}

fn stack(
    on: Serial,
    ops: u64,
    work: impl Fn() + Copy + Send + 'static,
) -> Box<dyn FnMut() -> Sample> {
    future(on, ops, move || async move {
        colored_stackful::spawn(Color::DEFAULT, work).await.expect("it ends");
    })
}

fn future<C, F>(on: Serial, ops: u64, work: C) -> Box<dyn FnMut() -> Sample>
where
    C: Fn() -> F + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    Box::new(move || Sample::time(ops, || on.run(work())))
}
