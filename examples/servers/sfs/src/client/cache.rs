//! What a client keeps of files while it has their leases.
//!
//! Each file has a generation, which a call back and a change of the client's own raise. An answer is kept only if the
//! generation is the one of when the question was sent: else the answer may be older than the change.

use colored::time::{Duration, Instant};
use nfs3_types::nfs3::{fattr3, nfs_fh3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The bytes that are kept at most. A guess.
const ROOM: usize = 256 << 20;

/// The bytes of a file at one position.
pub(super) type Block = Arc<Vec<u8>>;

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub name: Vec<u8>,
    /// Its attributes, if the server has told them: as of when the directory was read.
    pub attributes: Option<fattr3>,
}

#[derive(Debug, Default)]
struct Kept {
    generation: u64,
    until: Option<Instant>,
    attributes: Option<fattr3>,
    blocks: BTreeMap<u64, Block>,
    names: BTreeMap<Vec<u8>, nfs_fh3>,
    listing: Option<Arc<Vec<Listed>>>,
}

impl Kept {
    fn forget(&mut self) {
        *self = Kept { generation: self.generation, ..Kept::default() };
    }
}

/// How often the cache had what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Answers from the cache.
    pub hits: u64,
    /// Answers of the server.
    pub misses: u64,
    /// Call-backs by the server.
    pub recalls: u64,
}

/// The cache of a client.
#[derive(Debug, Default)]
pub(super) struct Cache {
    files: BTreeMap<Vec<u8>, Kept>,
    bytes: usize,
    reads_behind_leases: bool,
    pub(super) counts: Counts,
}

impl Cache {
    /// A cache that reads what it has also when the lease has expired, if told so: the mistake of a test.
    pub(super) fn new(reads_behind_leases: bool) -> Cache {
        Cache { reads_behind_leases, ..Cache::default() }
    }

    fn leased(&mut self, file: &nfs_fh3, now: Instant) -> Option<&mut Kept> {
        let is_mistaken = self.reads_behind_leases;
        let kept = self.files.get_mut(&*file.data)?;
        let until = kept.until?;
        (now < until || is_mistaken).then_some(kept)
    }

    /// The generation of a file, for a question that is about to be sent.
    pub(super) fn generation(&mut self, file: &nfs_fh3) -> u64 {
        self.files.entry(file.data.to_vec()).or_default().generation
    }

    /// The attributes under a valid lease.
    pub(super) fn attributes(&mut self, file: &nfs_fh3, now: Instant) -> Option<fattr3> {
        let found = self.leased(file, now).and_then(|kept| kept.attributes.clone());
        self.count(found.is_some());
        found
    }

    /// Notes a lease, which the server has given in answer to a question of this generation. Returns whether it is valid.
    pub(super) fn note_lease(
        &mut self,
        file: &nfs_fh3,
        generation: u64,
        until: Instant,
        attributes: fattr3,
        now: Instant,
    ) -> bool {
        let was_leased = self.leased(file, now).is_some();
        let Some(kept) = self.files.get_mut(&*file.data) else { return false };
        if kept.generation != generation || until <= now {
            return false;
        }
        if !was_leased {
            // Between the old lease and this one the file may have changed.
            kept.forget();
        }
        kept.until = Some(until);
        kept.attributes = Some(attributes);
        true
    }

    /// How long the lease of a file is still valid.
    pub(super) fn left(&mut self, file: &nfs_fh3, now: Instant) -> Duration {
        let until = self.leased(file, now).and_then(|kept| kept.until);
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    pub(super) fn block(&mut self, file: &nfs_fh3, number: u64, now: Instant) -> Option<Block> {
        let found = self.leased(file, now).and_then(|kept| kept.blocks.get(&number).cloned());
        self.count(found.is_some());
        found
    }

    pub(super) fn keep_block(
        &mut self,
        (file, generation): (&nfs_fh3, u64),
        number: u64,
        block: Block,
        now: Instant,
    ) {
        if self.bytes + block.len() > ROOM {
            self.files.values_mut().for_each(|kept| kept.blocks.clear());
            self.bytes = 0;
        }
        let len = block.len();
        if let Some(kept) = self.current(file, generation, now) {
            kept.blocks.insert(number, block);
            self.bytes += len;
        }
    }

    pub(super) fn name(
        &mut self,
        directory: &nfs_fh3,
        name: &[u8],
        now: Instant,
    ) -> Option<nfs_fh3> {
        let found = self.leased(directory, now).and_then(|kept| kept.names.get(name).cloned());
        self.count(found.is_some());
        found
    }

    pub(super) fn keep_name(
        &mut self,
        (directory, generation): (&nfs_fh3, u64),
        name: Vec<u8>,
        file: nfs_fh3,
        now: Instant,
    ) {
        if let Some(kept) = self.current(directory, generation, now) {
            kept.names.insert(name, file);
        }
    }

    pub(super) fn listing(
        &mut self,
        directory: &nfs_fh3,
        now: Instant,
    ) -> Option<Arc<Vec<Listed>>> {
        let found = self.leased(directory, now).and_then(|kept| kept.listing.clone());
        self.count(found.is_some());
        found
    }

    pub(super) fn keep_listing(
        &mut self,
        (directory, generation): (&nfs_fh3, u64),
        listing: Arc<Vec<Listed>>,
        now: Instant,
    ) {
        if let Some(kept) = self.current(directory, generation, now) {
            kept.listing = Some(listing);
        }
    }

    fn current(&mut self, file: &nfs_fh3, generation: u64, now: Instant) -> Option<&mut Kept> {
        self.leased(file, now).filter(|kept| kept.generation == generation)
    }

    /// Forgets a file, and what is under way of it.
    pub(super) fn forget(&mut self, file: &[u8]) {
        let kept = self.files.entry(file.to_vec()).or_default();
        self.bytes -= kept.blocks.values().map(|block| block.len()).sum::<usize>().min(self.bytes);
        kept.generation += 1;
        kept.forget();
    }

    /// Forgets a file because the server asks for that.
    pub(super) fn recall(&mut self, file: &[u8]) {
        self.counts.recalls += 1;
        self.forget(file);
    }

    fn count(&mut self, is_hit: bool) {
        match is_hit {
            true => self.counts.hits += 1,
            false => self.counts.misses += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::Id;
    use nfs3_types::nfs3::{ftype3, nfstime3, specdata3};

    fn attributes() -> fattr3 {
        let time = nfstime3::default();
        fattr3 {
            type_: ftype3::NF3REG,
            mode: 0o644,
            nlink: 1,
            uid: 0,
            gid: 0,
            size: 1,
            used: 0,
            rdev: specdata3::default(),
            fsid: 1,
            fileid: 1,
            atime: time,
            mtime: time,
            ctime: time,
        }
    }

    #[test]
    fn an_answer_to_a_question_from_before_a_call_back_is_not_kept() {
        let (mut cache, file, now) = (Cache::default(), Id(1).handle(), Instant::now());
        let until = now + Duration::from_secs(1);
        let before = cache.generation(&file);
        assert!(cache.note_lease(&file, before, until, attributes(), now));
        cache.keep_block((&file, before), 0, Arc::new(vec![1]), now);
        assert!(cache.block(&file, 0, now).is_some());
        cache.forget(&file.data);
        assert!(cache.block(&file, 0, now).is_none() && cache.attributes(&file, now).is_none());
        assert!(!cache.note_lease(&file, before, until, attributes(), now));
        let after = cache.generation(&file);
        assert!(cache.note_lease(&file, after, until, attributes(), now));
        cache.keep_block((&file, before), 0, Arc::new(vec![1]), now);
        assert!(cache.block(&file, 0, now).is_none());
    }

    #[test]
    fn a_lease_that_is_renewed_late_begins_with_nothing() {
        let (mut cache, file, now) = (Cache::default(), Id(1).handle(), Instant::now());
        let second = Duration::from_secs(1);
        let generation = cache.generation(&file);
        cache.note_lease(&file, generation, now + second, attributes(), now);
        cache.keep_block((&file, generation), 0, Arc::new(vec![1]), now);
        cache.note_lease(&file, generation, now + 2 * second, attributes(), now + second / 2);
        assert!(cache.block(&file, 0, now + second).is_some(), "renewed in time");
        let late = now + 2 * second;
        assert!(cache.block(&file, 0, late).is_none());
        cache.note_lease(&file, generation, late + second, attributes(), late);
        assert!(cache.block(&file, 0, late).is_none() && cache.attributes(&file, late).is_some());
    }
}
