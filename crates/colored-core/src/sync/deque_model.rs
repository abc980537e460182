//! The model's double of `deque.rs`: a lock around a `VecDeque`, because loom cannot see into
//! crossbeam's atomics.

use crate::sync::{Arc, Mutex};
use std::collections::VecDeque;

type Shared<T> = Arc<Mutex<VecDeque<T>>>;

#[derive(Debug)]
pub(crate) struct Deque<T>(Shared<T>);

impl<T> Deque<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(VecDeque::new())))
    }

    pub(crate) fn stealer(&self) -> Stealer<T> {
        Stealer(self.0.clone())
    }

    pub(crate) fn push(&self, item: T) {
        self.0.lock().push_back(item);
    }

    pub(crate) fn pop(&self) -> Option<T> {
        self.0.lock().pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Stealer<T>(Shared<T>);

impl<T> Stealer<T> {
    pub(crate) fn steal_half(&self, into: &Deque<T>) -> Option<T> {
        let mut victim = self.0.lock();
        let first = victim.pop_front()?;
        let rest = victim.len() / 2;
        let batch: Vec<T> = victim.drain(..rest).collect();
        drop(victim);
        into.0.lock().extend(batch);
        Some(first)
    }

    pub(crate) fn steal(&self) -> Option<T> {
        self.0.lock().pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

#[derive(Debug)]
pub(crate) struct Injector<T>(Mutex<VecDeque<T>>);

impl<T> Injector<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    pub(crate) fn push(&self, item: T) {
        self.0.lock().push_back(item);
    }

    /// Takes two: between the queues, the second item is in neither, as in the original.
    pub(crate) fn steal_batch(&self, into: &Deque<T>) -> Option<T> {
        let mut lanes = self.0.lock();
        let first = lanes.pop_front()?;
        let second = lanes.pop_front();
        drop(lanes);
        if let Some(second) = second {
            into.push(second);
        }
        Some(first)
    }

    pub(crate) fn pop(&self) -> Option<T> {
        self.0.lock().pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }
}
