//! Files: the same bytes and errors as `std::fs`, with and without attempts on the worker.

mod at_the_end;
mod cancelled;
mod identical;
mod inline;
mod lazy;
mod paths;
mod pipes;
mod send;
#[cfg(target_os = "linux")]
mod systems;

use crate::support::shared;
use colored::Runtime;
use colored::metrics::FileMetrics;

/// Runs a future on one worker, with attempts and without.
#[track_caller]
fn in_both_modes<F>(main: impl Fn() -> F)
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    shared(|| {
        for lazy in [true, false] {
            let runtime = Runtime::builder().workers(1).lazy_files(lazy).build().unwrap();
            runtime.run(main());
        }
    });
}

/// The sum of a counter over the files of all devices.
fn of_devices(counter: impl Fn(&FileMetrics) -> u64) -> u64 {
    let metrics = colored::Handle::current().metrics();
    metrics.files.iter().filter(|of| of.device.is_some()).map(counter).sum()
}
