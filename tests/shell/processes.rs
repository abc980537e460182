//! Child processes.

use colored::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, named_call};
use colored::process::{Command, Stdio};
use colored::time::{Duration, timeout};
use colored::{Runtime, spawn_unique};
use colored_tests::{child, run, shared, wait_until};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, test_kill_process, wait};
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;

fn exists(id: u32) -> bool {
    let pid = Pid::from_raw(id.try_into().unwrap()).unwrap();
    test_kill_process(pid).is_ok()
}

#[test]
fn output_and_status_are_those_of_the_program() {
    run(1, async {
        let output = Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).output();
        let output = output.await.unwrap();
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(3));
        // There is no input, so a program that waits for its end ends.
        assert!(Command::new("cat").output().await.unwrap().stdout.is_empty());
        let mut command = Command::new("sh");
        command.args(["-c", "test $COLOR = red && test $PWD = /"]).env("COLOR", "red");
        assert!(command.current_dir("/").status().await.unwrap().success());
        let error = named_call(|| Command::new("/no/such/program").spawn()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let of_std = std::process::Command::new("/no/such/program").spawn().unwrap_err();
        assert_eq!(error.raw_os_error(), of_std.raw_os_error());
        assert!(error.to_string().starts_with("cannot start /no/such/program: "), "{error}");
    });
}

/// More than the pipes hold goes through a program, both ways at once.
#[test]
fn bytes_go_through_a_program_piecemeal() {
    run(1, async {
        let mut command = Command::new("cat");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let bytes: Vec<_> = (0..1_000_000_u32).map(|i| (i * 7 + i / 251) as u8).collect();
        let sent = bytes.clone();
        let writer = spawn_unique(async move { to.write_all(&sent).await });
        let mut all = Vec::new();
        from.read_to_end(&mut all).await.unwrap();
        writer.await.unwrap().unwrap();
        assert!(all == bytes);
        assert!(child.wait().await.unwrap().success());
        assert!(child.wait().await.unwrap().success(), "again");
        assert_eq!(child.id(), None);
    });
}

#[test]
fn lines_come_while_the_program_runs() {
    run(1, async {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; read x; echo $x"]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "one");
        assert_eq!(child.try_wait().unwrap(), None);
        child.stdin.as_mut().unwrap().write_all(b"two\n").await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "two");
        assert_eq!(lines.next_line().await.unwrap(), None);
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn a_killed_program_has_ended_and_a_dropped_one_only_if_asked_for() {
    run(2, async {
        let sleeper = |kills: bool| {
            let mut command = Command::new("sleep");
            command.arg("1000").kill_on_drop(kills).spawn().unwrap()
        };
        let mut killed = sleeper(false);
        let id = killed.id().unwrap();
        let early = timeout(Duration::from_millis(20), killed.wait()).await;
        assert!(early.is_err(), "a dropped wait changes nothing");
        killed.kill().await.unwrap();
        assert_eq!(killed.wait().await.unwrap().signal(), Some(9));
        killed.kill().await.unwrap();
        assert!(!exists(id));
        let child = sleeper(true);
        let id = child.id().unwrap();
        drop(child);
        wait_until(|| !exists(id));
        let child = sleeper(false);
        let id = child.id().unwrap();
        drop(child);
        colored::time::sleep(Duration::from_millis(20)).await;
        assert!(exists(id));
        let pid = Pid::from_raw(id.try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        // A task waits for it: no zombie stays.
        wait_until(|| !exists(id));
    });
}

/// A group of its own gets one signal for all of its programs.
#[test]
fn a_child_leads_a_group_and_has_the_name_that_was_given() {
    run(1, async {
        let mut command = Command::new("sh");
        // Both the shell and what it starts write into the pipe, which ends when both have ended.
        command.args(["-c", "echo $0; sleep 1000"]).arg0("other").stdout(Stdio::piped());
        assert!(!command.get_kill_on_drop());
        let mut child = command.process_group(0).kill_on_drop(true).spawn().unwrap();
        assert!(command.get_kill_on_drop());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "other");
        let group = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
        assert_eq!(rustix::process::getpgid(Some(group)).unwrap(), group);
        assert_ne!(rustix::process::getpgid(None).unwrap(), group);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        assert_eq!(lines.next_line().await.unwrap(), None);
        assert_eq!(child.wait().await.unwrap().signal(), Some(9));
        assert_eq!(command.into_std().get_program(), "sh");
    });
}

/// The users and groups that this process may choose without being root: its own.
#[test]
fn a_child_runs_as_the_user_that_was_given() {
    run(1, async {
        use rustix::process::{getgid, getuid};
        let mut command = Command::new("sh");
        command.args(["-c", "id -u; id -g"]).uid(getuid().as_raw());
        // Changing to one's own group is allowed to all.
        let output = command.gid(getgid().as_raw()).output().await.unwrap();
        let text = format!("{}\n{}\n", getuid().as_raw(), getgid().as_raw());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    });
}

/// No handler of signals, no thread for each, and no zombie.
#[test]
fn five_hundred_children_at_once_leave_no_zombie() {
    child::run(module_path!(), "five_hundred_children_at_once_leave_no_zombie", || {
        shared(|| {
            let runtime = Runtime::builder().workers(2).build().unwrap();
            runtime.run(async {
                let mut children = Vec::new();
                for i in 0..500 {
                    let mut command = Command::new("sh");
                    let child = command.args(["-c", &format!("exit {}", i % 50)]).spawn().unwrap();
                    // Of each third one nobody wants to know.
                    if i % 3 > 0 {
                        children.push((i % 50, child));
                    }
                }
                for (code, mut child) in children {
                    assert_eq!(child.wait().await.unwrap().code(), Some(code));
                }
            });
            wait_until(|| matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD)));
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
            assert_eq!(caught >> 16 & 1, 0, "SIGCHLD has no handler");
        });
    });
}
