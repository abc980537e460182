//! Files that are not in memory: the latency of a read, the CPU time that it costs, and what it does to others.

use super::super::{Goal, Plan, Report};
use super::{PAGE, Pages, check, cpu, medians, runtime};
use colored::fs;
use colored::runtime::Tuning;
use colored::spawn_unique;
use colored::time::sleep;
use colored_benches::chart::{Axis, Bars, number};
use colored_benches::random::Random;
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How a read is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// On the worker, which sleeps meanwhile.
    Plain,
    /// Tried, and else left to io_uring.
    Ring,
    /// Tried, and else left to a thread.
    Pool,
    /// Left to a thread at once.
    Offload,
}

const WAYS: [(Way, &str); 4] = [
    (Way::Plain, "plain `pread`"),
    (Way::Ring, "lazy, io_uring"),
    (Way::Pool, "lazy, a thread of the pool"),
    (Way::Offload, "always a thread of the pool"),
];

/// Reads under way at a time.
const DEPTH: usize = 32;

/// One by one: p50 and p99 in µs, CPU in µs a read; 32 at a time: wall and CPU in µs a read, p99 in µs of how late
/// sleeps of 1 ms ended on the same worker.
type Row = [f64; 6];

pub(super) fn run(plan: &Plan, report: &mut Report) {
    let count = plan.pick(16_384, 4_096, 256);
    let pages = Arc::new(Pages::new("cold", count));
    let mut all: [Vec<Row>; WAYS.len()] = Default::default();
    let mut found = 0;
    for _ in 0..plan.pick(7, 3, 1) {
        for ((way, _), runs) in WAYS.into_iter().zip(&mut all) {
            let reads = plan.pick(1000, 300, 10);
            let (row, hits) = way.measure(&pages, reads);
            found += hits;
            runs.push(row);
        }
    }
    let all = all.map(|runs| medians(&runs));
    report.text(&format!(
        "**Reads of 4 KiB that are not in memory**, at random places, one worker. The last column is how late sleeps of \
         1 ms end on the same worker. Of all attempts, {found} found their page in memory."
    ));
    let row = |((_, name), figures): (&(Way, &str), &Row)| {
        let mut row = vec![String::from(*name)];
        row.extend(figures.map(number));
        row
    };
    let rows: Vec<_> = WAYS.iter().zip(&all).map(row).collect();
    report.table(
        &[
            "",
            "one by one: p50, us",
            "p99",
            "CPU",
            "32 at a time: us a read",
            "CPU",
            "late by, p99, us",
        ],
        &rows,
    );
    let series = |name: &str, figure: fn(&Row) -> f64| {
        (String::from(name), all.iter().map(|row| Some(figure(row))).collect())
    };
    let bars = Bars {
        title: String::from("Reads of 4 KiB that are not in memory"),
        axis: Axis::linear("us a read"),
        groups: WAYS.map(|(_, name)| name.replace('`', "")).to_vec(),
        series: vec![
            series("one by one: p50", |row| row[0]),
            series("32 at a time", |row| row[3]),
            series("32 at a time: CPU", |row| row[4]),
        ],
    };
    report.plot("cold-reads", "time and CPU time of reads from the disk", bars.draw());
    let [plain, ring, pool, offload] = all;
    report.goal("a cold read by io_uring, p50 over pread", ring[0] / plain[0], Goal::AtMost(1.2));
    let by_pool = "a cold read by the pool, p50 over always a thread";
    report.goal(by_pool, pool[0] / offload[0], Goal::AtMost(1.05));
    let late = "lateness of others, p99, beside 32 cold reads: over always a thread";
    report.goal(late, ring[5] / offload[5], Goal::AtMost(2.0));
}

impl Way {
    /// Also returns how many attempts found their data.
    fn measure(self, pages: &Arc<Pages>, reads: usize) -> (Row, u64) {
        let builder = runtime(1)
            .tuning(Tuning::new().lazy_files(self != Way::Offload).io_uring(self == Way::Ring));
        let runtime = builder.build().expect("the system gives a thread");
        let of = Arc::clone(pages);
        pages.cool();
        let [p50, p99, alone] = runtime.run(async move { self.one_by_one(&of, reads).await });
        pages.cool();
        let of = Arc::clone(pages);
        let [wall, together, late] = runtime.run(async move { self.at_once(&of, reads).await });
        let files = runtime.metrics().files;
        let hits = files.iter().filter(|of| of.device.is_some()).map(|of| of.hits);
        ([p50, p99, alone, wall, together, late], hits.sum())
    }

    async fn one_by_one(self, pages: &Pages, reads: usize) -> [f64; 3] {
        let file = Opened::new(pages, self);
        let mut times = Vec::with_capacity(reads);
        // The first read of a device finds out what it is, and the first of a runtime makes what it needs.
        let mut places = Places::new(pages, 1);
        for _ in 0..4 {
            file.read(places.next()).await;
        }
        let before = cpu();
        for _ in 0..reads {
            let page = places.next();
            let start = Instant::now();
            file.read(page).await;
            times.push(start.elapsed());
        }
        let cpu = cpu() - before;
        [at(&mut times, 0.5), at(&mut times, 0.99), cpu.as_secs_f64() * 1e6 / reads as f64]
    }

    async fn at_once(self, pages: &Arc<Pages>, reads: usize) -> [f64; 3] {
        let file = Arc::new(Opened::new(pages, self));
        let is_over = Arc::new(AtomicBool::new(false));
        let ticker = spawn_unique({
            let is_over = Arc::clone(&is_over);
            async move {
                let mut late = Vec::new();
                // Ordering: the join orders the rest.
                while !is_over.load(Ordering::Relaxed) {
                    let (start, time) = (Instant::now(), Duration::from_millis(1));
                    sleep(time).await;
                    late.push(start.elapsed() - time);
                }
                late
            }
        });
        let (start, before) = (Instant::now(), cpu());
        let readers: Vec<_> = (0..DEPTH)
            .map(|reader| {
                let (file, pages) = (Arc::clone(&file), Arc::clone(pages));
                spawn_unique(async move {
                    let mut places = Places::new(&pages, 2 + reader);
                    for _ in 0..reads / DEPTH + 1 {
                        file.read(places.next()).await;
                    }
                })
            })
            .collect();
        for reader in readers {
            reader.await.expect("it does not panic");
        }
        let (wall, cpu) = (start.elapsed(), cpu() - before);
        // Ordering: the join orders the rest.
        is_over.store(true, Ordering::Relaxed);
        let mut late = ticker.await.expect("it does not panic");
        let all = (DEPTH * (reads / DEPTH + 1)) as f64;
        [wall.as_secs_f64() * 1e6 / all, cpu.as_secs_f64() * 1e6 / all, at(&mut late, 0.99)]
    }
}

/// A file with pages, opened for a way to read.
enum Opened {
    Plain(File),
    Other(fs::File),
}

impl Opened {
    fn new(pages: &Pages, way: Way) -> Self {
        let file = pages.open();
        fadvise(&file, 0, None, Advice::Random).expect("it is a hint");
        match way {
            Way::Plain => Self::Plain(file),
            _ => Self::Other(fs::File::from_std(file).expect("it has a position")),
        }
    }

    async fn read(&self, page: usize) {
        let (mut buf, offset) = ([0; PAGE], (page * PAGE) as u64);
        match self {
            Self::Plain(file) => file.read_exact_at(&mut buf, offset).expect("it is there"),
            Self::Other(file) => file.read_exact_at(&mut buf, offset).await.expect("it is there"),
        }
        check(&buf, page);
    }
}

/// Pages at random.
struct Places {
    random: Random,
    pages: usize,
}

impl Places {
    fn new(pages: &Pages, seed: usize) -> Self {
        let len = pages.open().metadata().expect("it is open").len();
        Self { random: Random::new(seed as u64), pages: len as usize / PAGE }
    }

    fn next(&mut self) -> usize {
        self.random.below(self.pages)
    }
}

/// The time, in µs, that this share does not exceed.
fn at(times: &mut [Duration], share: f64) -> f64 {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    times.get((last as f64 * share) as usize).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}
