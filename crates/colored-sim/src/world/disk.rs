//! The disks of the hosts.

use super::{Fault, Host, World};
use crate::disk::Disk;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The disk of a new host. It has a directory for sockets, as systems have.
fn new() -> Disk {
    let mut disk = Disk::new();
    disk.create_dir(Path::new("/run"), 0o777).expect("the root has no such entry");
    disk.sync_everything();
    disk
}

impl World {
    /// The disk of a host. It outlives a crash of the host.
    pub(crate) fn disk(&self, host: usize) -> MutexGuard<'_, Disk> {
        // No operation panics between two changes that belong together.
        let disk = self.disks[host].get_or_init(|| Mutex::new(new()));
        disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The disk of a host loses what is not synced, or a part of it, by choice.
    pub(crate) fn fail_power(&self, host: usize) {
        self.disk(host).fail_power(&mut |many| self.is_one_in(many, Fault::Disk, host));
    }
}

impl Host {
    pub(crate) fn disk(&self) -> MutexGuard<'_, Disk> {
        self.world.disk(self.number)
    }

    /// As [`disk`](Self::disk), at the present of the host: for changes.
    pub(crate) fn disk_now(&self) -> MutexGuard<'_, Disk> {
        let mut disk = self.disk();
        disk.set_time(self.time_of_day());
        disk
    }
}
