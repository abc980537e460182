//! Stackful tasks in a program without unwinding: `CARGO_PROFILE_DEV_PANIC=abort cargo run -p colored-rt-stackful --example
//! panic_abort`. Cargo compiles tests with unwinding, so this is no test.

use colored::runtime::Builder;
use colored_stackful as stackful;
use std::env;
use std::future::pending;
use std::process::{self, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct Noted(Arc<AtomicBool>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The stack of an aborted task stays as it is, and its color goes on.
async fn aborted_task_leaks() {
    let (is_dropped, has_begun) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (noted, begun) = (Noted(Arc::clone(&is_dropped)), Arc::clone(&has_begun));
    let task = stackful::spawn(1, move || {
        let _noted = noted;
        begun.store(true, Ordering::Relaxed);
        stackful::wait(pending::<()>());
    });
    while !has_begun.load(Ordering::Relaxed) {
        colored::task::yield_now().await;
    }
    task.abort();
    assert!(task.await.expect_err("it was aborted").is_cancelled());
    assert_eq!(stackful::spawn(1, || 7).await.expect("it ends"), 7);
    assert!(!is_dropped.load(Ordering::Relaxed), "the stack was unwound");
}

fn main() {
    if cfg!(panic = "unwind") {
        eprintln!("this program is for `panic = \"abort\"`");
        process::exit(2);
    }
    let runtime = Builder::new().workers(2).build().expect("a runtime");
    if env::args().nth(1).is_some() {
        runtime.run(async {
            stackful::spawn(1, || panic!("of a task")).await.expect("it never ends")
        });
    }
    runtime.run(aborted_task_leaks());
    let this = env::current_exe().expect("the path of this program");
    let child = Command::new(this).arg("panics").output().expect("a child process");
    let told = String::from_utf8_lossy(&child.stderr);
    assert!(
        child.status.code().is_none(),
        "a panic ends the process by a signal, not {}",
        child.status
    );
    assert!(told.contains("of a task"), "{told}");
    println!("an aborted task leaks its stack, and a panic ends the process");
}
