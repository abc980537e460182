//! A limit of CPU time for other processes, by a control group.

use std::path::{Path, PathBuf};
use std::{fs, io, process};

/// The time in which a group may use its share, in microseconds.
pub(super) const PERIOD: u32 = 20_000;

/// Where the controller of CPU time is: of version 1, and of version 2.
const ROOTS: [&str; 2] = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"];

/// A group of processes that share a limit. Dropping it removes the group, which must be empty then.
#[derive(Debug)]
pub(super) struct Quota(PathBuf);

impl Quota {
    /// Makes a group without a limit.
    ///
    /// # Errors
    ///
    /// If the system has no such groups, or this process may not make one.
    pub(super) fn new() -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::Unsupported);
        for root in ROOTS.map(Path::new).into_iter().filter(|root| root.is_dir()) {
            let folder = root.join(format!("colored-connections-{}", process::id()));
            match fs::create_dir(&folder).map(|()| Self(folder)) {
                Ok(quota) => match quota.limit(None) {
                    Ok(()) => return Ok(quota),
                    Err(error) => last = error,
                },
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Puts a process into the group, with all its threads.
    pub(super) fn add(&self, process: u32) -> io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), process.to_string())
    }

    /// Limits the group to so much of one core.
    pub(super) fn limit(&self, cores: Option<f64>) -> io::Result<()> {
        let micros = cores.map(|cores| (cores * f64::from(PERIOD)).round());
        let old = self.0.join("cpu.cfs_period_us");
        if old.exists() {
            fs::write(old, PERIOD.to_string())?;
            let quota = micros.map_or(String::from("-1"), |micros| micros.to_string());
            return fs::write(self.0.join("cpu.cfs_quota_us"), quota);
        }
        let quota = micros.map_or(String::from("max"), |micros| micros.to_string());
        let file = fs::OpenOptions::new().write(true).open(self.0.join("cpu.max"));
        io::Write::write_all(&mut file?, format!("{quota} {PERIOD}").as_bytes())
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // If a process is left in it, the group stays, and limits nobody else.
        let _ = fs::remove_dir(&self.0);
    }
}
