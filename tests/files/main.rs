//! Files: the same bytes and errors as `std::fs`, with and without attempts on the worker.

mod at_the_end;
mod cancelled;
#[cfg(target_os = "linux")]
mod cold;
mod convert;
mod identical;
mod inline;
mod lazy;
#[cfg(target_os = "linux")]
mod path_targets;
mod paths;
#[cfg(unix)]
mod pipes;
#[cfg(target_os = "linux")]
mod seen;
mod send;
#[cfg(target_os = "linux")]
mod served;
#[cfg(target_os = "linux")]
mod systems;
#[cfg(target_os = "linux")]
mod targets;
#[cfg(target_os = "linux")]
mod waits;

use colored::Runtime;
use colored::metrics::FileMetrics;
use colored::runtime::Tuning;
use colored_tests::shared;

/// Runs a future on one worker: with attempts, with attempts and no io_uring, with io_uring and no attempts, and without
/// both.
#[track_caller]
fn in_all_modes<F>(main: impl Fn() -> F)
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    shared(|| {
        for (lazy, ring) in [(true, true), (true, false), (false, true), (false, false)] {
            let builder =
                Runtime::builder().workers(1).tuning(Tuning::new().lazy_files(lazy).io_uring(ring));
            builder.build().unwrap().run(main());
        }
    });
}

/// A runtime that attempts operations on files at once if it is `lazy`.
fn runtime_that_is(lazy: bool, workers: usize) -> Runtime {
    let tuning = Tuning::new().lazy_files(lazy);
    Runtime::builder().workers(workers).tuning(tuning).build().unwrap()
}

/// The sum of a counter over the files of all devices.
fn of_devices(counter: impl Fn(&FileMetrics) -> u64) -> u64 {
    let metrics = colored::Handle::current().metrics();
    metrics.files.iter().filter(|of| of.device.is_some()).map(counter).sum()
}
