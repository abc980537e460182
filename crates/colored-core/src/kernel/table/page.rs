//! All lanes, a page at a time: so no look-up waits longer than a page takes.

use super::{Shard, Table, owned};
use crate::kernel::lane::{LanePtr, LaneRef};

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

impl Table {
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
        let owned = |lane: &LanePtr| unsafe { owned(*lane) };
        let page = found.map(owned).collect();
        cursor.bucket = end;
        if end == all {
            *cursor = Cursor { shard: cursor.shard + 1, ..Cursor::default() };
        }
        Some(page)
    }
}
