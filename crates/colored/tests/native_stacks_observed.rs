//! The functions in the report of an observation.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use colored::diagnose::Options;
use colored::diagnose::dump::install_stack_handler;
use colored::diagnose::report::{Fault, Report};
use colored::{Builder, Color, Runtime, spawn_colored, yield_now};
use std::hint::black_box;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

/// Some 150 µs of a debug build.
#[inline(never)]
fn encrypt(block: u64) -> u64 {
    let mut sum = block;
    for round in 0..10_000_u64 {
        sum = black_box(sum.rotate_left(5) ^ round);
    }
    sum
}

#[inline(never)]
fn count(block: u64) -> u64 {
    (0..100).fold(block, |sum, round| black_box(sum ^ round))
}

/// A runtime in which ten tasks of one color always have something to encrypt.
fn encrypting(color: Color) -> Runtime {
    let quiet = Options::new().warnings(false);
    let runtime = Builder::new().workers(2).diagnose(quiet).build().expect("a runtime");
    runtime.run(async move {
        for block in 0..10 {
            let _detached = spawn_colored(color, async move {
                loop {
                    black_box(count(encrypt(block)));
                    yield_now().await;
                }
            });
        }
    });
    runtime
}

/// The first report of some that finds this fault and has hotspots, if it is to have some. They are longer and longer:
/// elsewhere something else may take the CPUs.
fn report(fault: Fault, has_hotspots: bool, observe: impl Fn(Duration) -> Report) -> Report {
    let mut last = None;
    for length in 1..10 {
        let report = observe(length * Duration::from_millis(500));
        let is_told = report.hotspots.iter().any(|of| of.color.is_some());
        if report.fault() == Some(fault) && is_told == has_hotspots {
            return report;
        }
        last = Some(report);
    }
    panic!("{}", last.expect("nine reports"));
}

/// A runtime whose only worker waits until the sender is dropped.
fn stuck() -> (Runtime, Sender<()>) {
    let (open, gate) = mpsc::channel::<()>();
    let quiet = Options::new().warnings(false);
    let runtime = Builder::new().workers(1).diagnose(quiet).build().expect("a runtime");
    drop(runtime.handle().spawn_colored(Color::new(1), async move {
        let _ = gate.recv();
    }));
    (runtime, open)
}

const PACKAGE: &str = "is in the crate native_stacks_observed: ";
const FUNCTION: &str = " in native_stacks_observed::encrypt";

/// All in one test: the handler is the process's.
#[test]
fn a_report_names_the_function_that_a_hot_color_spends_its_time_in() {
    let color = Color::named("messages");
    let runtime = encrypting(color);
    let observe = |length| runtime.handle().observe_blocking(length);

    // Nobody has asked for stacks.
    let before = report(Fault::HotColor, false, observe);
    assert_eq!(before.hotspots, []);
    assert!(!before.to_string().contains(" is in the crate "), "{before}");
    assert!(before.to_json().contains(r#""hotspots":[],"#), "{}", before.to_json());

    install_stack_handler().expect("a handler");
    let report_of_color = report(Fault::HotColor, true, observe);
    let finding = &report_of_color.findings[0];
    assert_eq!(finding.color, Some(color));
    let is_of_it = |line: &&String| line.contains(" of it is in ");
    let line = finding.evidence.iter().find(is_of_it).expect("a line of functions");
    assert!(line.contains(PACKAGE) && line.contains(FUNCTION), "{report_of_color}");
    let hotspot = report_of_color.hotspots.iter().find(|of| of.color == Some(color));
    let (name, part) = &hotspot.expect("that of the color").functions[0];
    assert_eq!(name, "native_stacks_observed::encrypt");
    assert!(*part > 0.5, "{report_of_color}");
    let json = report_of_color.to_json();
    assert!(json.contains(r#""function":"native_stacks_observed::encrypt""#), "{json}");

    // The default color, by the observation of a task.
    let default = encrypting(Color::DEFAULT);
    let observe =
        |length| default.block_on(async move { colored::Handle::current().observe(length).await });
    let report_of_default = report(Fault::DefaultColor, true, observe);
    let text = report_of_default.to_string();
    assert!(text.contains(PACKAGE) && text.contains(FUNCTION), "{text}");
    default.shutdown_background();
    runtime.shutdown_background();

    // What blocks a worker.
    let (stuck, open) = stuck();
    let observe = |length| stuck.handle().observe_blocking(length);
    let text = report(Fault::BlockedWorker, true, observe).to_string();
    let line = "% of the time of color 0x1 is in the crate native_stacks_observed: ";
    assert!(text.contains(line), "{text}");
    drop(open);
}
