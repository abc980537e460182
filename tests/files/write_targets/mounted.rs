//! Files that others are mounted on, and mounts with options.

use super::How::{InPlace, Refused, Replaced};
use super::{Row, Set, Writer, compare, is_child, old, perform_in};
use colored_tests::scratch::Scratch;
use std::env;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

const ROWS: &[Row] = &[
    Row {
        name: "a file that another one is mounted on",
        how: InPlace,
        set_up: |dir| {
            let (from, to) = (old(dir.join("mounted"))?, old(dir.join("file"))?);
            let mount = format!("mount --bind {} {}", from.display(), to.display());
            Ok(Set::at(to).mounted(mount))
        },
    },
    Row {
        name: "a link to a file that another one is mounted on",
        how: InPlace,
        set_up: |dir| {
            let (from, to) = (old(dir.join("mounted"))?, old(dir.join("file"))?);
            symlink("file", dir.join("link"))?;
            let mount = format!("mount --bind {} {}", from.display(), to.display());
            Ok(Set::at(dir.join("link")).mounted(mount))
        },
    },
    Row {
        name: "a mounted directory",
        how: Replaced,
        set_up: |dir| {
            let mount = format!("mount --bind {0} {0}", dir.display());
            Ok(Set::at(old(dir.join("file"))?).mounted(mount))
        },
    },
    Row {
        name: "a mount for reading",
        how: Refused,
        set_up: |dir| {
            let mount =
                format!("mount --bind {0} {0}; mount -o remount,bind,ro {0}", dir.display());
            Ok(Set::at(old(dir.join("file"))?).mounted(mount))
        },
    },
    Row {
        name: "no file on a mount for reading",
        how: Refused,
        set_up: |dir| {
            let mount =
                format!("mount --bind {0} {0}; mount -o remount,bind,ro {0}", dir.display());
            Ok(Set::at(dir.join("file")).mounted(mount))
        },
    },
    Row {
        name: "a file that can be written, on a mount for reading",
        how: InPlace,
        set_up: |dir| {
            let (from, to) = (old(dir.join("mounted"))?, old(dir.join("file"))?);
            let mount = format!(
                "mount --bind {0} {0}; mount --bind {1} {2}; mount -o remount,bind,ro {0}",
                dir.display(),
                from.display(),
                to.display()
            );
            Ok(Set::at(to).mounted(mount))
        },
    },
];

fn perform(jobs: &[(Writer, PathBuf)], mounts: &str) -> Option<Vec<String>> {
    let mut command = after_mounts(mounts, "exec \"$0\" \"$@\"")?;
    let test = "mounted::targets_are_written_as_by_the_standard_library";
    Some(perform_in(&mut command, test, jobs))
}

/// Runs this binary by lines for the shell, after others that mount something; `None`, and a line, if the system does not allow that.
fn after_mounts(mounts: &str, lines: &str) -> Option<Command> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-e", "-c", script]);
        command
    };
    let output = unshare(mounts).output();
    if !output.as_ref().is_ok_and(|output| output.status.success()) {
        println!("skipped: no mounts for tests here: {output:?}");
        return None;
    }
    let mut command = unshare(&format!("{mounts}\n{lines}"));
    command.arg(env::current_exe().expect("the path of this binary"));
    Some(command)
}

/// Shows G13.
#[test]
fn targets_are_written_as_by_the_standard_library() {
    if !is_child() {
        compare(ROWS, perform);
    }
}

/// The standard library would write here. But then a file that does not fit would be lost.
/// Shows G13.
#[test]
fn where_there_is_no_room_for_two_files_the_old_one_stays() {
    if is_child() {
        return;
    }
    let scratch = Scratch::new();
    let dir = scratch.path().display();
    let mounts = format!(
        "mount -t tmpfs -o size=8k none {dir}
        cd {dir}; printf old >file; head -c 4096 /dev/zero >other"
    );
    let check = "\"$0\" \"$@\"; [ $(cat file) = old ]; [ $(ls -A | wc -l) = 2 ]";
    let Some(mut command) = after_mounts(&mounts, check) else { return };
    let test = "mounted::where_there_is_no_room_for_two_files_the_old_one_stays";
    let job = (Writer::Replacing, scratch.join("file"));
    assert_eq!(perform_in(&mut command, test, &[job]), ["StorageFull, Some(28)"]);
}
