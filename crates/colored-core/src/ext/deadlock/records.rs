//! What the search has found: records of the waits of tasks, and [`Kept`] values, which are dropped in a fixed order.

use crate::kernel::lane::LanePtr;
use crate::kernel::task::{Cause, TaskRef, Unpolled, WaitRecord};
use crate::kernel::wait::{Target, WaitKind};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Deref, Index};
use std::ptr::NonNull;
use std::task::Waker;

/// The records of the futures of a task that no thread polls.
pub(super) fn records(task: TaskRef<LanePtr>) -> impl Iterator<Item = Seen> {
    // SAFETY: the callers have paused the task, or a section that they have paused blocks its lane.
    let records = unsafe { Unpolled::new(task) }.records();
    let seen = records.into_iter().map(|record| Seen(NonNull::from(record)));
    seen.filter(|record| record.is_listed())
}

pub(super) fn waits_inside(task: TaskRef<LanePtr>, section: Seen) -> impl Iterator<Item = Seen> {
    records(task).filter(move |wait| !wait.is_section() && wait.section() == Some(section))
}

/// A record in the list of a task that no thread polls before the search is over, so the record is not freed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Seen(pub(super) NonNull<WaitRecord>);

impl Deref for Seen {
    type Target = WaitRecord;

    fn deref(&self) -> &WaitRecord {
        // SAFETY: no thread polls the task, so no thread frees the record.
        unsafe { self.0.as_ref() }
    }
}

impl Seen {
    pub(super) fn section(self) -> Option<Self> {
        // SAFETY: no thread polls the task.
        unsafe { WaitRecord::section(&self) }.map(Self)
    }

    pub(super) fn target(self) -> Option<Target> {
        // SAFETY: the record is pinned, so the future that made its cause for this kind is not dropped meanwhile.
        self.pinned(|cause| unsafe { (kind(cause).target)(cause) }).flatten()
    }

    pub(super) fn waker(self) -> Option<Waker> {
        // SAFETY: the record is pinned, so the future that made its cause for this kind is not dropped meanwhile.
        self.pinned(|cause| unsafe { (kind(cause).waker)(cause) }).flatten()
    }
}

fn kind(cause: &Cause) -> &'static WaitKind {
    cause.kind.downcast_ref().expect("a wait has a kind")
}

/// Values that can be looked up by key, and are dropped in the order of their insertion.
pub(super) struct Kept<K, V> {
    places: HashMap<K, usize>,
    things: Vec<V>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self { places: HashMap::new(), things: Vec::new() }
    }
}

impl<K: Eq + Hash, V> Kept<K, V> {
    /// Returns false, and drops `thing`, if the key has a value already.
    pub(super) fn insert(&mut self, key: K, thing: V) -> bool {
        let place = self.things.len();
        let is_new = *self.places.entry(key).or_insert(place) == place;
        if is_new {
            self.things.push(thing);
        }
        is_new
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.places.get(key).map(|place| &self.things[*place])
    }
}

impl<K: Eq + Hash, V> Index<K> for Kept<K, V> {
    type Output = V;

    fn index(&self, key: K) -> &V {
        self.get(&key).expect("it is kept")
    }
}
