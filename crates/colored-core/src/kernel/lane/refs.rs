//! The owners of lanes: counted references, of which programs have [`Address`]es, and the exact map from colors to lanes.
//!
//! # The table
//!
//! It is used when something is spawned by color, and when a lane's last reference goes; a task and
//! a cell keep their lane. Colors are compared, never hashed into shared lanes (G5).
//!
//! # Retire against revive
//!
//! A lane leaves the table when it is idle and unreferenced. Its count reaches zero under the
//! shard's lock only ([`LanePtr::release`] never takes the last reference itself), and a look-up
//! adds its reference under the same lock. So a look-up finds either a lane that will not be freed,
//! or none.

use crate::kernel::color::Color;
use crate::kernel::lane::GivenBack;
use crate::kernel::lane::base::{Dispatch, Held, Lane, LanePtr, Owner, Tenure};
use crate::kernel::lane::current::{self, NoTask};
use crate::sync::{Arc, Mutex};
use crossbeam_utils::CachePadded;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;

impl LanePtr {
    /// Gives `refs` references back.
    ///
    /// # Safety
    ///
    /// The caller owns them, and uses the lane afterwards only by another reference.
    pub(crate) unsafe fn release(self, refs: usize) {
        // SAFETY: the caller's references keep the lane alive.
        let lane = unsafe { self.get() };
        // Never to zero: the scheduler takes the last reference, under the table's lock if the table has the lane, so
        // that a look-up cannot find a freed lane.
        if lane.refs.release_some(refs) {
            return;
        }
        // The reference is to the scheduler, not into the lane, which is freed during the call: that happens on a
        // worker, which keeps the scheduler.
        let port: &dyn Dispatch = &*lane.port;
        if !port.retire(self, refs, Owner::Worker) {
            // SAFETY: `retire` has refused, so the references are still the caller's.
            unsafe { self.retire_from_outside(refs) };
        }
    }

    /// The lane may be the only owner of its scheduler, so the caller keeps the scheduler too.
    ///
    /// # Safety
    ///
    /// As for [`release`](Self::release).
    #[cold]
    unsafe fn retire_from_outside(self, refs: usize) {
        // SAFETY: the caller's references keep the lane alive.
        let port = Arc::clone(&unsafe { self.get() }.port);
        port.retire(self, refs, Owner::Caller);
    }

    /// Gives references back that were the last ones when the caller looked, if the lane is not
    /// published.
    ///
    /// # Safety
    ///
    /// The caller owns them and does not use the lane afterwards. There are two exceptions: after
    /// [`GivenBack::Published`] it still owns them, and after [`GivenBack::Last`] it frees the lane.
    pub(crate) unsafe fn release_unpublished(self, refs: usize) -> GivenBack {
        // SAFETY: the caller's references keep the lane alive.
        let count = &unsafe { self.get() }.refs;
        count.release_unpublished(refs)
    }

    /// Gives references to a published lane back, under the lock of its table shard; true if none is
    /// left.
    ///
    /// # Safety
    ///
    /// The caller owns them and does not use the lane afterwards. After true it frees the lane.
    pub(crate) unsafe fn release_published(self, refs: usize) -> bool {
        // SAFETY: the caller's references keep the lane alive.
        let count = &unsafe { self.get() }.refs;
        count.release_published(refs)
    }
}

/// An owner of a lane.
pub(crate) struct LaneRef(pub(crate) LanePtr);

impl LaneRef {
    /// # Safety
    ///
    /// The caller gives one reference.
    pub(crate) unsafe fn from_counted(lane: LanePtr) -> Self {
        Self(lane)
    }

    /// A new reference.
    ///
    /// # Safety
    ///
    /// Another reference keeps the lane, or the lock of the shard that has it, which this thread holds.
    pub(crate) unsafe fn counted(lane: LanePtr) -> Self {
        // SAFETY: the caller promises that the lane is alive.
        unsafe { lane.get() }.retain(1);
        Self(lane)
    }

    /// A reference that is not counted, nor given back.
    ///
    /// # Safety
    ///
    /// The lane is alive while this is used.
    pub(crate) unsafe fn borrowed(lane: LanePtr) -> ManuallyDrop<Self> {
        ManuallyDrop::new(Self(lane))
    }

    /// A reference to the lane that this thread holds, if it holds one. Counted as by
    /// [`LaneRef::for_node`], and for the same use.
    pub(crate) fn of_holder() -> Option<Self> {
        let lane = current::lane()?;
        current::retain(lane);
        Some(Self(lane))
    }

    /// A reference for a node that is pushed on this lane next. The holder counts it only when its slice ends: no other
    /// thread can run the node, and so give the reference back, before.
    #[inline]
    pub(crate) fn for_node(&self) -> Self {
        if !current::retain(self.0) {
            self.retain(1);
        }
        Self(self.0)
    }

    /// Asks that the current task go on under this lane when its poll ends. If one poll asks twice, because a
    /// combinator polls two hops, the later request counts. Gives the reference back outside a task.
    pub(crate) fn hop(self) -> Result<(), Self> {
        match current::set_hop(self.0) {
            Ok(earlier) => {
                std::mem::forget(self);
                // SAFETY: the earlier request left its reference.
                drop(earlier.map(|lane| unsafe { Self::from_counted(lane) }));
                Ok(())
            }
            Err(NoTask) => Err(self),
        }
    }

    /// Forgets the reference, and gives its count to the caller.
    #[inline]
    pub(crate) fn into_counted(self) -> LanePtr {
        let lane = self.0;
        std::mem::forget(self);
        lane
    }

    #[inline]
    pub(crate) fn ptr(&self) -> LanePtr {
        self.0
    }

    /// Whether no thread holds it, and nothing is scheduled. A hint.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.chain.is_idle()
    }

    /// Whether the calling thread holds this lane right now.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        current::is(self.0)
    }
}

impl std::ops::Deref for LaneRef {
    type Target = Lane;

    #[inline]
    fn deref(&self) -> &Lane {
        // SAFETY: this reference keeps the lane alive.
        unsafe { self.0.get() }
    }
}

impl Clone for LaneRef {
    /// Counts at once, also for the holder: a clone can leave the thread, and be given back on
    /// another one before this slice ends.
    #[inline]
    fn clone(&self) -> Self {
        self.retain(1);
        Self(self.0)
    }
}

impl Drop for LaneRef {
    #[inline]
    fn drop(&mut self) {
        if !current::give_back(self.0) {
            // SAFETY: this reference is given back once, and not used again.
            unsafe { self.0.release(1) };
        }
    }
}

impl Lane {
    /// A lane of the same scheduler under a fresh color.
    pub(crate) fn spare(&self) -> LaneRef {
        let color = Color::unique();
        let tenure = Tenure::Unpublished;
        let lane = self
            .port
            .spare(color, tenure)
            .unwrap_or_else(|| Box::new(Self::new(color, Arc::clone(&self.port), tenure)));
        // SAFETY: a fresh lane has one reference.
        unsafe { LaneRef::from_counted(LanePtr::from_box(lane)) }
    }
}

/// The end of a lane's last reference.
pub(crate) enum Last {
    /// The lane can be freed.
    Gone(LanePtr),
    /// The color has values: this is the lane's last reference again, for the end of these ([`locals`](crate::ext::locals)).
    Kept(LaneRef),
}

impl Last {
    /// # Safety
    ///
    /// The lane is unreferenced, and no thread finds it before this returns.
    pub(crate) unsafe fn of(ptr: LanePtr) -> Self {
        // SAFETY: the caller frees the lane only after this, so it is alive. An unreferenced lane is idle, and the
        // caller promises that no thread finds it: so this thread has it as a holder has.
        let lane = unsafe { Held::new(ptr) };
        if !lane.has_locals() {
            return Self::Gone(ptr);
        }
        lane.refs.revive();
        Self::Kept(LaneRef(ptr))
    }
}

/// A color of a runtime. It keeps the color's lane.
#[derive(Clone)]
pub struct Address(LaneRef);

impl Address {
    pub(crate) fn of(lane: LaneRef) -> Self {
        Self(lane)
    }

    /// The color.
    #[must_use]
    pub fn color(&self) -> Color {
        self.0.color()
    }

    /// Whether the calling thread runs under the color right now.
    #[inline]
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }

    /// Whether the task that this thread polls goes on under the color after this poll: it has asked to hop there, or
    /// runs there and has not asked to hop away.
    #[must_use]
    pub fn is_next(&self) -> bool {
        current::hop().map_or_else(|| self.is_current(), |to| to == self.0.ptr())
    }

    #[inline]
    pub(crate) fn lane(&self) -> &LaneRef {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.color()).finish()
    }
}

/// How many locks the table has. Two threads collide at one in so many look-ups.
#[cfg(not(colored_loom))]
pub(crate) const SHARDS: usize = 64;
#[cfg(colored_loom)]
pub(crate) const SHARDS: usize = 1;

/// Unique colors, made in a row, whose buckets are in a row. Without, a million tasks that wait, each under a color of its
/// own, take up to twice as long, since each misses the caches in the table. 64 are no better than 16.
pub(crate) const NEAR: u64 = 16;

/// Buckets, of a pointer each, that a shard keeps however few lanes it has.
pub(crate) const KEPT: usize = 1024;

/// A shard that has more buckets keeps so many for each lane. It then shrinks to a quarter, so the moves of its lanes are
/// fewer than the lanes that have gone. The value is a guess.
const SPARSE: usize = 16;

/// The buckets that are looked at under one lock: some 20 µs, most of it for the references.
#[cfg(not(colored_loom))]
const PAGE: usize = 256;
#[cfg(colored_loom)]
const PAGE: usize = 2;

/// How often the lanes of one shard may move while it is gone through. After that the rest of it is one page: a shard
/// grows by doubling, and so moves its lanes a few times at most while others look at a million of them.
const MOVES: u32 = 4;

/// How far the table has been gone through. A lane that is in the table all the time is returned, perhaps twice.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    shard: usize,
    bucket: usize,
    /// The shard's count of moves when its first page was read.
    moves: u32,
    again: u32,
}

pub(crate) struct Table {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    seed: u64,
}

#[derive(Default)]
struct Shard {
    lanes: HashTable<LanePtr>,
    /// How often lanes have been moved to other buckets.
    moves: Cell<u32>,
}

impl Table {
    /// The buckets of each shard.
    #[cfg(all(test, not(colored_loom)))]
    pub(crate) fn buckets(&self) -> Vec<usize> {
        self.shards.iter().map(|shard| shard.lock().lanes.num_buckets()).collect()
    }

    /// Counts a move of the lanes of each shard.
    #[cfg(all(test, not(colored_loom)))]
    pub(crate) fn count_moves(&self) {
        self.shards.iter().for_each(|shard| {
            let moves = &shard.lock().moves;
            moves.set(moves.get() + 1);
        });
    }

    /// An empty table. The seed keeps an adversary from choosing colors that collide.
    pub(crate) fn new(seed: u64) -> Self {
        let shard = |_| CachePadded::new(Mutex::new(Shard::default()));
        Self { shards: (0..SHARDS).map(shard).collect(), seed: seed | 1 }
    }

    fn hash(&self, color: Color) -> u64 {
        // No adversary chooses the number of a unique color.
        let near = if color.is_unique() { color.number() % NEAR } else { 0 };
        // One folded multiplication mixes every bit of the key into both halves.
        let key = (color.number() ^ near ^ self.seed).rotate_left(color.kind() as u32);
        let product = u128::from(key) * u128::from(self.seed ^ 0x9e37_79b9_7f4a_7c15);
        // The tag tells neighbours apart.
        (product as u64) ^ ((product >> 64) as u64) ^ near ^ (near << 57)
    }

    /// The hash of a lane that is moved to another bucket.
    fn rehash(&self, moves: &Cell<u32>, lane: LanePtr) -> u64 {
        moves.set(moves.get().wrapping_add(1));
        self.hash(color_of(lane))
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        // `HashTable` uses the low bits for the place and the top seven for the tag.
        &self.shards[(hash >> 40) as usize % SHARDS]
    }

    /// The lane of a color, made by `make` if there is none.
    pub(crate) fn get_or_insert(&self, color: Color, make: impl FnOnce() -> Box<Lane>) -> LaneRef {
        let hash = self.hash(color);
        let mut shard = self.shard(hash).lock();
        let Shard { lanes, moves } = &mut *shard;
        let rehash = |lane: &LanePtr| self.rehash(moves, *lane);
        match lanes.entry(hash, |lane| color_of(*lane) == color, rehash) {
            // SAFETY: the shard that has the lane is locked.
            Entry::Occupied(entry) => unsafe { LaneRef::counted(*entry.get()) },
            Entry::Vacant(entry) => {
                let lane = *entry.insert(LanePtr::from_box(make())).get();
                // SAFETY: a new lane has one reference.
                unsafe { LaneRef::from_counted(lane) }
            }
        }
    }

    /// Adds a lane that has not been in the table. Its color is unique, so no look-up can have
    /// named it before.
    pub(crate) fn insert(&self, lane: LanePtr) {
        let hash = self.hash(color_of(lane));
        let mut shard = self.shard(hash).lock();
        let Shard { lanes, moves } = &mut *shard;
        let rehash = |lane: &LanePtr| self.rehash(moves, *lane);
        lanes.insert_unique(hash, lane, rehash);
    }

    /// Gives references back. If none is left the lane is out of the table, or kept for its values.
    ///
    /// # Safety
    ///
    /// The caller owns the references and does not use the lane afterwards.
    #[inline(never)]
    pub(crate) unsafe fn release(&self, lane: LanePtr, refs: usize) -> Option<Last> {
        let hash = self.hash(color_of(lane));
        let mut shard = self.shard(hash).lock();
        // SAFETY: the references are the caller's, and the shard is locked.
        if !unsafe { lane.release_published(refs) } {
            return None;
        }
        // SAFETY: the lane is unreferenced, and the lock keeps look-ups out.
        let last = unsafe { Last::of(lane) };
        if let Last::Gone(lane) = last {
            let Shard { lanes, moves } = &mut *shard;
            lanes.find_entry(hash, |found| *found == lane).ok()?.remove();
            // `capacity` leaves out the buckets whose lanes have gone.
            let buckets = lanes.num_buckets();
            if buckets > KEPT && lanes.len() <= buckets / SPARSE {
                // Many lanes have come and gone: free their memory.
                lanes.shrink_to(2 * lanes.len(), |lane| self.rehash(moves, *lane));
            }
        }
        Some(last)
    }

    /// References to all lanes.
    pub(crate) fn all(&self) -> Vec<LaneRef> {
        let mut lanes = Vec::new();
        for shard in &self.shards {
            lanes.extend(shard.lock().lanes.iter().map(|lane| {
                // SAFETY: the shard that has the lane is locked.
                unsafe { LaneRef::counted(*lane) }
            }));
        }
        lanes
    }

    /// The next lanes, up to a page; `None` at the end. A page may be empty.
    pub(crate) fn page(&self, cursor: &mut Cursor) -> Option<Vec<LaneRef>> {
        let shard = self.shards.get(cursor.shard)?.lock();
        let Shard { lanes, moves } = &*shard;
        let moves = moves.get();
        if cursor.bucket == 0 {
            cursor.moves = moves;
        } else if cursor.moves != moves {
            // The lanes have other places, and the next ones are unknown.
            *cursor = Cursor { shard: cursor.shard, bucket: 0, moves, again: cursor.again + 1 };
        }
        let all = lanes.num_buckets();
        let end = if cursor.again >= MOVES { all } else { all.min(cursor.bucket + PAGE) };
        let found = (cursor.bucket..end).filter_map(|bucket| lanes.get_bucket(bucket));
        // SAFETY: the shard that has the lane is locked.
        let page = found.map(|lane| unsafe { LaneRef::counted(*lane) }).collect();
        cursor.bucket = end;
        if end == all {
            *cursor = Cursor { shard: cursor.shard + 1, ..Cursor::default() };
        }
        Some(page)
    }

    /// Calls `f` with each lane, under the lock of its shard.
    pub(crate) fn for_each(&self, mut f: impl FnMut(&Lane)) {
        for shard in &self.shards {
            for lane in shard.lock().lanes.iter() {
                // SAFETY: a lane in the table is not freed while its lock is held.
                f(unsafe { lane.get() });
            }
        }
    }

    /// How many colors have a lane.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().lanes.len()).sum()
    }
}

fn color_of(lane: LanePtr) -> Color {
    // SAFETY: callers pass lanes to which they own a reference, or that are in a locked shard.
    unsafe { lane.get() }.color()
}
