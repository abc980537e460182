//! Copies of the records at the moment of an event, and the file for them.

use super::Driver;
use crate::pool::{Class, Job};
use crate::trace::{Snapshot, Trigger};
use colored_core::Scheduler;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

impl Driver {
    /// An event has happened: keeps the records, if the program wants that. Whether it did.
    pub(crate) fn freeze(&self, trigger: Trigger, scheduler: &Scheduler) -> bool {
        let Some(snapshot) = self.freezer.freeze(trigger, scheduler) else { return false };
        if let Some(path) = self.freezer.file() {
            // The file would hold up this thread, which may be a worker or the monitor thread. If the pool has been shut
            // down, or has no thread, there is no file.
            let job = Job::new(move || write_or_tell(&snapshot, &path));
            let _ = self.pool.submit(Class::File, job);
        }
        true
    }

    /// The runtime ends: writes what it has recorded, if somebody wants that.
    pub(crate) fn write_trace_at_end(&self, scheduler: &Scheduler) {
        if let Some(path) = self.freezer.file_at_end() {
            write_or_tell(&self.freezer.snapshot(scheduler), &path);
        }
    }
}

fn write_or_tell(snapshot: &Snapshot, path: &Path) {
    if let Err(error) = write(snapshot, path) {
        // A program without a standard error goes on all the same.
        let _ = writeln!(
            io::stderr(),
            "colored: cannot write the trace file {}: {error}",
            path.display()
        );
    }
}

/// A file with this name is complete.
pub(crate) fn write(snapshot: &Snapshot, path: &Path) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    snapshot.write_perfetto(&mut File::create(&part)?)?;
    fs::rename(part, path)
}
