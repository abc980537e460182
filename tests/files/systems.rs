//! The tests of this folder again: on other file systems, where the system refuses calls, and without
//! attempts.
//!
//! A mount is made in a namespace of its own, which ends with its process. Where the system allows no
//! mounts, or lacks a program, the test prints the reason and checks nothing.

use super::in_all_modes;
use colored::fs::File;
use colored::io::named;
use colored_tests::scratch::Scratch;
use colored_tests::soak;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use std::env;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// Says which error the system gives for the calls that are forbidden.
const FORBIDDEN: &str = "COLORED_TESTS_FORBIDDEN";

/// Says that the temporary directory is on a small file system.
const FULL: &str = "COLORED_TESTS_FULL";

/// A test that counts attempts which succeed.
const INLINE: &str = "inline::a_cached_read_is_one_poll_and_no_submission";

/// The arguments for the tests of files that hold with attempts or without. At home these are some of them: each system and
/// each setting takes as long as all tests of files do by themselves.
fn suite(with_attempts: bool) -> Vec<&'static str> {
    let mut arguments = vec!["--skip", "systems::"];
    if !with_attempts {
        arguments.extend(["--skip", "inline::"]);
    }
    if !soak::is_long() {
        arguments.extend(["identical::", "inline::"]);
    }
    arguments
}

fn this_binary() -> Command {
    Command::new(env::current_exe().expect("the path of this binary"))
}

/// Asserts that tests ran, and passed.
#[track_caller]
fn passed(place: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = said.lines().find_map(|line| line.strip_prefix("test result: ok. "));
    let count = passed.and_then(|line| line.split(' ').next()?.parse::<u32>().ok());
    let cried = String::from_utf8_lossy(&output.stderr);
    assert!(count.is_some_and(|count| count > 0), "{place}: {}\n{said}\n{cried}", output.status);
}

#[test]
fn without_attempts_by_the_environment() {
    let run = |arguments: &[&str]| {
        this_binary().args(arguments).env("COLORED_LAZY_FILES", "0").output().unwrap()
    };
    passed("COLORED_LAZY_FILES=0", &run(&suite(false)));
    // The variable has an effect.
    assert!(!run(&["--exact", INLINE]).status.success());
}

#[test]
fn without_io_uring_by_the_environment() {
    let run = this_binary().args(suite(true)).env("COLORED_IO_URING", "0").output().unwrap();
    passed("COLORED_IO_URING=0", &run);
}

#[test]
fn where_the_system_forbids_calls() {
    const EPERM: u32 = 1;
    const ENOSYS: u32 = 38;
    if !has_filters() {
        return println!("skipped: no filters of system calls for {}", env::consts::ARCH);
    }
    if let Ok(error) = env::var(FORBIDDEN) {
        forbid(error.parse().expect("a number"));
        let words = env::var("COLORED_TESTS_WORDS").expect("the arguments");
        let failed = this_binary().args(words.split(' ')).env_remove(FORBIDDEN).exec();
        panic!("this binary can be run again: {failed}");
    }
    for error in [EPERM, ENOSYS] {
        let run = |arguments: &[&str]| {
            this_binary()
                .args(["--exact", "systems::where_the_system_forbids_calls"])
                .env(FORBIDDEN, error.to_string())
                .env("COLORED_TESTS_WORDS", arguments.join(" "))
                .output()
                .unwrap()
        };
        passed(&format!("calls fail with error {error}"), &run(&suite(false)));
    }
}

/// Whether `seccompiler` has filters for this architecture.
pub(crate) fn has_filters() -> bool {
    TargetArch::try_from(env::consts::ARCH).is_ok()
}

/// Makes `openat2`, `io_uring_setup` and `statx` fail on this thread, and in what it executes.
fn forbid(error: u32) {
    const OPENAT2: i64 = 437;
    const IO_URING_SETUP: i64 = 425;
    #[cfg(target_arch = "x86_64")]
    const STATX: i64 = 332;
    #[cfg(not(target_arch = "x86_64"))]
    const STATX: i64 = 291;
    let calls = [OPENAT2, IO_URING_SETUP, STATX].map(|call| (call, Vec::new()));
    let filter = SeccompFilter::new(
        calls.into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(error),
        env::consts::ARCH.try_into().expect("an architecture with filters"),
    );
    let program: BpfProgram = filter.and_then(TryInto::try_into).expect("the filter is right");
    apply_filter(&program).expect("the system takes the filter");
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("this thread runs");
    assert!(status.contains("\nSeccomp:\t2\n"), "the filter has no effect: {status}");
}

/// A file system for tests.
struct Mount {
    /// As `stat -f` names it.
    name: &'static str,
    /// Lines for the shell that mount it at `$dir`; `$scratch` is an empty directory.
    lines: &'static str,
}

const TMPFS: Mount = Mount { name: "tmpfs", lines: "mount -t tmpfs none $dir" };
const OVERLAY: Mount = Mount {
    name: "overlayfs",
    lines: "mkdir $scratch/lower $scratch/upper $scratch/work
        mount -t overlay none $dir -o \
            lowerdir=$scratch/lower,upperdir=$scratch/upper,workdir=$scratch/work",
};
const SMALL_TMPFS: Mount = Mount { name: "tmpfs", lines: "mount -t tmpfs -o size=256k none $dir" };
impl Mount {
    /// Runs a program with its temporary directory on this file system; `None`, and a line, if that is
    /// not possible here.
    fn run(&self, program: &mut Command) -> Option<Output> {
        let scratch = Scratch::new();
        let mounted = format!(
            "set -e; scratch=$1; dir=$1/mounted; mkdir -p $dir; {}
            [ $(stat -f -c %T $dir) = {} ]; shift; TMPDIR=$dir exec \"$@\"",
            self.lines, self.name
        );
        let in_namespace = |program: &Command| {
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", &mounted, "sh"]).arg(scratch.path());
            command.arg(program.get_program()).args(program.get_args());
            command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command.output()
        };
        let is_possible = match in_namespace(&Command::new("true")) {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = is_possible {
            println!("skipped: no {} for tests here: {reason}", self.name);
            return None;
        }
        // The directories of the first mount are in the way of the second one.
        let _ = std::fs::remove_dir_all(scratch.path());
        std::fs::create_dir(scratch.path()).unwrap();
        Some(in_namespace(program).expect("it ran before"))
    }

    fn run_suite(&self) {
        if let Some(output) = self.run(this_binary().args(suite(true))) {
            passed(self.name, &output);
        }
    }
}

#[test]
fn on_tmpfs() {
    TMPFS.run_suite();
}

#[test]
fn on_overlayfs() {
    OVERLAY.run_suite();
}

#[test]
fn a_full_file_system_is_an_error_and_keeps_what_was_written() {
    if env::var(FULL).is_ok() {
        return in_all_modes(fill);
    }
    const THIS: &str = "systems::a_full_file_system_is_an_error_and_keeps_what_was_written";
    if let Some(output) = SMALL_TMPFS.run(this_binary().args(["--exact", THIS]).env(FULL, "1")) {
        passed(SMALL_TMPFS.name, &output);
    }
}

/// Writes more than the file system takes, then goes on with less.
async fn fill() {
    let scratch = Scratch::new();
    let path = scratch.join("large");
    let bytes: Vec<u8> = (0..3 << 20).map(|n: u32| (n >> 7) as u8).collect();
    let file = File::create(&path).await.unwrap();
    // In parts: of a large write the system may take nothing at all.
    let mut written = 0;
    let error = loop {
        assert!(written < bytes.len(), "the file system is not full");
        let part = &bytes[written..bytes.len().min(written + (64 << 10))];
        match named(file.write_at(part, written as u64)).await {
            Ok(n) => written += n,
            Err(error) => break error,
        }
    };
    assert!(written > 0);
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    let text = error.to_string();
    assert!(text.starts_with("cannot write to ") && text.contains("large"), "{text}");
    drop(file);
    // What was confirmed is there.
    assert!(colored::fs::read(&path).await.unwrap() == bytes[..written]);
    let error = colored::fs::write(scratch.join("other"), &bytes).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    colored::fs::remove_file(scratch.join("other")).await.unwrap();
    colored::fs::remove_file(&path).await.unwrap();
    colored::fs::write(&path, b"small").await.unwrap();
    assert_eq!(colored::fs::read(&path).await.unwrap(), b"small");
}

#[test]
fn an_error_of_the_device_names_the_operation_and_the_path() {
    in_all_modes(async || {
        const EIO: i32 = 5;
        // No process has memory at address 0, and its file says so as a broken disk does.
        let file = File::open("/proc/self/mem").await.unwrap();
        let error = named(file.read_at(&mut [0; 8], 0)).await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(EIO), "{error:?}");
        assert!(error.to_string().starts_with("cannot read /proc/self/mem: "), "{error}");
        // The color, the worker and its threads go on.
        assert!(!colored::fs::read("/proc/self/stat").await.unwrap().is_empty());
    });
}
