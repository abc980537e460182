//! An overflow of the stack of a task, in a process of its own: it says which task, and aborts.
#![cfg(unix)]

use colored_stackful as stackful;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

const VARIABLE: &str = "COLORED_STACKFUL_OVERFLOW";

/// Runs the test `child` of this program, which does what `kind` says.
fn in_a_child(kind: &str) -> (Output, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "overflow::child", "--nocapture"]).env(VARIABLE, kind);
    let output = child.output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 32]);
    if depth == u64::MAX { 0 } else { recurse(depth + 1) + frame[7] }
}

/// Touches nothing between its start and the lowest word of a large frame.
#[inline(never)]
fn large_frame() -> u8 {
    black_box([1_u8; 200 << 10])[7]
}

fn overflow_slowly() {
    black_box(recurse(0));
}

fn overflow_at_once() {
    black_box(large_frame());
}

#[test]
fn child() {
    let Ok(kind) = std::env::var(VARIABLE) else { return };
    let runtime = colored::Runtime::builder().workers(1).build().unwrap();
    runtime.run(async move {
        let small = stackful::Builder::new().color(1).name("reader").stack_size(64 << 10);
        let task = match &*kind {
            "recursion" => small.spawn(overflow_slowly),
            "frame" => small.spawn(overflow_at_once),
            "nested" => stackful::spawn(1, || {
                stackful::yield_now();
                stackful::exclusive(overflow_slowly);
            }),
            "thread" => colored::spawn_blocking(overflow_slowly),
            "null" => small.spawn(|| {
                // SAFETY: there is no reason; this is the fault that the test is about.
                unsafe { std::ptr::null_mut::<u8>().write_volatile(1) };
            }),
            other => panic!("unknown: {other}"),
        };
        // Others of the thread wait meanwhile.
        let waits = stackful::spawn(2, || stackful::wait(std::future::pending::<()>()));
        task.await.unwrap();
        drop(waits);
    });
}

#[test]
fn an_overflow_names_task_size_and_place() {
    for kind in ["recursion", "frame"] {
        let (output, text) = in_a_child(kind);
        assert_eq!(output.status.signal(), Some(6), "{kind}: {output:?}");
        assert!(text.contains("the stack of a task has overflowed: task "), "{kind}: {text}");
        assert!(text.contains("\"reader\" spawned at "), "{text}");
        assert!(text.contains("overflow.rs:") && text.contains("with 64 KiB"), "{text}");
    }
    let (output, text) = in_a_child("nested");
    assert_eq!(output.status.signal(), Some(6), "{output:?}");
    assert!(text.contains("has overflowed") && text.contains("with 256 KiB"), "{text}");
}

#[test]
fn other_faults_go_to_the_handler_before() {
    let (output, text) = in_a_child("thread");
    assert_eq!(output.status.signal(), Some(6), "{output:?}");
    assert!(text.contains("has overflowed its stack"), "std's own text: {text}");
    let (output, text) = in_a_child("null");
    assert!(
        output.status.signal().is_some_and(|signal| [7, 10, 11].contains(&signal)),
        "{output:?}"
    );
    assert!(!text.contains("of a task has overflowed"), "{text}");
}
