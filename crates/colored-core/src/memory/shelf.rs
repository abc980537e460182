//! [`Shelves`]: what the workers of a runtime keep in common.

use crate::sync::{AtomicUsize, Mutex, Ordering};
use crossbeam_utils::CachePadded;

/// Workers that share a shelf: see `benches/results/papers.md`, *Many cores, in virtual time*.
const SHARERS: usize = 8;

/// A shelf for each eight workers. Where its own is empty, a worker takes from the others.
pub(crate) struct Shelves<T>(Box<[Shelf<T>]>);

impl<T> Shelves<T> {
    /// Empty shelves for so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        Self((0..workers.div_ceil(SHARERS).max(1)).map(|_| Shelf::default()).collect())
    }

    fn own(&self, worker: usize) -> usize {
        (worker / SHARERS).min(self.0.len() - 1)
    }

    /// Takes an item. May miss one that another thread is putting in or has just put in.
    pub(crate) fn pop(&self, worker: usize) -> Option<T> {
        self.find(worker, Shelf::pop)
    }

    /// The first answer of a shelf, from the worker's own on.
    pub(crate) fn find<R>(
        &self,
        worker: usize,
        ask: impl FnMut(&Shelf<T>) -> Option<R>,
    ) -> Option<R> {
        let (before, after) = self.0.split_at(self.own(worker));
        after.iter().chain(before).find_map(ask)
    }

    /// As [`Shelf::push`], on the worker's shelf.
    pub(crate) fn push(
        &self,
        worker: usize,
        item: T,
        most: usize,
        is_closed: impl FnOnce() -> bool,
    ) -> Result<(), T> {
        self.0[self.own(worker)].push(item, most, is_closed)
    }

    /// Takes all items, and misses none that was put in before.
    pub(crate) fn take_all(&self) -> Vec<T> {
        self.0.iter().flat_map(Shelf::take_all).collect()
    }
}

/// A stack that several workers share. A thread that would find it empty, or full, takes no lock: with a lock, each spawn of
/// a worker whose blocks end elsewhere would wait for all others that find nothing either.
pub(crate) struct Shelf<T>(CachePadded<Items<T>>);

struct Items<T> {
    items: Mutex<Vec<T>>,
    /// How many items there are.
    len: AtomicUsize,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        let (items, len) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        Self(CachePadded::new(Items { items, len }))
    }
}

impl<T> Shelf<T> {
    /// About how many items there are.
    pub(crate) fn len(&self) -> usize {
        // Ordering: a hint. The lock hands the items over.
        self.0.len.load(Ordering::Relaxed)
    }

    /// Takes an item. May miss one that another thread is putting in or has just put in.
    pub(crate) fn pop(&self) -> Option<T> {
        if self.len() == 0 { None } else { self.with(Vec::pop) }
    }

    /// Puts an item in; gives it back if there are `most` already, or `is_closed`, asked under the lock, says so.
    pub(crate) fn push(
        &self,
        item: T,
        most: usize,
        is_closed: impl FnOnce() -> bool,
    ) -> Result<(), T> {
        if self.len() >= most {
            return Err(item);
        }
        self.with(|items| {
            if items.len() >= most || is_closed() {
                return Err(item);
            }
            items.push(item);
            Ok(())
        })
    }

    /// Takes all items, and misses none that was put in before.
    pub(crate) fn take_all(&self) -> Vec<T> {
        self.with(std::mem::take)
    }

    /// Calls `f` with the items, under the lock.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let mut items = self.0.items.lock();
        let result = f(&mut items);
        // Ordering: as in `len`.
        self.0.len.store(items.len(), Ordering::Relaxed);
        result
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Shelf, Shelves};

    #[test]
    fn an_empty_or_full_shelf_takes_no_lock() {
        let shelf = Shelf::default();
        assert_eq!(shelf.push(1, 2, || false), Ok(()));
        assert_eq!(shelf.push(2, 2, || true), Err(2));
        assert_eq!(shelf.push(2, 2, || false), Ok(()));
        shelf.with(|items| {
            assert_eq!(items, &[1, 2]);
            // This would wait for ever.
            assert_eq!(shelf.push(3, 2, || unreachable!("it is full")), Err(3));
        });
        assert_eq!((shelf.pop(), shelf.len()), (Some(2), 1));
        assert_eq!((shelf.take_all(), shelf.len()), (vec![1], 0));
        shelf.with(|_| assert_eq!(shelf.pop(), None));
    }

    #[test]
    fn eight_workers_share_a_shelf_and_find_the_others() {
        let shelves = Shelves::new(20);
        let put = |worker| shelves.push(worker, worker, 1, || false);
        assert_eq!([7, 8, 19].map(put), [Ok(()); 3]);
        assert_eq!(put(0), Err(0), "its shelf is full, of what worker 7 has put in");
        assert_eq!(shelves.pop(15), Some(8), "the own shelf comes first");
        assert_eq!([shelves.pop(15), shelves.pop(15)], [Some(19), Some(7)]);
        // A spare worker has the last shelf.
        assert_eq!((put(30), shelves.pop(16)), (Ok(()), Some(30)));
        assert_eq!((put(3), put(12)), (Ok(()), Ok(())));
        assert_eq!((shelves.take_all(), shelves.pop(0)), (vec![3, 12], None));
    }
}
