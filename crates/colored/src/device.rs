//! What the runtime knows of the devices that its files are on: which of their operations can be tried
//! without blocking, and counters.

mod counts;
pub(crate) mod slow;
mod tries;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

pub use self::counts::FileMetrics;
pub(crate) use self::counts::{Counts, Event};
pub(crate) use self::tries::{Outcome, Tries};

/// The kinds of file systems, by what may delay an operation that does not need the file's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In memory: no operation waits.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no other system tells"))]
    Memory,
    /// On a device of this machine: metadata of an open file is in memory.
    Local,
    /// Another machine answers, or the file system is unknown: any operation may wait.
    Remote,
    /// The system makes the contents when they are read, as in `/proc`.
    Generated,
    /// A process answers, by FUSE: a read gets what the process gives.
    Served,
}

/// A device, as in `st_dev`. Its capabilities are learned from the answers of the system.
#[derive(Debug)]
pub(crate) struct Device {
    id: u64,
    /// Learned by the first operation that may block.
    kind: OnceLock<Kind>,
    pub(crate) reads: Tries,
    pub(crate) writes: Tries,
    pub(crate) counts: Counts,
}

impl Device {
    /// The kind, if it is known.
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.kind.get().copied()
    }

    /// Notes the kind. The first answer stays.
    pub(crate) fn learn(&self, kind: Kind) {
        let _first = self.kind.set(kind);
    }
}

/// The devices of a runtime's files.
#[derive(Debug)]
pub(crate) struct Devices {
    /// Whether operations are tried on the worker at all.
    tries: bool,
    /// In the order of first use. A device is never removed.
    known: RwLock<Vec<Arc<Device>>>,
    /// Of operations on paths, whose device is not known before they succeed.
    pub(crate) paths: Counts,
}

impl Devices {
    pub(crate) fn new(tries: bool) -> Self {
        Self { tries, known: RwLock::default(), paths: Counts::default() }
    }

    pub(crate) fn tries(&self) -> bool {
        self.tries
    }

    /// The device with this `st_dev`.
    pub(crate) fn get(&self, id: u64) -> Arc<Device> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = known.iter().find(|device| device.id == id) {
            return Arc::clone(device);
        }
        drop(known);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = known.iter().find(|device| device.id == id) {
            return Arc::clone(device);
        }
        let device = Arc::new(Device {
            id,
            kind: OnceLock::new(),
            reads: Tries::default(),
            writes: Tries::default(),
            counts: Counts::default(),
        });
        known.push(Arc::clone(&device));
        device
    }

    /// The counters: one element for operations on paths, then one for each device.
    pub(crate) fn metrics(&self) -> Vec<FileMetrics> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let devices = known.iter().map(|device| device.counts.read(Some(device.id)));
        std::iter::once(self.paths.read(None)).chain(devices).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_found_again_and_keeps_its_first_kind() {
        let devices = Devices::new(true);
        let first = devices.get(7);
        assert_eq!(first.kind(), None);
        first.learn(Kind::Local);
        first.learn(Kind::Remote);
        assert!(Arc::ptr_eq(&first, &devices.get(7)));
        assert_eq!(devices.get(7).kind(), Some(Kind::Local));
        assert_eq!(devices.get(8).kind(), None);
    }

    #[test]
    fn the_metrics_name_each_device() {
        let devices = Devices::new(true);
        devices.paths.add(Event::Deferred);
        devices.get(9).counts.add(Event::Hit);
        devices.get(9).counts.add_hit_bytes(4096);
        let metrics = devices.metrics();
        assert_eq!((metrics[0].device, metrics[0].deferred), (None, 1));
        assert_eq!((metrics[1].device, metrics[1].hits, metrics[1].hit_bytes), (Some(9), 1, 4096));
    }
}
