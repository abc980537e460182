//! Files that are in memory.

use super::super::{Goal, Plan, Report};
use super::{PAGE, Pages, check, medians, runtime};
use colored::fs;
use colored::runtime::Tuning;
use colored_benches::chart::number;
use colored_benches::random::Random;
use std::fs::File;
use std::io::SeekFrom;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

/// 4 MiB.
const PAGES: usize = 1024;

/// An operation by the plain calls, lazily, eagerly by io_uring, and by `tokio::fs`, in ns.
type Row = [f64; 4];

/// The lengths of reads, with the goals of lazy ones over plain calls.
const READS: [(usize, &str, f64); 5] = [
    (1 << 10, "read of 1 KiB", 1.15),
    (4 << 10, "read of 4 KiB", 1.15),
    (16 << 10, "read of 16 KiB", 1.1),
    (64 << 10, "read of 64 KiB", 1.1),
    (1 << 20, "read of 1 MiB", 1.1),
];

const OPEN: (&str, f64) = ("open, metadata, close", 1.15);

pub(super) fn run(plan: &Plan, report: &mut Report) {
    let pages = Pages::new("warm", PAGES);
    let count = plan.pick(40_000, 10_000, 50);
    let ours = runtime(1).build().expect("the system gives a thread");
    let eager = runtime(1).tuning(Tuning::new().lazy_files(false).io_uring(true));
    let eager = eager.build().expect("the system gives a thread");
    let tokio = tokio::runtime::Builder::new_current_thread().build().expect("nothing can fail");
    let mut runs: [Vec<Row>; READS.len()] = Default::default();
    let mut opens = Vec::new();
    for _ in 0..plan.pick(7, 3, 1) {
        // The system may have taken the pages away since.
        std::fs::read(pages.path()).expect("it is there");
        for ((len, ..), runs) in READS.into_iter().zip(&mut runs) {
            let count = (count / len.div_ceil(PAGE)).max(1);
            let fewer = (count / 10).max(1);
            runs.push([
                plain(&pages.open(), count, len),
                by_colored(&ours, pages.open(), count, len),
                by_colored(&eager, pages.open(), fewer, len),
                tokio.block_on(by_tokio(pages.path(), fewer, len)),
            ]);
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
        let by_tokio = tokio.block_on(opened_by_tokio(pages.path(), (count / 10).max(1)));
        opens.push([opened(pages.path(), count), lazy, by_tokio]);
    }
    let all = runs.map(|runs| medians(&runs));
    let [open_plainly, open_lazily, open_by_tokio] = medians(&opens);
    report.text(
        "**Files in memory**, ns an operation. The eager runtime is this one, told to leave every read to io_uring; it \
         has no eager way to open a file. `tokio::fs` seeks before it reads.",
    );
    let row = |((_, name, _), times): (&(usize, &str, f64), &Row)| {
        let mut row = vec![String::from(*name)];
        row.extend(times.map(number));
        row
    };
    let mut rows: Vec<_> = READS.iter().zip(&all).map(row).collect();
    let [plain, lazy, by_tokio] = [open_plainly, open_lazily, open_by_tokio].map(number);
    rows.push(vec![String::from(OPEN.0), plain, lazy, String::new(), by_tokio]);
    report.table(&["", "plain calls", "colored", "eager: io_uring", "tokio::fs"], &rows);
    let lazily = READS.iter().zip(&all).map(|((_, name, goal), times)| (*name, *goal, times));
    for (name, goal, [plain, lazy, ..]) in lazily {
        let what = format!("{name}, in memory: over the plain calls");
        report.goal(&what, lazy / plain, Goal::AtMost(goal));
    }
    let what = format!("{}, in memory: over the plain calls", OPEN.0);
    report.goal(&what, open_lazily / open_plainly, Goal::AtMost(OPEN.1));
    let [_, lazy, eager, by_tokio] = all[1];
    let eagerly = "read of 4 KiB, in memory: eager over lazy (paper, of a pipe, 3.2)";
    report.goal(eagerly, eager / lazy, Goal::AtLeast(3.2));
    report.goal("read of 4 KiB, in memory: over tokio::fs", lazy / by_tokio, Goal::AtMost(0.1));
}

/// Reads of `len` bytes on a runtime of ours, in ns.
fn by_colored(on: &colored::Runtime, file: File, count: usize, len: usize) -> f64 {
    let file = fs_file(on, file);
    on.run(async move {
        let mut buf = vec![0; len];
        let start = Instant::now();
        for page in places(count, len) {
            file.read_exact_at(&mut buf, (page * PAGE) as u64).await.expect("it is there");
            check(&buf, page);
        }
        start.elapsed().as_secs_f64() * 1e9 / count as f64
    })
}

fn fs_file(on: &colored::Runtime, file: File) -> fs::File {
    let _inside = on.enter();
    fs::File::from_std(file).expect("it has a position")
}

fn places(count: usize, len: usize) -> impl Iterator<Item = usize> {
    let mut random = Random::new(count as u64);
    (0..count).map(move |_| random.below(PAGES - len / PAGE))
}

fn plain(file: &File, count: usize, len: usize) -> f64 {
    let mut buf = vec![0; len];
    let start = Instant::now();
    for page in places(count, len) {
        file.read_exact_at(&mut buf, (page * PAGE) as u64).expect("it is there");
        check(&buf, page);
    }
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

async fn by_tokio(path: &Path, count: usize, len: usize) -> f64 {
    let mut file = tokio::fs::File::open(path).await.expect("it is there");
    let mut buf = vec![0; len];
    let start = Instant::now();
    for page in places(count, len) {
        file.seek(SeekFrom::Start((page * PAGE) as u64)).await.expect("it has positions");
        file.read_exact(&mut buf).await.expect("it is there");
        check(&buf, page);
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
