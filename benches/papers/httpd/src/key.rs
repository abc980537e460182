//! [`Key`]: a path with its hash.

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// A path with its hash, which is computed once, outside the shard: the shard's map takes it as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    hash: u64,
    path: Arc<Path>,
}

impl Key {
    pub(crate) fn new(hash: u64, path: Arc<Path>) -> Key {
        Key { hash, path }
    }

    pub(crate) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Which of so many shards has the path. The map inside takes the lowest and the highest bits of the hash, so these
    /// are others.
    pub(crate) fn shard(&self, shards: usize) -> usize {
        (self.hash >> 24) as u32 as usize % shards
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// For a map of keys.
pub(crate) type ByHash = BuildHasherDefault<Passing>;

/// Passes the hash of a [`Key`] on.
#[derive(Debug, Default)]
pub(crate) struct Passing(u64);

impl Hasher for Passing {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a key writes its hash")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    #[test]
    fn a_map_takes_the_hash_as_it_is_and_still_compares_paths() {
        let key = |hash, path: &str| Key::new(hash, Arc::from(Path::new(path)));
        assert_eq!(ByHash::default().hash_one(key(0xfeed, "/a")), 0xfeed);
        assert_eq!(key(7, "/a"), key(7, "/a"));
        assert_ne!(key(7, "/a"), key(7, "/b"));
    }

    #[test]
    fn the_keys_of_a_shard_differ_in_the_lowest_bits() {
        let of_shard = |n: &u64| Key::new(*n, Arc::from(Path::new("/"))).shard(64) == 5;
        let hashes = (0..100_000_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut low: Vec<u64> = hashes.filter(of_shard).map(|hash| hash % 64).collect();
        low.sort_unstable();
        low.dedup();
        assert_eq!(low.len(), 64);
    }
}
