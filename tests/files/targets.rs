//! All kinds of files, each beside its twin that the standard library has.
//!
//! A row names a kind of file, how the twins of it are made, and which operations it can be asked for. Random
//! operations then have equal results: bytes, positions, and kinds of errors.

mod make;
mod operations;

use self::make::{Side, Target};
use self::operations::Operation;
use super::in_all_modes;
use colored::fs::{File, OpenOptions};
use colored_tests::scratch::Scratch;
use fastrand::Rng;
use rustix::fs::OFlags;
use std::os::unix::fs::OpenOptionsExt;

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
