//! A log of the embedded engine, in a directory that is removed at the end.

use crate::executors::Executor;
use colored_benches::rivals::Unique;
use colored_consumer::embedded::{Engine, Member, NewRecord, Options};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const PARTITIONS: u32 = 12;

/// A topic that has so many records.
pub(crate) struct Log {
    pub(super) engine: Engine,
    pub(crate) count: u64,
    directory: PathBuf,
    groups: AtomicU64,
}

impl Log {
    /// Appends records with these keys. Neither appends nor commits wait for the device.
    pub(crate) fn fill(on: Unique, keys: impl Iterator<Item = usize>) -> Log {
        let directory = std::env::temp_dir().join(format!("colored-peers-{}", std::process::id()));
        let new = |key| NewRecord::new(format!("k{key}"), vec![b'v'; 100]);
        let records: Vec<_> = keys.map(new).collect();
        let (path, count) = (directory.clone(), records.len() as u64);
        let engine = on.run(async move {
            let engine = Options::new().sync(false).open(path).await.expect("the engine opens");
            engine.create_topic("t", PARTITIONS).await.expect("a topic");
            for chunk in records.chunks(10_000) {
                engine.send_all("t", chunk.to_vec()).await.expect("a log");
            }
            engine
        });
        Log { engine, count, directory, groups: AtomicU64::new(0) }
    }

    /// A member of a new group.
    pub(super) fn join(&self, on: Unique) -> Member {
        // Ordering: the numbers differ, whatever their order.
        let group = format!("g{}", self.groups.fetch_add(1, Ordering::Relaxed));
        let engine = self.engine.clone();
        on.run(async move { engine.member(&group, ["t"]).join().await.expect("a member") })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
