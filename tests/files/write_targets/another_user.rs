//! Targets as a user sees them who may not do everything.

use super::How::{InPlace, Made, NotReplaced, Refused, Replaced};
use super::{Row, Set, Writer, compare, is_child, old, perform_in};
use std::fs::{Permissions, create_dir, set_permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Nobody has this number.
const USER: u32 = 61_234;

const ROWS: &[Row] = &[
    Row {
        name: "an own file",
        how: Replaced,
        set_up: |dir| file(dir, (USER, 0o644), (USER, 0o755)),
    },
    Row {
        name: "no file",
        how: Made,
        set_up: |dir| owned(dir, USER, 0o755).map(|()| Set::at(dir.join("file"))),
    },
    Row {
        name: "an own file for reading",
        how: Refused,
        set_up: |dir| file(dir, (USER, 0o444), (USER, 0o755)),
    },
    Row {
        name: "an own file for nothing",
        how: Refused,
        set_up: |dir| file(dir, (USER, 0), (USER, 0o755)),
    },
    Row {
        name: "an own file for writing only",
        how: Replaced,
        set_up: |dir| file(dir, (USER, 0o200), (USER, 0o755)),
    },
    Row {
        name: "somebody's file",
        how: Refused,
        set_up: |dir| file(dir, (0, 0o644), (USER, 0o755)),
    },
    Row {
        name: "somebody's file that all may write",
        how: InPlace,
        set_up: |dir| file(dir, (0, 0o666), (USER, 0o755)),
    },
    Row {
        name: "an own file with somebody's group",
        how: InPlace,
        set_up: |dir| {
            let set = file(dir, (USER, 0o664), (USER, 0o755))?;
            chown(&set.path, None, Some(0))?;
            Ok(set)
        },
    },
    Row {
        name: "an own file in somebody's directory",
        how: InPlace,
        set_up: |dir| file(dir, (USER, 0o644), (0, 0o755)),
    },
    Row {
        name: "an own file in a directory that cannot be listed",
        how: Replaced,
        set_up: |dir| file(dir, (USER, 0o644), (0, 0o733)),
    },
    Row {
        name: "an own file in a directory that cannot be entered",
        how: Refused,
        set_up: |dir| file(dir, (USER, 0o644), (0, 0o766)),
    },
    Row {
        name: "no file in somebody's directory",
        how: Refused,
        set_up: |dir| owned(dir, 0, 0o755).map(|()| Set::at(dir.join("file"))),
    },
    Row {
        name: "an own file in a sticky directory",
        how: Replaced,
        set_up: |dir| file(dir, (USER, 0o644), (0, 0o1777)),
    },
    Row {
        name: "somebody's file in a sticky directory",
        how: NotReplaced,
        set_up: |dir| file(dir, (0, 0o666), (0, 0o1755 | 0o22)),
    },
    Row {
        name: "somebody's file through an own link in a sticky directory",
        how: InPlace,
        set_up: |dir| {
            create_dir(dir.join("inner"))?;
            let set = file(&dir.join("inner"), (0, 0o666), (0, 0o755))?;
            symlink(&set.path, dir.join("link"))?;
            lchown(dir.join("link"), Some(USER), Some(USER))?;
            owned(dir, 0, 0o1777)?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "somebody's link to nothing in a sticky directory",
        how: NotReplaced,
        set_up: |dir| {
            create_dir(dir.join("inner"))?;
            owned(&dir.join("inner"), USER, 0o755)?;
            symlink("inner/file", dir.join("link"))?;
            lchown(dir.join("link"), Some(USER + 1), Some(USER + 1))?;
            owned(dir, 0, 0o1777)?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "a link to nothing in somebody's directory",
        how: Refused,
        set_up: |dir| {
            create_dir(dir.join("inner"))?;
            symlink("inner/file", dir.join("link"))?;
            owned(dir, USER, 0o755)?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "an own file behind a link in somebody's directory",
        how: Replaced,
        set_up: |dir| {
            create_dir(dir.join("inner"))?;
            let set = file(&dir.join("inner"), (USER, 0o600), (USER, 0o700))?;
            symlink(&set.path, dir.join("link"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "a file of somebody's process",
        how: Refused,
        set_up: |_| Ok(Set::at("/proc/1/oom_score_adj")),
    },
    Row {
        name: "a setting of the system",
        how: Refused,
        set_up: |_| Ok(Set::at("/proc/sys/kernel/hostname")),
    },
];

fn owned(path: &Path, user: u32, mode: u32) -> io::Result<()> {
    chown(path, Some(user), Some(user))?;
    set_permissions(path, Permissions::from_mode(mode))
}

/// A file and its directory, each with owner and permissions.
fn file(dir: &Path, file: (u32, u32), directory: (u32, u32)) -> io::Result<Set> {
    let path = old(dir.join("file"))?;
    owned(&path, file.0, file.1)?;
    owned(dir, directory.0, directory.1)?;
    Ok(Set::at(path))
}

fn perform(jobs: &[(Writer, PathBuf)], _: &str) -> Option<Vec<String>> {
    // By this name every user finds the binary, wherever it is.
    let mut command = Command::new("/proc/self/exe");
    command.uid(USER).gid(USER);
    let test = "another_user::targets_are_written_as_by_the_standard_library";
    Some(perform_in(&mut command, test, jobs))
}

/// Shows G13.
#[test]
fn targets_are_written_as_by_the_standard_library() {
    if is_child() {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can be another user");
        return;
    }
    compare(ROWS, perform);
}
