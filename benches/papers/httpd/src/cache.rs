//! [`Cache`]: what the server knows of files, in shards that are cells.
//!
//! A path has its shard; a shard is the state of one color, and so needs no lock. Requests for paths of
//! different shards run in parallel.

use crate::entry::{Content, Entry};
use crate::key::{ByHash, Key};
use crate::loading::{Load, Loading};
use crate::steps;
use colored::time::{Duration, Instant};
use colored::{Color, ColorCell};
use lru::LruCache;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::AddAssign;
use std::path::Path;
use std::sync::Arc;

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
    /// Somebody has to read it.
    Missing(Loading),
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    /// Files that were read, for one miss or for several at a time.
    pub(crate) reads: u64,
    pub(crate) evictions: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.reads += other.reads;
        self.evictions += other.evictions;
    }
}

#[derive(Debug)]
pub(crate) struct Cache {
    shards: Vec<ColorCell<Shard>>,
    hasher: RandomState,
}

impl Cache {
    /// `color` gives each shard its color.
    pub(crate) fn new(shards: usize, limits: Limits, color: fn() -> Color) -> Cache {
        let limits = Limits {
            bytes: limits.bytes / shards,
            files: limits.files.div_ceil(shards),
            recheck: limits.recheck,
        };
        let shard = |_| ColorCell::new(color(), Shard::new(limits));
        Cache { shards: (0..shards).map(shard).collect(), hasher: RandomState::new() }
    }

    /// The path with its hash.
    pub(crate) fn key(&self, path: &Arc<Path>) -> Key {
        Key::new(self.hasher.hash_one(path), Arc::clone(path))
    }

    /// Looks a path up. It is then the last one to be evicted.
    pub(crate) async fn get(&self, key: &Key) -> Cached {
        let (shard, owned) = (self.shard(key), key.clone());
        match shard.call(move |shard| shard.get(&owned)).await {
            Ok((entry, true)) => Cached::Fresh(entry),
            Ok((entry, false)) => Cached::Stale(entry),
            Err(load) => Cached::Missing(Loading::new(shard, key, load)),
        }
    }

    /// Notes that an entry agrees with its file now.
    pub(crate) fn confirm(&self, key: &Key, entry: &Arc<Entry>) {
        let (key, entry) = (key.clone(), Arc::clone(entry));
        self.shard(&key).post(move |shard| shard.confirm(&key, &entry));
    }

    /// Forgets an entry that differs from its file. `Ok` if there is a newer one already.
    pub(crate) async fn replace(
        &self,
        key: &Key,
        entry: &Arc<Entry>,
    ) -> Result<Arc<Entry>, Loading> {
        let (shard, owned, entry) = (self.shard(key), key.clone(), Arc::clone(entry));
        let replaced = shard.call(move |shard| shard.replace(&owned, &entry)).await;
        replaced.map_err(|load| Loading::new(shard, key, load))
    }

    pub(crate) async fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for shard in &self.shards {
            sum += shard.call(|shard| shard.counts).await;
        }
        sum
    }

    /// The part that has the path.
    pub(crate) fn shard(&self, key: &Key) -> &ColorCell<Shard> {
        &self.shards[key.shard(self.shards.len())]
    }
}

/// A part of the cache: the state of one color.
#[derive(Debug)]
pub(crate) struct Shard {
    slots: LruCache<Key, Slot, ByHash>,
    /// The files that are being read.
    loading: HashMap<Key, Arc<Load>, ByHash>,
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
        let slots = LruCache::unbounded_with_hasher(ByHash::default());
        let (loading, counts) = (HashMap::default(), Counts::default());
        Shard { slots, loading, limits, bytes: 0, files: 0, counts }
    }

    /// The entry, and whether it was compared with its file of late; otherwise a part in the reading of the file.
    fn get(&mut self, key: &Key) -> Result<(Arc<Entry>, bool), Arc<Load>> {
        steps::note("look into the cache");
        let Some(slot) = self.slots.get(key) else {
            self.counts.misses += 1;
            return Err(self.load(key));
        };
        self.counts.hits += 1;
        Ok((Arc::clone(&slot.entry), slot.checked.elapsed() < self.limits.recheck))
    }

    fn load(&mut self, key: &Key) -> Arc<Load> {
        Arc::clone(self.loading.entry(key.clone()).or_default())
    }

    /// A request has no part in a load any more; the load goes with the last one.
    pub(crate) fn leave(&mut self, key: &Key) {
        // Only this color hands parts out.
        if self.loading.get(key).is_some_and(|load| Arc::strong_count(load) == 1) {
            self.loading.remove(key);
        }
    }

    /// How many files are being read.
    #[cfg(test)]
    pub(crate) fn loading_count(&self) -> usize {
        self.loading.len()
    }

    fn confirm(&mut self, key: &Key, entry: &Arc<Entry>) {
        if let Some(slot) = self.slots.peek_mut(key).filter(|slot| Arc::ptr_eq(&slot.entry, entry))
        {
            slot.checked = Instant::now();
        }
    }

    fn replace(&mut self, key: &Key, entry: &Arc<Entry>) -> Result<Arc<Entry>, Arc<Load>> {
        match self.slots.peek(key) {
            Some(newer) if !Arc::ptr_eq(&newer.entry, entry) => Ok(Arc::clone(&newer.entry)),
            _ => {
                self.remove(key);
                Err(self.load(key))
            }
        }
    }

    /// Keeps what was read, if there is room for it.
    pub(crate) fn put(&mut self, key: Key, entry: Arc<Entry>) {
        steps::note("keep in the cache");
        self.counts.reads += 1;
        self.remove(&key);
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
        self.slots.put(key, Slot { entry, checked: Instant::now() });
    }

    fn remove(&mut self, key: &Key) {
        if let Some(slot) = self.slots.pop(key) {
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
pub(crate) mod tests {
    use super::*;
    use crate::access::SMALL;
    use bytes::Bytes;

    pub(crate) fn entry(name: &str, len: usize) -> (Key, Arc<Entry>) {
        let hash = name.bytes().map(u64::from).sum();
        let metadata = std::fs::metadata(".").unwrap();
        let content = Content::Bytes(Bytes::from(vec![0; len]));
        let entry = Entry::new(Path::new(name), &metadata, content);
        (Key::new(hash, Arc::from(Path::new(name))), Arc::new(entry))
    }

    fn key(name: &str) -> Key {
        entry(name, 0).0
    }

    fn shard(bytes: usize) -> Shard {
        Shard::new(Limits { bytes, files: 1, recheck: Duration::from_secs(60) })
    }

    fn names(shard: &Shard) -> String {
        shard.slots.iter().map(|(key, _)| key.path().display().to_string()).collect()
    }

    #[test]
    fn the_entry_that_was_not_used_for_longest_goes_first() {
        let mut shard = shard(3 * 1256);
        for name in ["a", "b", "c"] {
            let (key, entry) = entry(name, 1000);
            shard.put(key, entry);
        }
        assert!(shard.get(&key("a")).is_ok_and(|(_, is_fresh)| is_fresh));
        let (last, entry) = entry("d", 1000);
        shard.put(last, entry);
        assert_eq!(names(&shard), "dac");
        assert!(shard.get(&key("b")).is_err());
        let Counts { hits, misses, reads, evictions } = shard.counts;
        assert_eq!((hits, misses, reads, evictions), (1, 1, 4, 1));
    }

    #[test]
    fn the_bytes_add_up() {
        let mut shard = shard(10_000);
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2_000 {
            let (key, entry) = entry(&random.u8(..20).to_string(), random.usize(..9_000));
            match random.bool() {
                true => shard.put(key, entry),
                false => shard.remove(&key),
            }
            let sum: usize = shard.slots.iter().map(|(_, slot)| weight(&slot.entry).0).sum();
            assert_eq!((shard.bytes, shard.files), (sum, 0));
            assert!(sum <= 10_000);
        }
    }

    #[test]
    fn an_entry_that_is_too_large_evicts_nothing() {
        let mut shard = shard(2_000);
        let (small, entry_of_small) = entry("a", 1);
        shard.put(small, entry_of_small);
        let (large, entry_of_large) = entry("b", SMALL as usize);
        shard.put(large, entry_of_large);
        assert_eq!(names(&shard), "a");
    }

    #[test]
    fn an_entry_that_is_replaced_is_read_once_and_the_newer_one_stays() {
        let mut shard = shard(10_000);
        let (key, old) = entry("a", 1);
        shard.put(key.clone(), Arc::clone(&old));
        let loads =
            [(); 2].map(|()| shard.replace(&key, &old).expect_err("it was the present one"));
        assert!(Arc::ptr_eq(&loads[0], &loads[1]));
        let newer = entry("a", 2).1;
        shard.put(key.clone(), Arc::clone(&newer));
        assert!(Arc::ptr_eq(&shard.replace(&key, &old).unwrap(), &newer));
        shard.leave(&key);
        assert_eq!(shard.loading.len(), 1, "two requests have a part in it");
        drop(loads);
        shard.leave(&key);
        assert_eq!(shard.loading.len(), 0);
    }
}
