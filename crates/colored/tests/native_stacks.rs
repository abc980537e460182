//! Native stacks of workers that are stuck, in dumps.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use colored::Runtime;
use colored::diagnose::dump::{Dump, WorkerDump, install_stack_handler};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

static IS_OVER: AtomicBool = AtomicBool::new(false);

#[inline(never)]
fn compute_for_a_long_time() -> u64 {
    let mut sum = 0_u64;
    while !IS_OVER.load(Ordering::Relaxed) {
        sum = black_box(sum.wrapping_add(1));
    }
    sum
}

#[inline(never)]
fn wait_for_a_message(messages: &Receiver<()>) {
    assert!(messages.recv().is_err(), "the sender is dropped");
}

#[inline(never)]
fn recurse(depth: u64, then: &dyn Fn()) -> u64 {
    if depth == 0 {
        then();
        return 0;
    }
    let room = black_box([depth; 64]);
    recurse(depth - 1, then) + room[(depth % 64) as usize]
}

/// The last dump of some in which the thread of the stuck worker is in this function. A worker is looked at once it has run for
/// 10 ms.
fn stack_with(runtime: &Runtime, function: &str) -> (Dump, WorkerDump) {
    for _ in 0..500 {
        let dump = runtime.handle().dump();
        let is_in = |worker: &&WorkerDump| {
            worker.stack.iter().any(|frame| has(frame.function.as_ref(), function))
        };
        if let Some(worker) = dump.workers().iter().find(is_in) {
            let worker = worker.clone();
            return (dump, worker);
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{}", runtime.handle().dump());
}

fn has(function: Option<&String>, name: &str) -> bool {
    function.is_some_and(|function| function.contains(name))
}

fn place(worker: &WorkerDump, function: &str) -> usize {
    let mut frames = worker.stack.iter();
    frames.position(|frame| has(frame.function.as_ref(), function)).expect("it is in the stack")
}

/// All in one test: the handler is the process's.
#[test]
fn a_dump_has_the_stacks_of_workers_that_are_stuck() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let begin = || -> Sender<()> {
        let (open, gate) = channel();
        drop(runtime.spawn_colored(1, async move { wait_for_a_message(&gate) }));
        open
    };

    // Nobody has asked for stacks.
    let open = begin();
    thread::sleep(Duration::from_millis(50));
    assert!(runtime.handle().dump().workers().iter().all(|worker| worker.stack.is_empty()));
    drop(open);

    install_stack_handler().expect("a handler");
    install_stack_handler().expect("the same handler");

    // It sleeps in the kernel.
    let open = begin();
    let (dump, worker) = stack_with(&runtime, "wait_for_a_message");
    let frame = &worker.stack[place(&worker, "wait_for_a_message")];
    let (file, line) = frame.place.as_ref().expect("its place");
    assert!(file.ends_with("native_stacks.rs") && *line > 20, "{frame}");
    assert!(place(&worker, "recv") < place(&worker, "wait_for_a_message"));
    let thread = worker.thread.as_deref().expect("its thread");
    assert!(thread.contains("S (sleeping)") && !thread.contains("no stack"), "{thread}");
    assert!(dump.to_string().contains("\n    in native_stacks::wait_for_a_message ("), "{dump}");
    assert!(dump.to_json().contains("\"stack\":["), "{}", dump.to_json());
    // The whole stack, down to the start of the thread.
    assert!(place(&worker, "thread_start") > place(&worker, "colored"), "{dump}");
    // The sleep went on after the signal.
    drop(open);

    // It computes.
    let computing = runtime.spawn_colored(2, async { compute_for_a_long_time() });
    stack_with(&runtime, "compute_for_a_long_time");
    IS_OVER.store(true, Ordering::Relaxed);
    assert!(runtime.block_on(computing).expect("it ends") > 0);

    // A stack that is longer than the copy: its innermost part.
    let (open, gate) = channel::<()>();
    let deep =
        runtime.spawn_colored(3, async move { recurse(1000, &|| wait_for_a_message(&gate)) });
    let (dump, worker) = stack_with(&runtime, "wait_for_a_message");
    let depth = worker.stack.iter().filter(|frame| has(frame.function.as_ref(), "recurse"));
    assert!(depth.count() > 100 && worker.stack.len() <= 300, "{dump}");
    drop(open);
    runtime.block_on(deep).expect("it ends");
}
