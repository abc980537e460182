//! Names of new files: what is left by others, and what is in the way.

use super::target::Target;
use super::{Outcome, Start, attempt, replace};
use crate::fs::replace::{Refusal, temporary_name};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// A directory that is gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("colored-replace-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Place(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("file")
    }

    /// The name of the new file with a number.
    fn temporary(&self, number: u32) -> PathBuf {
        self.0.join(temporary_name(b"file", number))
    }

    fn entries(&self) -> usize {
        fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A way to replace a file.
type Way = fn(&Path, &[u8]) -> Result<Outcome, Refusal>;

const WAYS: [(&str, Way); 3] = [
    ("whichever", |path, bytes| replace(path, bytes).map(|()| Outcome::Replaced)),
    ("without a name", |path, bytes| attempt(path, bytes, Start::Unnamed)),
    ("with a name", |path, bytes| attempt(path, bytes, Start::Named)),
];

/// Replaces the file in the first way, then in the others, each time after `prepare`; `check` comes after each.
fn in_all_ways(prepare: impl Fn(&Place), check: impl Fn(&Place)) {
    for (name, way) in WAYS {
        let place = Place::new();
        fs::write(place.file(), "old").unwrap();
        let before = fs::metadata(place.file()).unwrap().ino();
        prepare(&place);
        match way(&place.file(), b"new") {
            Ok(Outcome::Replaced) => {}
            Ok(Outcome::Unnameable) if name == "without a name" => {
                println!("skipped: this file system has no files without a name");
                continue;
            }
            other => panic!("{name}: {:?}", other.ok()),
        }
        assert_eq!(fs::read(place.file()).unwrap(), b"new", "{name}");
        assert_ne!(fs::metadata(place.file()).unwrap().ino(), before, "{name}: it was replaced");
        check(&place);
    }
}

#[test]
fn what_killed_processes_left_is_removed() {
    in_all_ways(
        |place| {
            for number in [0, 1] {
                fs::write(place.temporary(number), "half").unwrap();
                let permissions = fs::Permissions::from_mode(0o200);
                fs::set_permissions(place.temporary(number), permissions).unwrap();
            }
        },
        |place| assert_eq!(place.entries(), 1),
    );
}

#[test]
fn what_another_process_works_on_stays() {
    let locked = std::cell::RefCell::new(None);
    in_all_ways(
        |place| {
            let file = File::create(place.temporary(0)).unwrap();
            rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
            locked.replace(Some(file));
        },
        |place| {
            assert!(place.temporary(0).exists());
            assert_eq!(place.entries(), 2);
        },
    );
}

#[test]
fn what_is_no_new_file_stays() {
    in_all_ways(
        |place| {
            fs::write(place.0.join("foreign"), "foreign").unwrap();
            symlink("foreign", place.temporary(0)).unwrap();
            fs::create_dir(place.temporary(1)).unwrap();
            fs::hard_link(place.0.join("foreign"), place.temporary(2)).unwrap();
        },
        |place| {
            assert_eq!(place.entries(), 5);
            assert_eq!(fs::read(place.0.join("foreign")).unwrap(), b"foreign");
        },
    );
}

#[test]
fn calls_at_the_same_time_leave_one_whole_file() {
    const LEN: usize = 10_000;
    for (name, way) in WAYS {
        let place = Place::new();
        fs::write(place.file(), [0; LEN]).unwrap();
        let whole = |bytes: Vec<u8>| bytes.len() == LEN && bytes.iter().all(|b| *b == bytes[0]);
        let (path, is_over) = (place.file(), AtomicU32::new(0));
        thread::scope(|scope| {
            for writer in 0..4 {
                let (path, is_over) = (&path, &is_over);
                scope.spawn(move || {
                    let mut refused = 0;
                    for round in 0..25 {
                        refused += u32::from(way(path, &[writer * 25 + round; LEN]).is_err());
                    }
                    // Ordering: the reader only needs to see it some time.
                    is_over.fetch_add(1, Ordering::Relaxed);
                    assert_eq!(refused, 0, "{name}");
                });
            }
            // Ordering: as above.
            while is_over.load(Ordering::Relaxed) < 4 {
                assert!(whole(fs::read(&path).unwrap()), "{name}");
            }
        });
        assert!(whole(fs::read(&path).unwrap()), "{name}");
        assert_eq!(place.entries(), 1, "{name}");
    }
}

#[test]
fn as_many_links_are_followed_as_the_kernel_follows() {
    let place = Place::new();
    fs::write(place.0.join("0"), "old").unwrap();
    for n in 1..=41 {
        symlink((n - 1).to_string(), place.0.join(n.to_string())).unwrap();
    }
    let find = |n: u32| Target::find(&place.0.join(n.to_string()));
    assert!(matches!(find(40), Ok(Some(target)) if target.name.as_bytes() == b"0"));
    assert!(matches!(find(41), Err(Refusal::InPlace)));
}

#[test]
fn each_target_has_names_of_its_own_that_fit() {
    let long = [b'n'; 255];
    let names = [&long[..], &long[1..], b"a", b"b"].map(|name| temporary_name(name, 999));
    for (at, name) in names.iter().enumerate() {
        assert!(name.len() < 64 && !names[..at].contains(name), "{names:?}");
    }
    assert_eq!(temporary_name(b"a", 7), ".colored-af63dc4c8601ec8c-7.new");
}
