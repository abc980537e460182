//! `fs::write` and `fs::write_in_place` beside `std::fs::write`, on targets of every kind.
//!
//! For each row, each of the three writes into a directory of its own, which the row has set up in the same way. Then
//! results and directories must be equal: names, contents, links, permissions, owners, attributes. Where the
//! system does not let a row set up its directory, the test prints the reason.

mod another_user;
mod killed;
mod mounted;
mod rows;
mod seen;
mod special;

use self::seen::inode;
pub(super) use self::seen::{said, seen};
use colored_tests::run;
use colored_tests::scratch::Scratch;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What all write.
const BYTES: &str = "0\n";

/// For the child: a file with a line for each write.
const JOBS: &str = "COLORED_TESTS_WRITES";

/// What `fs::write` does with a target. The others write in place what it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Replaced,
    InPlace,
    /// There was no file.
    Made,
    /// The system refuses it.
    Refused,
    /// Not replaced. Whether it is refused depends on settings of the system (`fs.protected_*`).
    NotReplaced,
}

struct Row {
    name: &'static str,
    how: How,
    set_up: fn(&Path) -> io::Result<Set>,
}

/// A directory that is set up.
struct Set {
    path: PathBuf,
    /// A line for the shell that mounts something.
    mount: String,
    /// What comes after the write, also to keep something open.
    after: Box<dyn FnOnce()>,
}

impl Set {
    fn at(path: impl Into<PathBuf>) -> Set {
        Set { path: path.into(), mount: String::new(), after: Box::new(|| ()) }
    }

    fn then(self, after: impl FnOnce() + 'static) -> Set {
        Set { after: Box::new(after), ..self }
    }

    fn mounted(self, mount: String) -> Set {
        Set { mount, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Std,
    Replacing,
    InPlace,
}

const WRITERS: [Writer; 3] = [Writer::Std, Writer::Replacing, Writer::InPlace];

/// Has each writer write to a path.
type Perform = fn(&[(Writer, PathBuf)], mounts: &str) -> Option<Vec<String>>;

/// A row for one writer, and what was there before.
struct Case<'a> {
    row: &'a Row,
    writer: Writer,
    directory: PathBuf,
    path: PathBuf,
    after: Box<dyn FnOnce()>,
    inode: Option<u64>,
}

fn compare(rows: &[Row], perform: Perform) {
    let scratch = Scratch::new();
    let (cases, mounts) = set_up(rows, &scratch);
    let jobs: Vec<_> = cases.iter().map(|case| (case.writer, case.path.clone())).collect();
    let results = perform(&jobs, &mounts);
    let mut faults = Vec::new();
    let mut wanted = (String::new(), String::new());
    for (at, case) in cases.into_iter().enumerate() {
        let (name, writer, is_kept) = (case.row.name, case.writer, case.inode == inode(&case.path));
        (case.after)();
        let Some(results) = &results else { continue };
        let found = (results[at].clone(), seen(&case.directory, &case.path));
        match writer {
            Writer::Std => wanted = found,
            _ if found != wanted => {
                faults.push(format!("{name}: {writer:?} {found:#?}\nin place of {wanted:#?}"));
            }
            _ => {}
        }
        let how = match (case.inode, &*results[at]) {
            (_, error) if error != "Ok" => How::Refused,
            (None, _) => How::Made,
            (Some(_), _) if is_kept => How::InPlace,
            _ => How::Replaced,
        };
        let is_right = match (writer, case.row.how) {
            (Writer::Std | Writer::InPlace, How::Replaced) => how == How::InPlace,
            (_, How::NotReplaced) => how != How::Replaced,
            (_, expected) => how == expected,
        };
        if !is_right {
            let (expected, result) = (case.row.how, &results[at]);
            faults.push(format!("{name}: {writer:?}: {expected:?}, but {how:?}: {result}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A case for each row and writer, and the mounts that they need.
fn set_up<'a>(rows: &'a [Row], scratch: &Scratch) -> (Vec<Case<'a>>, String) {
    let (mut cases, mut mounts) = (Vec::new(), String::new());
    for row in rows {
        for writer in WRITERS {
            let directory = scratch.join(&format!("{}-{writer:?}", cases.len() / 3));
            std::fs::create_dir(&directory).unwrap();
            let set = match (row.set_up)(&directory) {
                Ok(set) => set,
                Err(error) if is_impossible(&error) => {
                    println!("skipped: {}: {error}", row.name);
                    std::fs::remove_dir_all(&directory).unwrap();
                    break;
                }
                Err(error) => panic!("{}: {error}", row.name),
            };
            mounts.push_str(&set.mount);
            mounts.push('\n');
            let inode = inode(&set.path);
            cases.push(Case { row, writer, directory, path: set.path, after: set.after, inode });
        }
    }
    (cases, mounts)
}

/// Whether the system does not allow, or does not have, what a row needs.
fn is_impossible(error: &io::Error) -> bool {
    const EPERM: i32 = 1;
    const ENOTTY: i32 = 25;
    const ENOSYS: i32 = 38;
    const EOPNOTSUPP: i32 = 95;
    [EPERM, ENOTTY, ENOSYS, EOPNOTSUPP].map(Some).contains(&error.raw_os_error())
}

/// In this process.
fn perform(jobs: &[(Writer, PathBuf)], _: &str) -> Option<Vec<String>> {
    let jobs = jobs.to_vec();
    let results = run(1, async move {
        let mut results = Vec::new();
        for (writer, path) in jobs {
            results.push(said(match writer {
                Writer::Std => std::fs::write(path, BYTES),
                Writer::Replacing => colored::fs::write(path, BYTES).await,
                Writer::InPlace => colored::fs::write_in_place(path, BYTES).await,
            }));
        }
        results
    });
    Some(results)
}

/// In a process that `command` begins, and that runs only the calling test, whose first call is
/// [`is_child`].
fn perform_in(command: &mut Command, test: &str, jobs: &[(Writer, PathBuf)]) -> Vec<String> {
    let scratch = Scratch::new();
    let lines = jobs.iter().map(|(writer, path)| format!("{writer:?}\t{}\n", path.display()));
    let list = scratch.file("jobs", lines.collect::<String>());
    let test = format!("write_targets::{test}");
    command.args(["--exact", &test, "--nocapture", "--test-threads=1"]).env(JOBS, list);
    let output = command.output().expect("this binary can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    let results: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("said: ")).map(str::to_owned).collect();
    let cried = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{text}\n{cried}", output.status);
    assert_eq!(results.len(), jobs.len(), "{text}\n{cried}");
    results
}

/// Whether this process is to write for another one. Then it has done it.
fn is_child() -> bool {
    let Ok(list) = env::var(JOBS) else { return false };
    let lines = std::fs::read_to_string(list).expect("the list of the parent");
    let jobs = lines.lines().map(|line| {
        let (writer, path) = line.split_once('\t').expect("a writer and a path");
        let writer = WRITERS.into_iter().find(|one| format!("{one:?}") == writer);
        (writer.expect("a writer"), PathBuf::from(path))
    });
    println!();
    for result in perform(&jobs.collect::<Vec<_>>(), "").unwrap_or_default() {
        println!("said: {result}");
    }
    true
}

/// A file with contents.
fn old(path: PathBuf) -> io::Result<PathBuf> {
    std::fs::write(&path, "the old contents")?;
    Ok(path)
}

/// Shows G13.
#[test]
fn ordinary_targets_are_written_as_by_the_standard_library() {
    compare(rows::ROWS, perform);
}

/// Shows G13.
#[test]
fn special_targets_are_written_as_by_the_standard_library() {
    compare(special::ROWS, perform);
}
