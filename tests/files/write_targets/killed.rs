//! Programs that are killed while they replace a file.

use crate::systems::has_filters;
use colored_tests::run;
use colored_tests::scratch::Scratch;
use colored_tests::wait_until;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use std::cell::RefCell;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The path that the child writes to.
const PATH: &str = "COLORED_TESTS_REWRITTEN";

/// Says that the child's new files cannot be without a name.
const NAMED: &str = "COLORED_TESTS_NAMED";

const LEN: usize = 500_000;

/// So many children run at a time, and so many times.
const CHILDREN: usize = 10;
const ROUNDS: u64 = 5;

/// Shows G13.
#[test]
fn the_file_is_whole_and_the_next_write_removes_what_is_left() {
    if let Ok(path) = env::var(PATH) {
        return rewrite(path);
    }
    let mut left = 0;
    for round in 0..ROUNDS {
        let scratch = Scratch::new();
        let directories: Vec<_> = (0..CHILDREN).map(|n| scratch.join(&n.to_string())).collect();
        let children: Vec<_> = (0..CHILDREN)
            .map(|n| {
                fs::create_dir(&directories[n]).unwrap();
                fs::write(directories[n].join("file"), vec![0; LEN]).unwrap();
                child(&directories[n].join("file"), n % 2 == 0 && has_filters())
            })
            .collect();
        for (n, (child, directory)) in children.into_iter().zip(&directories).enumerate() {
            let child = RefCell::new(child);
            wait_until(|| {
                let ended = child.borrow_mut().try_wait().unwrap();
                assert!(ended.is_none(), "the child ended by itself: {ended:?}");
                first_byte(&directory.join("file")) != 0
            });
            let mut child = child.into_inner();
            thread::sleep(Duration::from_micros(700 * round + 130 * n as u64));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for directory in &directories {
            let path = directory.join("file");
            let bytes = fs::read(&path).unwrap();
            assert!(bytes.len() == LEN && bytes.iter().all(|byte| *byte == bytes[0]));
            left += fs::read_dir(directory).unwrap().count() - 1;
            run(1, async move { colored::fs::write(path, "the next write").await.unwrap() });
            assert_eq!(fs::read(directory.join("file")).unwrap(), b"the next write");
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        }
    }
    println!("{left} new files were left, and are removed");
}

fn child(path: &Path, is_named: bool) -> Child {
    let test = "write_targets::killed::the_file_is_whole_and_the_next_write_removes_what_is_left";
    let mut command = Command::new(env::current_exe().expect("the path of this binary"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(PATH, path);
    if is_named {
        command.env(NAMED, "1");
    }
    command.stdout(Stdio::null()).spawn().expect("this binary can be run again")
}

fn first_byte(path: &Path) -> u8 {
    fs::read(path).unwrap()[0]
}

/// Until it is killed.
fn rewrite(path: String) {
    if env::var(NAMED).is_ok() {
        forbid_links();
    }
    run(1, async move {
        for byte in (1..=100).cycle() {
            colored::fs::write(&path, vec![byte; LEN]).await.unwrap();
        }
    });
}

/// Makes `linkat` fail on this thread, and on those that it starts.
fn forbid_links() {
    const EPERM: u32 = 1;
    #[cfg(target_arch = "x86_64")]
    const LINKAT: i64 = 265;
    #[cfg(not(target_arch = "x86_64"))]
    const LINKAT: i64 = 37;
    let filter = SeccompFilter::new(
        [(LINKAT, Vec::new())].into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(EPERM),
        env::consts::ARCH.try_into().expect("an architecture with filters"),
    );
    let program: BpfProgram = filter.and_then(TryInto::try_into).expect("the filter is right");
    apply_filter(&program).expect("the system takes the filter");
}
