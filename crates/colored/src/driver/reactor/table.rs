//! The registered sockets of one shard, and the tokens by which the system names them.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use mio::Token;

use super::entry::Entry;

/// How many bits of a token are the index; the rest are the generation.
const INDEX_BITS: u32 = if usize::BITS == 64 { 32 } else { 20 };
const INDEX_MASK: usize = (1 << INDEX_BITS) - 1;
/// A generation is below this: 2³², or 2¹² on 32 bits.
const GENERATIONS: usize = 1 << (usize::BITS - INDEX_BITS);

/// So many free places are not used again. On 32 bits, where a generation is short, this keeps a token from being given
/// again before 2¹² · 2¹² sockets have gone, as long as sockets come and go one by one; it costs 48 KiB for each shard.
const RESTING: usize = if usize::BITS == 64 { 0 } else { GENERATIONS };

/// Names a socket in events: an index in the table, and a generation.
///
/// The index is reused after a socket is dropped, perhaps while another thread holds a batch of events with the old token
/// in it, or while the system still watches a descriptor that the socket was duplicated to. The generation tells the two
/// apart. A stale event reaches a new socket only after [`GENERATIONS`] uses of one place, and the places are used in turn;
/// it would be a wake-up too much, for an event is a hint, and the next operation asks the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(Token);

impl Key {
    fn new(index: usize, generation: usize) -> Key {
        Key(Token(generation << INDEX_BITS | index))
    }

    fn index(self) -> usize {
        self.0.0 & INDEX_MASK
    }

    fn generation(self) -> usize {
        self.0.0 >> INDEX_BITS
    }

    /// The token to register under.
    pub(crate) fn token(self) -> Token {
        self.0
    }

    /// The next key of the same place.
    fn next(self) -> Key {
        Key::new(self.index(), (self.generation() + 1) % GENERATIONS)
    }
}

/// The sockets of one shard.
#[derive(Default)]
pub(super) struct Table {
    places: Vec<Place>,
    /// The free places; the one that has been free for the longest time is used first.
    free: VecDeque<u32>,
}

struct Place {
    /// The key of the socket, or the next one.
    key: Key,
    entry: Option<Arc<Entry>>,
}

impl Table {
    /// Adds a socket.
    ///
    /// # Errors
    ///
    /// When the indexes are used up: after four billion sockets, or a million on 32 bits.
    pub(super) fn insert(&mut self, entry: Arc<Entry>) -> io::Result<Key> {
        let mut index = self.places.len();
        // The index of all ones is left free: it would make a token that `WAKE` or `ALARM` could equal.
        let is_full = index >= INDEX_MASK;
        if (self.free.len() > RESTING || is_full)
            && let Some(free) = self.free.pop_front()
        {
            index = free as usize;
        } else if is_full {
            let text = format!("a reactor shard holds at most {INDEX_MASK} sockets");
            return Err(io::Error::other(text));
        } else {
            self.places.push(Place { key: Key::new(index, 0), entry: None });
        }
        let place = &mut self.places[index];
        place.entry = Some(entry);
        Ok(place.key)
    }

    /// Removes the socket that `insert` gave `key`.
    pub(super) fn remove(&mut self, key: Key) -> Arc<Entry> {
        let place = &mut self.places[key.index()];
        debug_assert_eq!(place.key, key, "a socket is removed once, under the key it was given");
        let entry = place.entry.take().expect("a socket is removed once");
        place.key = key.next();
        self.free.push_back(key.index() as u32);
        entry
    }

    /// The socket that an event with `token` is for, or none if it is gone.
    pub(super) fn get(&self, token: Token) -> Option<&Entry> {
        let Place { key, entry } = self.places.get(Key(token).index())?;
        entry.as_deref().filter(|_| *key == Key(token))
    }

    /// All sockets.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.places.iter().filter_map(|place| place.entry.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::super::ready::Ready;
    use super::*;

    fn entry() -> Arc<Entry> {
        Arc::new(Entry::new(Ready::EMPTY, 0))
    }

    #[test]
    fn a_reused_index_gets_another_token() {
        let mut table = Table::default();
        let first = table.insert(entry()).unwrap();
        let mut old = first;
        for _ in 0..=RESTING {
            table.remove(old);
            let new = table.insert(entry()).unwrap();
            assert!(table.get(old.token()).is_none());
            assert!(table.get(new.token()).is_some());
            old = new;
        }
        assert_eq!(old.index(), first.index(), "the places are used again");
        assert_ne!(old, first);
        assert!(table.get(first.token()).is_none());
    }

    /// On 32 bits, too: a million sockets come and go while a thread holds an event.
    #[test]
    fn a_token_is_not_given_again_soon() {
        let mut table = Table::default();
        let stays: Vec<_> = (0..3).map(|_| table.insert(entry()).unwrap()).collect();
        let old = table.insert(entry()).unwrap();
        table.remove(old);
        let shared = entry();
        for _ in 0..1_000_000 {
            let key = table.insert(shared.clone()).unwrap();
            assert_ne!(key, old);
            table.remove(key);
        }
        assert!(table.places.len() <= 4 + RESTING, "{}", table.places.len());
        assert!(stays.iter().all(|key| table.get(key.token()).is_some()));
        assert_eq!(table.iter().count(), 3);
    }

    #[test]
    fn the_generation_wraps() {
        let mut table = Table::default();
        let last = Key::new(0, GENERATIONS - 1);
        table.places.push(Place { key: last, entry: Some(entry()) });
        assert!(table.get(last.token()).is_some());
        table.remove(last);
        assert_eq!(table.places[0].key, Key::new(0, 0));
        assert!(table.get(last.token()).is_none());
    }

    #[test]
    fn no_socket_has_a_token_of_the_shard() {
        for token in [super::super::WAKE, super::super::ALARM] {
            assert_eq!(Key(token).index(), INDEX_MASK);
        }
    }
}
