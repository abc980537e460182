//! Files whose data is in memory: the plain calls, this runtime, and threads.

use super::Row;
use crate::measure::{Case, Entry, Pace, Sample, Unit};
use crate::rivals::{Rival, Runtimes};
use colored::fs::File;
use std::fs;
use std::io::SeekFrom;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

/// The rows of this file.
pub const ROWS: &[Row] = &[
    Row { name: "file_read_4k", build: |on, _| read(on, 4 << 10, true) },
    Row { name: "file_read_4k_plain", build: |on, _| read(on, 4 << 10, false) },
    Row { name: "file_read_64k_plain", build: |on, _| read(on, 64 << 10, false) },
    Row { name: "file_open_plain", build: |on, _| open(on) },
];

/// Operations per sample.
const OPERATIONS: u64 = 1_000;
/// The length of the file that is read.
const LENGTH: usize = 16 << 20;
/// Files that are opened.
const FILES: u64 = 100;

/// Files, which the process leaves in the system's directory for temporary files until it ends.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("colored-benches-{}-{name}", std::process::id()));
    fs::create_dir_all(&path).expect("the directory for temporary files is writable");
    path
}

/// Removes the files when the case is over.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The pages leave memory by themselves on some machines, so each sample reads all of them first.
fn warm(path: &Path) {
    fs::read(path).expect("the file is there");
}

/// Places to read from, far apart.
fn offset(index: u64, len: usize) -> u64 {
    let places = (LENGTH / len) as u64;
    index * 7919 % places * len as u64
}

fn read(on: Runtimes, len: usize, against_threads: bool) -> Case {
    let removed = Removed(directory(&format!("{len}-{against_threads}")));
    let path = removed.0.join("file");
    fs::write(&path, vec![7; LENGTH]).expect("there is room for the file");
    let ours = path.clone();
    let subject = move || {
        let _keep = &removed;
        warm(&ours);
        let path = ours.clone();
        on.colored.run(async move {
            let file = File::open(path).await.expect("the file is there");
            let mut buf = vec![0; len];
            let start = std::time::Instant::now();
            for index in 0..OPERATIONS {
                let read = file.read_at(&mut buf, offset(index, len)).await;
                assert_eq!(read.expect("the file is readable"), len);
            }
            let wall = start.elapsed();
            Sample { cost: wall, wall, ops: OPERATIONS }
        })
    };
    let peer = match against_threads {
        true => Entry::peer("tokio_fs", move || {
            warm(&path);
            let path = path.clone();
            on.tokio().run(async move {
                let mut file = tokio::fs::File::open(path).await.expect("the file is there");
                let mut buf = vec![0; len];
                let start = std::time::Instant::now();
                for index in 0..OPERATIONS {
                    let target = SeekFrom::Start(offset(index, len));
                    file.seek(target).await.expect("the file has positions");
                    file.read_exact(&mut buf).await.expect("the file is readable");
                }
                let wall = start.elapsed();
                Sample { cost: wall, wall, ops: OPERATIONS }
            })
        }),
        false => Entry::peer("pread", move || {
            warm(&path);
            let file = fs::File::open(&path).expect("the file is there");
            let mut buf = vec![0; len];
            Sample::time(OPERATIONS, || {
                for index in 0..OPERATIONS {
                    file.read_exact_at(&mut buf, offset(index, len)).expect("it is readable");
                }
            })
        }),
    };
    Case {
        unit: Unit::ns("ns/read"),
        pace: Pace::Short,
        entries: vec![Entry::subject(subject), peer],
    }
}

/// Open, ask for the length, and close.
fn open(on: Runtimes) -> Case {
    let removed = Removed(directory("open"));
    let paths: Vec<PathBuf> = (0..FILES).map(|i| removed.0.join(i.to_string())).collect();
    for path in &paths {
        fs::write(path, "bytes").expect("there is room for the files");
    }
    let ours = paths.clone();
    let subject = move || {
        let _keep = &removed;
        let paths = ours.clone();
        on.colored.run(async move {
            let start = std::time::Instant::now();
            for index in 0..OPERATIONS {
                let path = &paths[(index % FILES) as usize];
                let file = File::open(path).await.expect("the file is there");
                assert_eq!(file.metadata().await.expect("it is open").len(), 5);
            }
            let wall = start.elapsed();
            Sample { cost: wall, wall, ops: OPERATIONS }
        })
    };
    let peer = move || {
        Sample::time(OPERATIONS, || {
            for index in 0..OPERATIONS {
                let file = fs::File::open(&paths[(index % FILES) as usize]).expect("it is there");
                assert_eq!(file.metadata().expect("it is open").len(), 5);
            }
        })
    };
    Case {
        unit: Unit::ns("ns/file"),
        pace: Pace::Short,
        entries: vec![Entry::subject(subject), Entry::peer("std_fs", peer)],
    }
}
