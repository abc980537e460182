//! Replies to changes, for clients that repeat a request on another connection.
//!
//! A client with a cache gives each request a number, the stamp of its credentials, and keeps it when it repeats the request.
//! A change that was made is not made again: between the two somebody else may have changed the file.

use crate::leases::Holder;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// How many replies are kept. A guess: of changes, some 200 bytes each.
const KEPT: usize = 4096;

/// A request of a client.
pub(crate) type Key = (Holder, u32);

/// The last replies.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    replies: BTreeMap<Key, Arc<Vec<u8>>>,
    order: VecDeque<Key>,
}

impl Replies {
    pub(crate) fn get(&self, key: Key) -> Option<Arc<Vec<u8>>> {
        self.replies.get(&key).cloned()
    }

    pub(crate) fn keep(&mut self, key: Key, reply: Arc<Vec<u8>>) {
        if self.order.len() >= KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.replies.remove(&oldest);
        }
        self.order.push_back(key);
        self.replies.insert(key, reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_replies_are_kept() {
        let (mut replies, holder) = (Replies::default(), Holder([1; 16]));
        for number in 0..=KEPT as u32 {
            replies.keep((holder, number), Arc::new(number.to_be_bytes().to_vec()));
        }
        assert_eq!(replies.get((holder, 0)), None);
        assert_eq!(replies.get((holder, 1)).as_deref(), Some(&1_u32.to_be_bytes().to_vec()));
        assert_eq!(replies.get((Holder([2; 16]), 1)), None);
    }
}
