//! The workers' deques of lanes and the global injector: wrappers around crossbeam's, which
//! `deque_model.rs` replaces in the models.

use crossbeam_deque::{Steal, Worker};

/// One worker's lanes, oldest first.
#[derive(Debug)]
pub(crate) struct Deque<T>(Worker<T>);

impl<T> Deque<T> {
    pub(crate) fn new() -> Self {
        Self(Worker::new_fifo())
    }

    pub(crate) fn stealer(&self) -> Stealer<T> {
        Stealer(self.0.stealer())
    }

    /// Adds at the young end.
    #[inline]
    pub(crate) fn push(&self, item: T) {
        self.0.push(item);
    }

    /// Takes from the old end.
    #[inline]
    pub(crate) fn pop(&self) -> Option<T> {
        self.0.pop()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The thieves' end of a [`Deque`].
#[derive(Debug)]
pub(crate) struct Stealer<T>(crossbeam_deque::Stealer<T>);

impl<T> Stealer<T> {
    /// Moves about half of the items, at most 32, to `into` and returns one of them.
    pub(crate) fn steal_half(&self, into: &Deque<T>) -> Option<T> {
        retry(|| self.0.steal_batch_and_pop(&into.0))
    }

    /// Takes the oldest item.
    pub(crate) fn steal(&self) -> Option<T> {
        retry(|| self.0.steal())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The queue of lanes that threads which are not workers made runnable, oldest first.
#[derive(Debug)]
pub(crate) struct Injector<T>(crossbeam_deque::Injector<T>);

impl<T> Injector<T> {
    pub(crate) fn new() -> Self {
        Self(crossbeam_deque::Injector::new())
    }

    pub(crate) fn push(&self, item: T) {
        self.0.push(item);
    }

    /// Moves a batch to `into` and returns one of them.
    pub(crate) fn steal_batch(&self, into: &Deque<T>) -> Option<T> {
        retry(|| self.0.steal_batch_and_pop(&into.0))
    }

    /// Takes one item.
    pub(crate) fn pop(&self) -> Option<T> {
        retry(|| self.0.steal())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Repeats an attempt that lost a race to another thief: each loss is another thread's progress.
fn retry<T>(mut attempt: impl FnMut() -> Steal<T>) -> Option<T> {
    loop {
        match attempt() {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}
