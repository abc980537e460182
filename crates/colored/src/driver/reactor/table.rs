//! The registered sockets of one shard, and the tokens by which the system names them.

use std::io;
use std::sync::Arc;

use mio::Token;
use slab::Slab;

use super::entry::Entry;

/// How many bits of a token are the index; the rest are the generation.
const INDEX_BITS: u32 = if usize::BITS == 64 { 32 } else { 20 };
const INDEX_MASK: usize = (1 << INDEX_BITS) - 1;

/// Names a socket in events: an index in the table, and a generation.
///
/// The index is reused as soon as a socket is dropped, perhaps while another thread holds a batch
/// of events with the old token in it. The generation tells the two apart, so that a stale event
/// never reaches the new socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(Token);

impl Key {
    fn new(index: usize, generation: usize) -> Key {
        Key(Token(generation << INDEX_BITS | index))
    }

    fn index(self) -> usize {
        self.0.0 & INDEX_MASK
    }

    /// The token to register under.
    pub(crate) fn token(self) -> Token {
        self.0
    }
}

/// The sockets of one shard.
#[derive(Default)]
pub(super) struct Table {
    entries: Slab<(Key, Arc<Entry>)>,
    /// Counts the insertions, and wraps around.
    generation: usize,
}

impl Table {
    /// Adds a socket.
    ///
    /// # Errors
    ///
    /// When the indexes are used up, which on 64 bits is after four billion sockets.
    pub(super) fn insert(&mut self, entry: Arc<Entry>) -> io::Result<Key> {
        let vacant = self.entries.vacant_entry();
        // The index of all ones is left free: it would make a token that `WAKE` or `ALARM` could equal.
        if vacant.key() >= INDEX_MASK {
            let text = format!("a reactor shard holds at most {INDEX_MASK} sockets");
            return Err(io::Error::other(text));
        }
        self.generation = self.generation.wrapping_add(1);
        let key = Key::new(vacant.key(), self.generation);
        vacant.insert((key, entry));
        Ok(key)
    }

    /// Removes the socket that `insert` gave `key`.
    pub(super) fn remove(&mut self, key: Key) -> Arc<Entry> {
        let (found, entry) = self.entries.remove(key.index());
        debug_assert_eq!(found, key, "a socket is removed once, under the key it was given");
        entry
    }

    /// The socket that an event with `token` is for, or none if it is gone.
    pub(super) fn get(&self, token: Token) -> Option<&Entry> {
        let (key, entry) = self.entries.get(Key(token).index())?;
        (*key == Key(token)).then_some(&**entry)
    }

    /// All sockets.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().map(|(_, (_, entry))| &**entry)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ready::Ready;
    use super::*;

    #[test]
    fn a_reused_index_gets_another_token() {
        let mut table = Table::default();
        let entry = || Arc::new(Entry::new(Ready::EMPTY, 0));
        let old = table.insert(entry()).unwrap();
        table.remove(old);
        let new = table.insert(entry()).unwrap();
        assert_eq!(old.index(), new.index());
        assert!(table.get(old.token()).is_none());
        assert!(table.get(new.token()).is_some());
    }

    #[test]
    fn the_generation_wraps() {
        let mut table = Table { generation: usize::MAX - 1, ..Table::default() };
        for _ in 0..4 {
            let key = table.insert(Arc::new(Entry::new(Ready::EMPTY, 0))).unwrap();
            assert!(table.get(key.token()).is_some());
        }
    }
}
