//! Free lists: a worker's own, and the one that all workers of a runtime share.
//!
//! A worker's list that has become long moves a batch of items to the shared list, and an empty one takes a batch from
//! there: one lock for so many items.

use crate::sync::{AtomicUsize, Mutex, Ordering};
use std::cell::RefCell;

/// Items in a batch. `benches/ratio.rs`, `spawn_many`: 32 costs 4 % more than 64, 256 gains nothing.
const BATCH: usize = 64;

/// A worker's free items, in an array beside the items, not a list through them: another core was more often than not
/// the last to use a free block, and popping from a list would wait for its cache line.
pub(crate) struct FreeList<T>(RefCell<Vec<T>>);

impl<T> FreeList<T> {
    /// An empty list.
    pub(crate) fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Takes the item that was put in last.
    #[inline]
    pub(crate) fn pop(&self, shared: &SharedList<T>) -> Option<T> {
        let mut items = self.0.borrow_mut();
        if items.is_empty() {
            shared.give_batch_to(&mut items);
        }
        items.pop()
    }

    /// Puts an item in. Calls `free` with items for which there is no room, neither here nor in `shared`.
    #[inline]
    pub(crate) fn push(&self, item: T, shared: &SharedList<T>, free: impl FnOnce(Vec<T>)) {
        let mut items = self.0.borrow_mut();
        if items.len() == 2 * BATCH {
            drop(items);
            self.move_batch_to(shared, free);
            items = self.0.borrow_mut();
        }
        items.push(item);
    }

    #[cold]
    fn move_batch_to(&self, shared: &SharedList<T>, free: impl FnOnce(Vec<T>)) {
        let mut oldest: Vec<T> = self.0.borrow_mut().drain(..BATCH).collect();
        if !shared.take_all_of(&mut oldest) {
            free(oldest);
        }
    }

    /// Takes all items.
    pub(crate) fn take_all(&self) -> Vec<T> {
        self.0.take()
    }
}

/// Free items that the workers of a runtime share. A thread that would find the list empty, or full, takes no lock: with a
/// lock, each spawn of a worker whose blocks end elsewhere would wait for all others that find nothing either.
// All workers write here, so it has cache lines of its own: two, which the processor may fetch together.
#[repr(align(128))]
pub(crate) struct SharedList<T> {
    /// `None` when the list has been closed.
    items: Mutex<Option<Vec<T>>>,
    len: AtomicUsize,
    most: usize,
}

impl<T> SharedList<T> {
    /// An empty list that has room for this number of items.
    pub(crate) fn new(most: usize) -> Self {
        Self { items: Mutex::new(Some(Vec::new())), len: AtomicUsize::new(0), most }
    }

    /// About how many items there are.
    fn len(&self) -> usize {
        // Ordering: a hint. The lock hands the items over.
        self.len.load(Ordering::Relaxed)
    }

    /// Calls `f` with the items, under the lock; `None` if the list has been closed.
    fn with<R>(&self, f: impl FnOnce(&mut Vec<T>) -> R) -> Option<R> {
        let mut all = self.items.lock();
        let items = all.as_mut()?;
        let result = f(items);
        // Ordering: as in `len`.
        self.len.store(items.len(), Ordering::Relaxed);
        Some(result)
    }

    /// Takes an item. May miss one that another thread is putting in or has just put in.
    pub(crate) fn pop(&self) -> Option<T> {
        if self.len() == 0 { None } else { self.with(Vec::pop)? }
    }

    /// Puts an item in; returns it if there is no room.
    pub(crate) fn push(&self, item: T) -> Option<T> {
        if self.len() >= self.most {
            return Some(item);
        }
        let mut item = Some(item);
        self.with(|items| {
            if items.len() < self.most {
                items.extend(item.take());
            }
        });
        item
    }

    /// Takes all items, and has no room for others from now on.
    pub(crate) fn close(&self) -> Vec<T> {
        self.items.lock().take().unwrap_or_default()
    }

    #[cold]
    fn give_batch_to(&self, own: &mut Vec<T>) {
        if self.len() > 0 {
            self.with(|items| own.extend(items.drain(items.len().saturating_sub(BATCH)..)));
        }
    }

    /// Puts all of `given` in, if there is room, and says whether there is.
    fn take_all_of(&self, given: &mut Vec<T>) -> bool {
        let more = given.len();
        let has_room = |items: usize| items + more <= self.most;
        if !has_room(self.len()) {
            return false;
        }
        let taken = self.with(|items| {
            let has_room = has_room(items.len());
            if has_room {
                items.append(given);
            }
            has_room
        });
        taken == Some(true)
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{BATCH, FreeList, SharedList};

    /// Puts a batch of these numbers into the shared list, as a worker does.
    fn put(shared: &SharedList<usize>, first: usize) -> Vec<usize> {
        let (own, mut freed) = (FreeList::new(), Vec::new());
        (first..=first + 2 * BATCH).for_each(|item| own.push(item, shared, |items| freed = items));
        freed
    }

    #[test]
    fn a_worker_gives_its_oldest_items_away_and_takes_a_batch_back() {
        let shared = SharedList::new(2 * BATCH);
        assert!(put(&shared, 0).is_empty() && put(&shared, 1000).is_empty());
        assert_eq!(shared.len(), 2 * BATCH);
        assert_eq!(put(&shared, 2000), (2000..2000 + BATCH).collect::<Vec<_>>(), "it is full");
        let own = FreeList::new();
        assert_eq!(own.pop(&shared), Some(1000 + BATCH - 1));
        assert_eq!((own.take_all().len(), shared.len()), (BATCH - 1, BATCH));
        assert_eq!((shared.pop(), shared.push(7)), (Some(BATCH - 1), None));
        assert_eq!((shared.pop(), shared.pop()), (Some(7), Some(BATCH - 2)));
        // The last batch of the list is a short one.
        assert_eq!(own.pop(&shared), Some(BATCH - 3));
        assert_eq!((own.take_all().len(), own.pop(&shared)), (BATCH - 3, None));
    }

    #[test]
    fn an_empty_or_full_list_takes_no_lock() {
        let shared = SharedList::new(BATCH);
        let own = FreeList::new();
        shared.with(|_| {
            // These would wait for ever.
            assert_eq!((shared.pop(), own.pop(&shared)), (None, None));
        });
        assert!(put(&shared, 0).is_empty());
        shared.with(|_| assert_eq!((put(&shared, 0).len(), shared.push(7)), (BATCH, Some(7))));
    }

    #[test]
    fn a_list_that_was_closed_keeps_nothing() {
        let shared = SharedList::new(2 * BATCH);
        assert!(put(&shared, 0).is_empty());
        assert_eq!(shared.close().len(), BATCH);
        assert_eq!((put(&shared, 0).len(), shared.push(7)), (BATCH, Some(7)));
        assert_eq!((shared.pop(), shared.close().len()), (None, 0));
    }
}
