//! A process of its own is measured, which has never held more.

use crate::hold::{KEYS, hold_and_pass};
use crate::support::{Directory, open, runtime};
use std::path::PathBuf;
use std::process::Command;

/// The name of the child's task.
pub(crate) const CHILD: &str = "hold-and-pass";

pub(crate) fn memory() {
    let directory = Directory::new("memory");
    for part in 0..10 {
        let tenth = KEYS as usize / 10;
        directory.fill(part * tenth..(part + 1) * tenth);
    }
    let program = std::env::current_exe().expect("the program has a file");
    for handlers in ["256", "100000"] {
        let status = Command::new(&program).args([CHILD, handlers]).arg(directory.path()).status();
        assert!(status.expect("it starts").success());
    }
}

/// What the child does.
pub(crate) fn measure(handlers: usize, path: PathBuf) {
    runtime(2).run(async move {
        let engine = open(path).await;
        let member = engine.member(&format!("g{handlers}"), ["t"]).join().await.expect("a member");
        hold_and_pass(member, handlers).await;
    });
}
