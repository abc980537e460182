//! All kinds of files, each beside its twin that the standard library has.
//!
//! A row names a kind of file, how the twins of it are made, and which operations it can be asked for. Random
//! operations then have equal results: bytes, positions, and kinds of errors.

mod make;
mod operations;

use self::make::{Side, Target};
use self::operations::{Operation, Outcome};
use super::in_all_modes;
use colored::fs::{File, OpenOptions};
use colored_tests::child;
use colored_tests::scratch::Scratch;
use fastrand::Rng;
use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Uid, chownat};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How the twins are opened: as one of a few letters, and flags of the system.
#[derive(Clone, Copy, Debug)]
struct How {
    letters: &'static str,
    flags: i32,
}

impl How {
    const fn new(letters: &'static str) -> Self {
        Self { letters, flags: 0 }
    }

    fn with(self, flags: OFlags) -> Self {
        Self { flags: flags.bits().cast_signed(), ..self }
    }

    fn has(self, letter: char) -> bool {
        self.letters.contains(letter)
    }

    fn std(self) -> std::fs::OpenOptions {
        let mut options = std::fs::File::options();
        options.read(self.has('r')).write(self.has('w')).append(self.has('a'));
        options.create(self.has('c')).create_new(self.has('n')).truncate(self.has('t'));
        options.custom_flags(self.flags);
        options
    }

    fn ours(self) -> OpenOptions {
        let mut options = File::options();
        options.read(self.has('r')).write(self.has('w')).append(self.has('a'));
        options.create(self.has('c')).create_new(self.has('n')).truncate(self.has('t'));
        if self.flags != 0 {
            options.custom_flags(self.flags);
        }
        options
    }
}

/// Operates on a pair of twins.
async fn compare(target: &Target, seed: u64) {
    let scratch = Scratch::new();
    let Some((mut of_std, mut of_ours)) = target.twins(&scratch) else { return };
    let mut random = Rng::with_seed(seed);
    let (std, ours) = match (of_std.file.take(), of_ours.file.take()) {
        (Some(std), Some(ours)) => (std, File::from_std(ours).unwrap()),
        _ => {
            let std = target.how.std().open(&of_std.path);
            let ours = target.how.ours().open(&of_ours.path).await;
            match (std, ours) {
                (Ok(std), Ok(ours)) => (std, ours),
                (std, ours) => {
                    let kinds = (std.map_err(|e| e.kind()).err(), ours.map_err(|e| e.kind()).err());
                    assert_eq!(kinds.0, kinds.1, "{}: opening", target.name);
                    // Some are root's alone.
                    let is_refused = kinds.0 == Some(std::io::ErrorKind::PermissionDenied);
                    let is_expected = is_refused || target.operations.is_empty();
                    assert!(is_expected, "{}: {kinds:?}", target.name);
                    return;
                }
            }
        }
    };
    let mut twins = (std, ours);
    let mut trace = Vec::new();
    for _ in 0..25 {
        if target.operations.is_empty() {
            break;
        }
        let operation = Operation::random(&mut random, target);
        if operation.is_read() && !make::has_input(&twins.0, target) {
            continue;
        }
        let wanted = operation.of_std(&mut twins.0, &of_std, target);
        let found = operation.of_ours(&mut twins.1, &of_ours, target).await;
        trace.push(format!("{operation:?}: {}", wanted.short()));
        let is_same = match target.is_random {
            true => wanted.len() == found.len(),
            false => wanted == found,
        };
        assert!(
            is_same,
            "{}, seed {seed}: {operation:?} is {} of std and {} of ours, after {trace:#?}",
            target.name,
            wanted.short(),
            found.short()
        );
    }
    if target.has_contents
        && let Ok(wanted) = std::fs::read(&of_std.path)
    {
        assert!(wanted == std::fs::read(&of_ours.path).unwrap(), "{}: the contents", target.name);
    }
    check_end(target, twins, &of_std).await;
}

/// A file that is given back is where its twin is.
async fn check_end(target: &Target, (std, ours): (std::fs::File, File), of_std: &Side) {
    let mut twins = (std, ours.into_std().await.unwrap());
    if target.operations.contains('p') {
        let positions =
            [&mut twins.0, &mut twins.1].map(|of| Operation::Position.of_std(of, of_std, target));
        assert_eq!(positions[0].short(), positions[1].short(), "{}: the position", target.name);
    }
}

/// The rows of a table, in all modes.
fn compare_all(rows: fn() -> Vec<Target>) {
    in_all_modes(move || async move {
        for target in rows() {
            for seed in 0..2 {
                compare(&target, seed).await;
            }
        }
    });
}

/// Shows G13.
#[test]
fn files_on_disks_and_in_memory_are_as_those_of_std() {
    compare_all(make::on_disks);
}

/// Shows G13.
#[test]
fn mounted_files_are_as_those_of_std() {
    let line = "unshare --mount true 2>/dev/null && exec unshare --mount \"$0\" \"$@\"";
    child::run_after(line, module_path!(), "mounted_files_are_as_those_of_std", || {
        compare_all(make::mounted);
    });
}

/// Shows G13.
#[test]
fn files_that_the_system_makes_are_as_those_of_std() {
    compare_all(make::of_the_system);
}

/// Shows G13.
#[test]
fn devices_and_terminals_are_as_those_of_std() {
    compare_all(make::devices);
}

/// Shows G13.
#[test]
fn pipes_and_sockets_are_as_those_of_std() {
    compare_all(make::streams);
}

/// Shows G13.
#[test]
fn what_cannot_be_opened_has_the_error_of_std() {
    compare_all(make::refused);
}

/// Root may do everything: the twins are opened as somebody else.
/// Shows G13.
#[test]
fn files_of_somebody_else_are_as_those_of_std() {
    child::run(module_path!(), "files_of_somebody_else_are_as_those_of_std", || {
        let scratch = Scratch::new();
        for (name, mode) in [("read", 0o444), ("none", 0o400)] {
            let path = scratch.file(name, "bytes of root");
            rustix::fs::chmod(&path, Mode::from_raw_mode(mode)).unwrap();
        }
        let here = scratch.path().to_owned();
        rustix::fs::chmod(&here, Mode::from_raw_mode(0o755)).unwrap();
        let nobody = (Uid::from_raw(65534), Gid::from_raw(65534));
        if rustix::process::geteuid().is_root() {
            // Of this thread, and so of those that it makes.
            rustix::thread::set_thread_res_gid(nobody.1, nobody.1, nobody.1).unwrap();
            rustix::thread::set_thread_res_uid(nobody.0, nobody.0, nobody.0).unwrap();
        }
        let (read, none) = (here.join("read"), here.join("none"));
        let new = here.join("new");
        let is_foreign = chownat(CWD, &read, Some(nobody.0), None, AtFlags::empty()).is_err();
        in_all_modes(move || {
            let (read, none, new) = (read.clone(), none.clone(), new.clone());
            async move {
                for (path, letters) in [
                    (&read, "r"),
                    (&read, "w"),
                    (&read, "a"),
                    (&read, "rwct"),
                    (&none, "r"),
                    (&none, "w"),
                    (&new, "wc"),
                    (&new, "wn"),
                ] {
                    same_opening(path, How::new(letters), is_foreign).await;
                }
            }
        });
    });
}

/// Opens a file twice, reads it twice, and writes to it twice.
async fn same_opening(path: &Path, how: How, is_foreign: bool) {
    let (std, ours) = (how.std().open(path), how.ours().open(path).await);
    let kinds = (std.as_ref().err().map(|e| e.kind()), ours.as_ref().err().map(|e| e.kind()));
    assert_eq!(kinds.0, kinds.1, "{path:?} {how:?}");
    if is_foreign && how.letters != "r" {
        assert!(kinds.0.is_some(), "{path:?} {how:?}: nobody may do that");
    }
    if let (Ok(mut std), Ok(mut ours)) = (std, ours) {
        let row = Target::row("of somebody else", how, "rw");
        let side = Side::at(path);
        for operation in [Operation::Read(5), Operation::Write(vec![1, 2])] {
            let wanted: Outcome = operation.of_std(&mut std, &side, &row);
            let found = operation.of_ours(&mut ours, &side, &row).await;
            assert_eq!(wanted.short(), found.short(), "{path:?} {how:?} {operation:?}");
        }
    }
}
