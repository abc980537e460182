//! The watched double of `deque.rs`: the same queues of crossbeam, and a word to the watcher for each access that
//! crossbeam 0.8 makes, on lines that stand for its own: one for both ends of a deque, one for each end of the
//! injector, and the slots.

use crate::sync::watch::{Access, tell};
use crossbeam_deque::{Steal, Worker};
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Slots that a line holds, and slots of a queue that have lines of their own.
const PER_LINE: usize = 8;
const SLOTS: usize = 256;

/// What an injector moves to a deque at most.
const BATCH: usize = 32;

/// An end of a queue: how many items have passed it. Nothing but its address counts for the watcher.
type End = CachePadded<AtomicUsize>;

#[derive(Debug)]
struct Lines {
    name: &'static str,
    front: End,
    back: End,
    /// As an injector's ends have, and a deque's have not.
    apart: bool,
    slots: Box<[u64; SLOTS]>,
}

impl Lines {
    fn new(name: &'static str, apart: bool) -> Self {
        let end = || CachePadded::new(AtomicUsize::new(0));
        Self { name, front: end(), back: end(), apart, slots: Box::new([0; SLOTS]) }
    }

    fn at<T>(&self, place: &T, access: Access) {
        let address = std::ptr::from_ref(place).addr();
        tell(|watcher| watcher.access(address, access, self.name));
    }

    fn at_front(&self, access: Access) {
        self.at(&self.front, access);
    }

    fn at_back(&self, access: Access) {
        self.at(if self.apart { &self.back } else { &self.front }, access);
    }

    fn fence(&self) {
        tell(|watcher| watcher.fence(self.name));
    }

    fn slot(&self, index: usize, access: Access) {
        self.at(&self.slots[index % SLOTS], access);
    }

    /// So many slots from the one that `end` counts.
    fn pass(&self, end: &End, items: usize, access: Access) {
        let first = end.fetch_add(items, Ordering::Relaxed);
        let last = first + items;
        (first..last)
            .filter(|index| *index == first || index.is_multiple_of(PER_LINE))
            .for_each(|index| self.slot(index, access));
    }
}

#[derive(Debug)]
pub(crate) struct Deque<T>(Worker<T>, Arc<Lines>);

impl<T> Deque<T> {
    pub(crate) fn new() -> Self {
        Self(Worker::new_fifo(), Arc::new(Lines::new("deque", false)))
    }

    pub(crate) fn stealer(&self) -> Stealer<T> {
        Stealer(self.0.stealer(), Arc::clone(&self.1))
    }

    pub(crate) fn push(&self, item: T) {
        self.1.at_back(Access::Read);
        self.1.pass(&self.1.back, 1, Access::Write);
        self.1.at_back(Access::Write);
        self.0.push(item);
    }

    pub(crate) fn pop(&self) -> Option<T> {
        self.1.at_back(Access::Read);
        if self.0.is_empty() {
            return None;
        }
        self.1.at_front(Access::Exchange);
        let item = self.0.pop()?;
        self.1.pass(&self.1.front, 1, Access::Read);
        Some(item)
    }

    pub(crate) fn len(&self) -> usize {
        self.1.at_back(Access::Read);
        self.0.len()
    }

    /// So many items have come in one step.
    fn add(&self, items: usize) {
        self.1.pass(&self.1.back, items, Access::Write);
        self.1.at_back(Access::Write);
    }
}

#[derive(Debug)]
pub(crate) struct Stealer<T>(crossbeam_deque::Stealer<T>, Arc<Lines>);

impl<T> Stealer<T> {
    pub(crate) fn steal_half(&self, into: &Deque<T>) -> Option<T> {
        self.look();
        if self.0.is_empty() {
            return None;
        }
        self.1.at_front(Access::Exchange);
        let before = into.0.len();
        let item = settle(|| self.0.steal_batch_and_pop(&into.0))?;
        let batch = into.0.len() - before;
        self.1.pass(&self.1.front, 1 + batch, Access::Read);
        if batch > 0 {
            into.add(batch);
        }
        Some(item)
    }

    pub(crate) fn steal(&self) -> Option<T> {
        self.look();
        if self.0.is_empty() {
            return None;
        }
        self.1.at_front(Access::Exchange);
        let item = settle(|| self.0.steal())?;
        self.1.pass(&self.1.front, 1, Access::Read);
        Some(item)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.look();
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.look();
        self.0.len()
    }

    fn look(&self) {
        self.1.at_front(Access::Read);
        self.1.fence();
        self.1.at_back(Access::Read);
    }
}

#[derive(Debug)]
pub(crate) struct Injector<T>(crossbeam_deque::Injector<T>, Lines);

impl<T> Injector<T> {
    pub(crate) fn new() -> Self {
        Self(crossbeam_deque::Injector::new(), Lines::new("injector", true))
    }

    pub(crate) fn push(&self, item: T) {
        self.1.at_back(Access::Exchange);
        // The item, and the state of its slot.
        self.1.pass(&self.1.back, 1, Access::Exchange);
        self.0.push(item);
    }

    pub(crate) fn steal_batch(&self, into: &Deque<T>) -> Option<T> {
        if self.looks_empty() {
            return None;
        }
        self.1.at_front(Access::Exchange);
        let before = into.0.len();
        let item = settle(|| self.0.steal_batch_with_limit_and_pop(&into.0, BATCH))?;
        let batch = into.0.len() - before;
        self.1.pass(&self.1.front, 1 + batch, Access::Exchange);
        if batch > 0 {
            into.add(batch);
        }
        Some(item)
    }

    pub(crate) fn pop(&self) -> Option<T> {
        if self.looks_empty() {
            return None;
        }
        self.1.at_front(Access::Exchange);
        let item = settle(|| self.0.steal())?;
        self.1.pass(&self.1.front, 1, Access::Exchange);
        Some(item)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.look();
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.look();
        self.0.len()
    }

    fn look(&self) {
        self.1.at_front(Access::Read);
        self.1.at_back(Access::Read);
    }

    /// What a thief sees first.
    fn looks_empty(&self) -> bool {
        self.1.at_front(Access::Read);
        self.1.fence();
        self.1.at_back(Access::Read);
        self.0.is_empty()
    }
}

/// See `deque.rs`.
fn settle<T>(mut attempt: impl FnMut() -> Steal<T>) -> Option<T> {
    loop {
        match attempt() {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}
