//! Files that are in memory.

use super::super::{Goal, Plan, Report};
use super::{PAGE, Pages, check, medians, runtime};
use crate::chart::number;
use crate::random::Random;
use colored::fs;
use std::fs::File;
use std::io::SeekFrom;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

/// 4 MiB.
const PAGES: usize = 1024;

/// An operation by the plain calls, lazily, and by `tokio::fs`, in ns.
type Row = [f64; 3];

pub(super) fn run(plan: &Plan, report: &mut Report) {
    let pages = Pages::new("warm", PAGES);
    let count = plan.pick(40_000, 10_000, 50);
    let ours = runtime(1).build().expect("the system gives a thread");
    let tokio = tokio::runtime::Builder::new_current_thread().build().expect("nothing can fail");
    let mut runs: [Vec<Row>; 3] = Default::default();
    for _ in 0..plan.pick(7, 3, 1) {
        // The system may have taken the pages away since.
        std::fs::read(pages.path()).expect("it is there");
        for (len, runs) in [1, 16].into_iter().zip(&mut runs) {
            let count = count / len;
            let file = fs_file(&ours, pages.open());
            let lazy = ours.run(async move {
                let mut buf = vec![0; len * PAGE];
                let start = Instant::now();
                for page in places(count, len) {
                    file.read_exact_at(&mut buf, (page * PAGE) as u64).await.expect("it is there");
                    check(&buf[..PAGE], page);
                }
                start.elapsed().as_secs_f64() * 1e9 / count as f64
            });
            let fewer = (count / 10).max(1);
            let path = pages.path();
            let eager = tokio.block_on(by_tokio(path, fewer, len));
            runs.push([plain(&pages.open(), count, len), lazy, eager]);
        }
        let (path, count) = (pages.path().to_owned(), count / 4);
        let lazy = ours.run(async move {
            let start = Instant::now();
            for _ in 0..count {
                let file = fs::File::open(&path).await.expect("it is there");
                assert_eq!(file.metadata().await.expect("it is open").len(), (PAGES * PAGE) as u64);
            }
            start.elapsed().as_secs_f64() * 1e9 / count as f64
        });
        let eager = tokio.block_on(opened_by_tokio(pages.path(), (count / 10).max(1)));
        runs[2].push([opened(pages.path(), count), lazy, eager]);
    }
    let names = ["read of 4 KiB", "read of 64 KiB", "open, metadata, close"];
    let all: Vec<Row> = runs.iter().map(|runs| medians(runs)).collect();
    report.text("**Files in memory**, ns an operation. `tokio::fs` seeks before it reads.");
    let row = |(name, times): (&&str, &Row)| {
        let mut row = vec![String::from(*name)];
        row.extend(times.map(number));
        row
    };
    let rows: Vec<_> = names.iter().zip(&all).map(row).collect();
    report.table(&["", "plain calls", "colored", "tokio::fs"], &rows);
    let limits = [1.15, 1.1, 1.15];
    for ((name, [plain, lazy, _]), limit) in names.iter().zip(&all).zip(limits) {
        let what = format!("{name}, in memory: over the plain calls");
        report.goal(&what, lazy / plain, Goal::AtMost(limit));
    }
    let [_, lazy, eager] = all[0];
    report.goal("read of 4 KiB, in memory: over tokio::fs", lazy / eager, Goal::AtMost(0.1));
}

fn fs_file(on: &colored::Runtime, file: File) -> fs::File {
    let _inside = on.enter();
    fs::File::from_std(file).expect("it has a position")
}

fn places(count: usize, len: usize) -> impl Iterator<Item = usize> {
    let mut random = Random::new(count as u64);
    (0..count).map(move |_| random.below(PAGES - len))
}

fn plain(file: &File, count: usize, len: usize) -> f64 {
    let mut buf = vec![0; len * PAGE];
    let start = Instant::now();
    for page in places(count, len) {
        file.read_exact_at(&mut buf, (page * PAGE) as u64).expect("it is there");
        check(&buf[..PAGE], page);
    }
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

async fn by_tokio(path: &Path, count: usize, len: usize) -> f64 {
    let mut file = tokio::fs::File::open(path).await.expect("it is there");
    let mut buf = vec![0; len * PAGE];
    let start = Instant::now();
    for page in places(count, len) {
        file.seek(SeekFrom::Start((page * PAGE) as u64)).await.expect("it has positions");
        file.read_exact(&mut buf).await.expect("it is there");
        check(&buf[..PAGE], page);
    }
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

fn opened(path: &Path, count: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        let file = File::open(path).expect("it is there");
        assert_eq!(file.metadata().expect("it is open").len(), (PAGES * PAGE) as u64);
    }
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

async fn opened_by_tokio(path: &Path, count: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        let file = tokio::fs::File::open(path).await.expect("it is there");
        let metadata = file.metadata().await.expect("it is open");
        assert_eq!(metadata.len(), (PAGES * PAGE) as u64);
    }
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}
