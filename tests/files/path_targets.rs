//! The operations on paths beside those of `std::fs`, on targets of every kind.
//!
//! Each operation runs on a target in a directory of its own; afterwards results and directories must be equal.

use super::in_all_modes;
use super::seen::{said, seen};
use colored_tests::run;
use colored_tests::scratch::Scratch;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::env;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a target in a directory.
type Make = fn(&Path) -> PathBuf;

const TARGETS: &[(&str, Make)] = &[
    ("a file", |dir| file(dir.join("file"), "text")),
    ("a file that is no text", |dir| file(dir.join("file"), b"a\xff")),
    ("a file with two names", |dir| {
        fs::hard_link(file(dir.join("file"), "text"), dir.join("second")).unwrap();
        dir.join("file")
    }),
    ("a file with special permissions", |dir| {
        let path = file(dir.join("file"), "text");
        fs::set_permissions(&path, Permissions::from_mode(0o6711)).unwrap();
        path
    }),
    ("nothing", |dir| dir.join("file")),
    ("nothing in nothing", |dir| dir.join("no/file")),
    ("a name of 255 bytes", |dir| file(dir.join("n".repeat(255)), "text")),
    ("a name of 256 bytes", |dir| dir.join("n".repeat(256))),
    ("a path of 5,000 bytes", |dir| dir.join("./".repeat(2500))),
    ("an empty path", |_| "".into()),
    ("a NUL byte", |dir| dir.join("a\0b")),
    ("a file and a slash", |dir| slash(file(dir.join("file"), "text"))),
    ("nothing and a slash", |dir| slash(dir.join("file"))),
    ("a file for a directory", |dir| file(dir.join("file"), "text").join("inner")),
    ("an empty directory", |dir| directory(dir.join("directory"))),
    ("an empty directory and a slash", |dir| slash(directory(dir.join("directory")))),
    ("an empty directory and a dot", |dir| slash(directory(dir.join("directory"))).join(".")),
    ("a directory with a link out of it", |dir| {
        let inner = directory(dir.join("directory"));
        symlink(file(dir.join("kept"), "kept"), inner.join("link")).unwrap();
        file(directory(inner.join("deep")).join("file"), "text");
        inner
    }),
    ("a link to a file", |dir| link(dir, &file(dir.join("file"), "text"))),
    ("a link to a file and a slash", |dir| slash(link(dir, &file(dir.join("file"), "text")))),
    ("a link to a directory", |dir| link(dir, &directory(dir.join("directory")))),
    ("a link to a directory and a slash", |dir| {
        slash(link(dir, &directory(dir.join("directory"))))
    }),
    ("a link to nothing", |dir| link(dir, Path::new("file"))),
    ("a link to itself", |dir| link(dir, Path::new("link"))),
    ("a file that nobody may read", |dir| {
        let path = file(dir.join("file"), "text");
        fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
        path
    }),
    ("nothing in a directory that nobody may enter", |dir| {
        let path = directory(dir.join("directory"));
        fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        path.join("file")
    }),
    ("a pipe", |dir| {
        mknodat(CWD, dir.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        dir.join("pipe")
    }),
    ("a socket", |dir| {
        UnixListener::bind(dir.join("socket")).unwrap();
        dir.join("socket")
    }),
    ("/dev/null", |_| "/dev/null".into()),
    ("/proc, a file", |_| "/proc/version".into()),
    ("/proc, a file of text with NUL bytes", |_| "/proc/self/cmdline".into()),
    ("/proc, a link to a file", |_| "/proc/self/ns/mnt".into()),
    ("/proc, a link to a directory", |_| "/proc/self/cwd".into()),
    ("/proc, no file", |_| "/proc/self/no".into()),
    ("/sys, a file", |_| "/sys/devices/system/cpu/possible".into()),
];

fn file(path: PathBuf, bytes: impl AsRef<[u8]>) -> PathBuf {
    fs::write(&path, bytes).unwrap();
    path
}

fn directory(path: PathBuf) -> PathBuf {
    fs::create_dir(&path).unwrap();
    path
}

fn link(dir: &Path, to: &Path) -> PathBuf {
    symlink(to, dir.join("link")).unwrap();
    dir.join("link")
}

fn slash(path: PathBuf) -> PathBuf {
    let mut path = path.into_os_string();
    path.push("/");
    path.into()
}

/// What is equal of the metadata of two files that were made in the same way.
fn told(found: &fs::Metadata) -> String {
    let kind = found.file_type();
    let special = (kind.is_fifo(), kind.is_socket(), kind.is_char_device(), kind.is_symlink());
    // A link may lead to a directory whose name is longer.
    let len = if kind.is_file() { found.len() } else { 0 };
    format!("{:o} {len} {special:?} {}", found.mode(), found.nlink())
}

/// The result of an operation, without the name of its directory.
fn result<T>(dir: &Path, result: io::Result<T>, show: impl FnOnce(T) -> String) -> String {
    match result {
        Ok(value) => show(value).replace(&dir.display().to_string(), "TOP"),
        Err(error) => said::<()>(Err(error)),
    }
}

/// Makes of each operation one of `std::fs` and one of `colored::fs`.
macro_rules! operations {
    ($($name:literal ($dir:ident, $path:ident) $use:ident: $call:expr => $show:expr;)*) => {
        const OPERATIONS: &[(&str, Use)] = &[$(($name, Use::$use)),*];

        fn of_std(name: &str, dir: &Path, path: &Path) -> String {
            use std::fs;
            use std::os::unix::fs::symlink;
            match name {
                $($name => { let ($dir, $path) = (dir, path); result(dir, $call, $show) })*
                _ => unreachable!("{name}"),
            }
        }

        async fn of_colored(name: &str, dir: &Path, path: &Path) -> String {
            use colored::fs::{self, symlink};
            match name {
                $($name => { let ($dir, $path) = (dir, path); result(dir, $call.await, $show) })*
                _ => unreachable!("{name}"),
            }
        }
    };
}

/// Where an operation can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Everywhere.
    Looks,
    /// Not on a pipe, where it waits for the other end.
    Opens,
    /// Only inside the directory.
    Changes,
    /// Not on a pipe, and only inside the directory.
    Writes,
}

operations! {
    "metadata" (_dir, path) Looks: fs::metadata(path) => |found| told(&found);
    "symlink_metadata" (_dir, path) Looks: fs::symlink_metadata(path) => |found| told(&found);
    "canonicalize" (_dir, path) Looks: fs::canonicalize(path) => |path| path.display().to_string();
    "read_link" (_dir, path) Looks: fs::read_link(path) => |path| path.display().to_string();
    "read_dir" (_dir, path) Looks: fs::read_dir(path) => |_| "listed".into();
    "read" (_dir, path) Opens: fs::read(path) => |bytes| format!("{bytes:?}");
    "read_to_string" (_dir, path) Opens: fs::read_to_string(path) => |text| text;
    "File::open" (_dir, path) Opens: fs::File::open(path) => |_| "open".into();
    "File::create" (_dir, path) Writes: fs::File::create(path) => |_| "open".into();
    "write" (_dir, path) Writes: fs::write(path, "0\n") => |()| "written".into();
    "remove_file" (_dir, path) Changes: fs::remove_file(path) => |()| "gone".into();
    "remove_dir" (_dir, path) Changes: fs::remove_dir(path) => |()| "gone".into();
    "remove_dir_all" (_dir, path) Changes: fs::remove_dir_all(path) => |()| "gone".into();
    "create_dir" (_dir, path) Changes: fs::create_dir(path) => |()| "made".into();
    "create_dir_all" (_dir, path) Changes: fs::create_dir_all(path) => |()| "made".into();
    "set_permissions" (_dir, path) Changes: fs::set_permissions(path, Permissions::from_mode(0o705)) => |()| "set".into();
    "rename" (dir, path) Changes: fs::rename(path, dir.join("new")) => |()| "renamed".into();
    "rename a file to it" (dir, path) Changes: fs::rename(dir.join("source"), path) => |()| "renamed".into();
    "rename a directory to it" (dir, path) Changes: fs::rename(dir.join("folder"), path) => |()| "renamed".into();
    "rename to itself" (_dir, path) Changes: fs::rename(path, path) => |()| "renamed".into();
    "copy" (dir, path) Opens: fs::copy(path, dir.join("copy")) => |n| n.to_string();
    "copy a file to it" (dir, path) Writes: fs::copy(dir.join("source"), path) => |n| n.to_string();
    "copy to itself" (_dir, path) Writes: fs::copy(path, path) => |n| n.to_string();
    "hard_link" (dir, path) Changes: fs::hard_link(path, dir.join("new")) => |()| "linked".into();
    "hard_link at it" (dir, path) Changes: fs::hard_link(dir.join("source"), path) => |()| "linked".into();
    "symlink at it" (_dir, path) Changes: symlink("source", path) => |()| "linked".into();
}

/// The operations that can be tried on a target, of those that change something or of the others.
fn possible(target: &str, change: bool) -> impl Iterator<Item = &'static str> {
    let (is_inside, is_pipe) = (!target.starts_with('/'), target == "a pipe");
    let possible = OPERATIONS.iter().filter(move |(_, of)| match of {
        Use::Looks => !change,
        Use::Opens => !change && !is_pipe,
        Use::Changes => change && is_inside,
        Use::Writes => change && is_inside && !is_pipe,
    });
    possible.map(|(operation, _)| *operation)
}

/// A directory with a target, and with things for the operations.
fn prepared(parent: &Path, make: Make) -> (Scratch, PathBuf) {
    let scratch = Scratch::within(parent);
    scratch.file("source", "source");
    directory(scratch.join("folder"));
    let path = make(scratch.path());
    (scratch, path)
}

/// Shows G13.
#[test]
fn each_look_has_the_result_of_the_standard_library() {
    in_all_modes(|| async {
        let mut faults = Vec::new();
        for (target, make) in TARGETS {
            let (scratch, path) = prepared(&env::temp_dir(), *make);
            for operation in possible(target, false) {
                let wanted = of_std(operation, scratch.path(), &path);
                // Only root overwrites the copy of a file that is for reading.
                let _ = fs::remove_file(scratch.join("copy"));
                let found = of_colored(operation, scratch.path(), &path).await;
                let _ = fs::remove_file(scratch.join("copy"));
                if found != wanted {
                    faults.push(format!("{operation} of {target}: {found} in place of {wanted}"));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    });
}

/// Shows G13.
#[test]
fn each_change_has_the_result_and_the_effect_of_the_standard_library() {
    run(1, async {
        // A thousand directories are made, for which some disks take seconds.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory } else { &env::temp_dir() };
        let mut faults = Vec::new();
        for (target, make) in TARGETS {
            for operation in possible(target, true) {
                let (scratch, path) = prepared(parent, *make);
                let result = of_std(operation, scratch.path(), &path);
                let wanted = format!("{result}\n{}", seen(scratch.path(), &path));
                let (scratch, path) = prepared(parent, *make);
                let result = of_colored(operation, scratch.path(), &path).await;
                let found = format!("{result}\n{}", seen(scratch.path(), &path));
                if found != wanted {
                    faults.push(format!("{operation} of {target}: {found}\nin place of {wanted}"));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    });
}

#[test]
fn what_exists_exists() {
    in_all_modes(|| async {
        for (target, make) in TARGETS {
            let (_scratch, path) = prepared(&env::temp_dir(), *make);
            let (ours, wanted) = (colored::fs::try_exists(&path).await, fs::exists(&path));
            assert_eq!(ours.as_ref().ok(), wanted.as_ref().ok(), "{target}");
            assert_eq!(said(ours), said(wanted), "{target}");
        }
    });
}

/// The other tests of this file, as a user who may not do everything.
#[test]
fn so_they_have_for_another_user() {
    const USER: u32 = 61_234;
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can be another user");
        return;
    }
    let scratch = Scratch::new();
    chown(scratch.path(), Some(USER), Some(USER)).unwrap();
    // By this name every user finds the binary, wherever it is.
    let mut command = Command::new("/proc/self/exe");
    command.args(["path_targets::", "--skip", "another_user"]);
    let output = command.env("TMPDIR", scratch.path()).uid(USER).gid(USER).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("ok. 3 passed"), "{said}\n{output:?}");
}
