//! [`Cache`]: what the server knows of files, in shards that are cells.
//!
//! A path has its shard; a shard is the state of one color, and so needs no lock. Requests for paths of
//! different shards run in parallel.

use crate::access::Opened;
use crate::conditions::Validators;
use bytes::Bytes;
use colored::time::{Duration, Instant};
use colored::{Color, ColorCell};
use lru::LruCache;
use std::fs::Metadata;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// A version of a file.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) len: u64,
    pub(crate) validators: Validators,
    pub(crate) media_type: &'static str,
    pub(crate) content: Content,
    identity: Identity,
    /// Whether the file was changed long before it was read. Otherwise a change in the same tick of the
    /// file system's clock would leave no trace.
    is_settled: bool,
}

#[derive(Debug)]
pub(crate) enum Content {
    Bytes(Bytes),
    File(Opened),
}

/// The values that change when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Longer than the tick of any file system's clock.
const TICK: Duration = Duration::from_secs(2);

impl Entry {
    pub(crate) fn new(path: &Path, metadata: &Metadata, content: Content) -> Entry {
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let age = SystemTime::now().duration_since(modified).unwrap_or_default();
        Entry {
            len: metadata.len(),
            validators: Validators::new(metadata.len(), modified),
            media_type: crate::media::media_type(path),
            content,
            identity: Identity::of(metadata),
            is_settled: age > TICK,
        }
    }

    /// Whether this is still the file that the metadata describes.
    pub(crate) fn is_of(&self, metadata: &Metadata) -> bool {
        self.is_settled && self.identity == Identity::of(metadata)
    }
}

impl Identity {
    fn of(metadata: &Metadata) -> Identity {
        Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// The limits of a cache, for all of its shards together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The bytes of small files.
    pub(crate) bytes: usize,
    /// The number of files that stay open.
    pub(crate) files: usize,
    /// The time after which an entry is compared with its file.
    pub(crate) recheck: Duration,
}

/// What the cache has of a path.
#[derive(Debug)]
pub(crate) enum Cached {
    Fresh(Arc<Entry>),
    /// It was not compared with its file for a while.
    Stale(Arc<Entry>),
    Missing,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) evictions: u64,
}

#[derive(Debug)]
pub(crate) struct Cache {
    shards: Vec<ColorCell<Shard>>,
    hasher: RandomState,
}

impl Cache {
    pub(crate) fn new(shards: usize, limits: Limits) -> Cache {
        let limits = Limits {
            bytes: limits.bytes / shards,
            files: limits.files.div_ceil(shards),
            recheck: limits.recheck,
        };
        let shard = |_| ColorCell::new(Color::unique(), Shard::new(limits));
        Cache { shards: (0..shards).map(shard).collect(), hasher: RandomState::new() }
    }

    /// Looks a path up. It is then the last one to be evicted.
    pub(crate) async fn get(&self, path: &Arc<Path>) -> Cached {
        let path = Arc::clone(path);
        self.shard(&path).call(move |shard| shard.get(&path)).await
    }

    /// Keeps an entry, which agrees with its file now, if there is room for it.
    pub(crate) fn put(&self, path: &Arc<Path>, entry: &Arc<Entry>) {
        let (path, entry) = (Arc::clone(path), Arc::clone(entry));
        self.shard(&path).post(move |shard| shard.put(path, entry));
    }

    /// Forgets a path.
    pub(crate) fn remove(&self, path: &Arc<Path>) {
        let path = Arc::clone(path);
        self.shard(&path).post(move |shard| shard.remove(&path));
    }

    pub(crate) async fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for shard in &self.shards {
            let counts = shard.call(|shard| shard.counts).await;
            sum.hits += counts.hits;
            sum.misses += counts.misses;
            sum.evictions += counts.evictions;
        }
        sum
    }

    fn shard(&self, path: &Path) -> &ColorCell<Shard> {
        let hash = self.hasher.hash_one(path) as usize;
        &self.shards[hash % self.shards.len()]
    }
}

/// A part of the cache: the state of one color.
#[derive(Debug)]
struct Shard {
    slots: LruCache<Arc<Path>, Slot>,
    limits: Limits,
    bytes: usize,
    files: usize,
    counts: Counts,
}

#[derive(Debug)]
struct Slot {
    entry: Arc<Entry>,
    checked: Instant,
}

impl Shard {
    fn new(limits: Limits) -> Shard {
        let counts = Counts::default();
        Shard { slots: LruCache::unbounded(), limits, bytes: 0, files: 0, counts }
    }

    fn get(&mut self, path: &Path) -> Cached {
        match self.slots.get(path) {
            Some(slot) => {
                self.counts.hits += 1;
                let entry = Arc::clone(&slot.entry);
                match slot.checked.elapsed() < self.limits.recheck {
                    true => Cached::Fresh(entry),
                    false => Cached::Stale(entry),
                }
            }
            None => {
                self.counts.misses += 1;
                Cached::Missing
            }
        }
    }

    fn put(&mut self, path: Arc<Path>, entry: Arc<Entry>) {
        self.remove(&path);
        let (bytes, files) = weight(&entry);
        if bytes > self.limits.bytes || files > self.limits.files {
            return;
        }
        while self.bytes + bytes > self.limits.bytes || self.files + files > self.limits.files {
            let Some((_, slot)) = self.slots.pop_lru() else { break };
            self.forget(&slot);
            self.counts.evictions += 1;
        }
        self.bytes += bytes;
        self.files += files;
        self.slots.put(path, Slot { entry, checked: Instant::now() });
    }

    fn remove(&mut self, path: &Path) {
        if let Some(slot) = self.slots.pop(path) {
            self.forget(&slot);
        }
    }

    /// Subtracts an entry that is out.
    fn forget(&mut self, slot: &Slot) {
        let (bytes, files) = weight(&slot.entry);
        self.bytes -= bytes;
        self.files -= files;
    }
}

/// The bytes and the open files that an entry keeps. An empty file costs something too.
fn weight(entry: &Entry) -> (usize, usize) {
    const OVERHEAD: usize = 256;
    match &entry.content {
        Content::Bytes(bytes) => (bytes.len() + OVERHEAD, 0),
        Content::File(_) => (OVERHEAD, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::SMALL;

    fn entry(name: &str, len: usize) -> (Arc<Path>, Arc<Entry>) {
        let path = Arc::from(Path::new(name));
        let metadata = std::fs::metadata(".").unwrap();
        let content = Content::Bytes(Bytes::from(vec![0; len]));
        let entry = Entry::new(Path::new(name), &metadata, content);
        (path, Arc::new(entry))
    }

    fn shard(bytes: usize) -> Shard {
        Shard::new(Limits { bytes, files: 1, recheck: Duration::from_secs(60) })
    }

    fn names(shard: &Shard) -> String {
        shard.slots.iter().map(|(path, _)| path.display().to_string()).collect()
    }

    #[test]
    fn the_entry_that_was_not_used_for_longest_goes_first() {
        let mut shard = shard(3 * 1256);
        for name in ["a", "b", "c"] {
            let (path, entry) = entry(name, 1000);
            shard.put(path, entry);
        }
        assert!(matches!(shard.get(Path::new("a")), Cached::Fresh(_)));
        let (path, last) = entry("d", 1000);
        shard.put(path, last);
        assert_eq!(names(&shard), "dac");
        assert!(matches!(shard.get(Path::new("b")), Cached::Missing));
        assert_eq!((shard.counts.hits, shard.counts.misses, shard.counts.evictions), (1, 1, 1));
    }

    #[test]
    fn the_bytes_add_up() {
        let mut shard = shard(10_000);
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2_000 {
            let (path, entry) = entry(&random.u8(..20).to_string(), random.usize(..9_000));
            match random.bool() {
                true => shard.put(path, entry),
                false => shard.remove(&path),
            }
            let sum: usize = shard.slots.iter().map(|(_, slot)| weight(&slot.entry).0).sum();
            assert_eq!((shard.bytes, shard.files), (sum, 0));
            assert!(sum <= 10_000);
        }
    }

    #[test]
    fn an_entry_that_is_too_large_evicts_nothing() {
        let mut shard = shard(2_000);
        let (path, small) = entry("a", 1);
        shard.put(path, small);
        let (path, large) = entry("b", SMALL as usize);
        shard.put(path, large);
        assert_eq!(names(&shard), "a");
    }
}
