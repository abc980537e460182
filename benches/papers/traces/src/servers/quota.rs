//! [`Quota`]: a control group with a limit of CPU time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// A limit applies to each period of so many microseconds: a fifth of the system's usual one, so that a server that has used
/// up its time does not sleep for long.
const PERIOD: u64 = 20_000;

/// A control group whose processes together get a part of the machine's CPU time. Removed at the end, when its processes have
/// ended.
#[derive(Debug)]
pub struct Quota(PathBuf);

impl Quota {
    /// A group that gets the time of so many cores, such as 0.3.
    ///
    /// # Errors
    ///
    /// If the system has no such groups, or does not let this process make one.
    pub fn new(cores: f64) -> io::Result<Quota> {
        let quota = (cores * PERIOD as f64) as u64;
        let name = format!("colored-quota-{}", process::id());
        let first = Path::new("/sys/fs/cgroup/cpu");
        if first.join("cpu.cfs_quota_us").exists() {
            let made = Quota::make(first.join(name))?;
            fs::write(made.0.join("cpu.cfs_period_us"), PERIOD.to_string())?;
            fs::write(made.0.join("cpu.cfs_quota_us"), quota.to_string())?;
            return Ok(made);
        }
        let second = Path::new("/sys/fs/cgroup");
        fs::write(second.join("cgroup.subtree_control"), "+cpu")?;
        let made = Quota::make(second.join(name))?;
        fs::write(made.0.join("cpu.max"), format!("{quota} {PERIOD}"))?;
        Ok(made)
    }

    fn make(directory: PathBuf) -> io::Result<Quota> {
        match fs::create_dir(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(Quota(directory)),
        }
    }

    /// The directory of the group.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.0
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _it_is_empty = fs::remove_dir(&self.0);
    }
}
