//! Destructors of thread-locals may use and drop the runtime's values when a thread ends. A destructor that panics
//! aborts the process, so each case has a process of its own. This binary has no harness: a test of the usual one never
//! runs on the main thread.
//!
//! Every case of `cases.rs` runs on every kind of thread. Its thread-local is made before the runtime's thread-locals,
//! or after them, which determines the order of the drops.

mod cases;

use cases::{CASES, Case, End};
use colored::{Color, Runtime};
use std::cell::RefCell;
use std::env;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The variable that names the one case to run, in a process of its own.
const VARIABLE: &str = "COLORED_TESTS_THREAD_END";

/// The output of a process when the destructor has run.
const ENDED: &str = "the destructor has run to its end";

/// The thread that ends, and the runtime meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Permit {
    Main,
    MainLater,
    Foreign,
    ForeignLater,
    Worker,
    Blocking,
    BlockingLater,
}

impl Permit {
    const ALL: [Self; 7] = [
        Self::Main,
        Self::MainLater,
        Self::Foreign,
        Self::ForeignLater,
        Self::Worker,
        Self::Blocking,
        Self::BlockingLater,
    ];

    /// Whether the runtime has not been shut down by then.
    fn is_running(self) -> bool {
        matches!(self, Self::Main | Self::Foreign | Self::Blocking)
    }
}

/// Runs the kept destructor when its thread ends.
struct Keep(RefCell<Option<(End, bool)>>);

impl Drop for Keep {
    fn drop(&mut self) {
        if let Some((end, is_running)) = self.0.take() {
            end(is_running);
            eprintln!("{ENDED}");
            OVER.store(true, Ordering::Release);
        }
    }
}

thread_local!(static KEEP: Keep = const { Keep(RefCell::new(None)) });

/// The destructor has run.
static OVER: AtomicBool = AtomicBool::new(false);

fn run_one(case: Case, place: Permit, is_first: bool) {
    let touch = move || {
        if is_first {
            KEEP.with(|_| ());
        }
    };
    // An idle blocking thread ends soon, or with the runtime.
    let keep_alive = Duration::from_millis(if place == Permit::Blocking { 1 } else { 60_000 });
    let runtime = Runtime::builder().workers(1).on_thread_start(touch);
    let runtime = runtime.thread_keep_alive(keep_alive).build().unwrap();
    let handle = runtime.handle().clone();
    let is_running = place.is_running();
    let keep = move |end: End| KEEP.with(|keep| drop(keep.0.replace(Some((end, is_running)))));
    let inside = handle.clone();
    let prepare = move || {
        touch();
        let end = inside.block_on(case(inside.clone()));
        keep(end);
    };
    match place {
        Permit::Main => {
            prepare();
            std::mem::forget(runtime);
        }
        Permit::MainLater => {
            prepare();
            drop(runtime);
        }
        Permit::Foreign => thread::spawn(prepare).join().unwrap(),
        Permit::ForeignLater => {
            let ends = thread::spawn(move || {
                prepare();
                drop(runtime);
            });
            ends.join().unwrap();
        }
        Permit::Worker => {
            let prepare = move || async move { keep(case(handle).await) };
            let task = runtime.handle().spawn_pinned(0, Color::unique(), prepare).unwrap();
            runtime.run(task).unwrap();
        }
        Permit::Blocking => {
            runtime.run(runtime.spawn_blocking(prepare)).unwrap();
            while !OVER.load(Ordering::Acquire) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        Permit::BlockingLater => runtime.run(runtime.spawn_blocking(prepare)).unwrap(),
    }
}

/// Every case by its name.
fn all() -> Vec<(String, Case, Permit, bool)> {
    let mut all = Vec::new();
    for (name, case) in CASES {
        for place in Permit::ALL {
            for (order, is_first) in [("first", true), ("last", false)] {
                all.push((format!("{name}::{place:?}::{order}"), *case, place, is_first));
            }
        }
    }
    all
}

/// Runs a case in a process of its own, and returns its fault.
fn fault_of(name: &str) -> Option<String> {
    let mut child = Command::new(env::current_exe().unwrap());
    // Some panics are expected, and a backtrace takes as long as all the rest.
    let child = child.env(VARIABLE, name).env("RUST_BACKTRACE", "0").output().unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    let is_right = child.status.success() && said.contains(ENDED);
    (!is_right).then(|| format!("{name}: {}\n{said}", child.status))
}

fn main() -> ExitCode {
    let mut all = all();
    if let Ok(name) = env::var(VARIABLE) {
        let (_, case, place, is_first) =
            all.into_iter().find(|(other, ..)| *other == name).expect("a case");
        // A hang is a fault as well.
        drop(thread::spawn(|| {
            thread::sleep(Duration::from_secs(60));
            eprintln!("it hangs");
            std::process::abort();
        }));
        run_one(case, place, is_first);
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<_> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    if let Some(filter) = arguments.iter().find(|argument| !argument.starts_with('-')) {
        all.retain(|(name, ..)| format!("thread_end::{name}").contains(filter.as_str()));
    }
    let count = all.len();
    let (left, faults) = (Mutex::new(all), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((name, ..)) = { left.lock().unwrap().pop() } {
                    faults.lock().unwrap().extend(fault_of(&name));
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    faults.iter().for_each(|fault| println!("{fault}"));
    println!("test result: {count} ends of threads, {} wrong", faults.len());
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
