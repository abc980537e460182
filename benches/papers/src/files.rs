//! Files: what is in memory, what is not, and LAIO's test with a pipe.
//!
//! LAIO (Elmeleegy, Chanda, Cox, Zwaenepoel: "Lazy Asynchronous I/O for Event-Driven Servers", USENIX 2004) reads
//! 100,000 single bytes from a pipe. If the byte is there, a lazy read cost 1.4 times a non-blocking one, and an eager
//! one, which always makes a continuation, 3.2 times the lazy one. Here an eager read is one that is handed to io_uring
//! untried.

mod cold;
mod pipe;
mod ring;
mod warm;

use super::{Plan, Report};
use colored::runtime::Tuning;
use colored_benches::measure::median;
use rustix::fs::{Advice, fadvise};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs all parts.
///
/// # Panics
///
/// If a byte is wrong, or the system refuses a file.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    pipe::run(plan, &mut report);
    warm::run(plan, &mut report);
    cold::run(plan, &mut report);
    report
}

/// A file of numbered pages, which is removed at the end.
struct Pages(PathBuf);

const PAGE: usize = 4096;

impl Pages {
    fn new(name: &str, pages: usize) -> Self {
        let name = format!("colored-bench-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut file = File::create(&path).expect("the directory for temporary files is writable");
        for page in 0..pages {
            let bytes = (page as u64).to_le_bytes().repeat(PAGE / 8);
            file.write_all(&bytes).expect("there is room");
        }
        file.sync_all().expect("the device is in order");
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn open(&self) -> File {
        File::open(&self.0).expect("it was there")
    }

    /// Takes the file out of memory.
    fn cool(&self) {
        fadvise(self.open(), 0, None, Advice::DontNeed).expect("it is a hint");
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether bytes that begin with a page are the right ones.
fn check(bytes: &[u8], page: usize) {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let last = page + (bytes.len() - 1) / PAGE;
    assert!(number(0) == page as u64 && number(bytes.len() - 8) == last as u64, "page {page}");
}

/// A runtime with so many workers, and timers fine enough to tell how late a sleep ends.
fn runtime(workers: usize) -> colored::Builder {
    let fine = Tuning::new().timer_resolution(Duration::from_micros(200));
    colored::Runtime::builder().workers(workers).tuning(fine)
}

/// The CPU time of all threads of the process.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The medians of the columns.
fn medians<const N: usize>(runs: &[[f64; N]]) -> [f64; N] {
    std::array::from_fn(|column| median(runs.iter().map(|run| run[column])))
}
