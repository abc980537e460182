//! Records which items inside can leave only under the color of the limit. If all do, a wait for
//! room is a wait for the color.
//!
//! An item is *on the color* from the moment at which it is scheduled under the color, or asks to
//! hop there, until it ends there, or asks to hop away. Nothing that happens elsewhere ends it: an
//! aborted task is dropped at its turn under the color, and so is an abandoned call. An unused
//! [`Permit`](crate::Permit), a call that has not been scheduled yet, and a task under another
//! color may release their room at any time.
//!
//! Hence, **if all items inside are on the color, no item enters before the color runs again**. The
//! permit of a waiter that has been called is inside, but not on the color. Until it is used or
//! released, it belongs to the task that waited for it, and nothing happens to it before that task
//! runs. So while all other items are on the color, or called like it, only the color or one of the
//! called tasks can give room.
//!
//! The semaphore keeps the table from the runtime's first section on. Items that entered before are
//! unknown, and count as not on the color.

use colored_core::port::sync::Mutex;
use colored_core::port::{WaitingTask, Ways};
use std::collections::HashMap;
use std::num::NonZeroU64;

/// The items of one semaphore.
#[derive(Default)]
pub(crate) struct Items(Mutex<Known>);

/// The key of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(NonZeroU64);

#[derive(Default)]
struct Known {
    last: u64,
    /// Whether the item is on the color.
    items: HashMap<u64, bool>,
    on_color: usize,
    /// Waiters that have been called and have not noticed, by the numbers of their ids.
    called: HashMap<u64, WaitingTask>,
}

impl Items {
    /// Adds an item that is inside.
    pub(crate) fn enter(&self, on_color: bool) -> Key {
        let mut known = self.0.lock();
        known.last += 1;
        let key = known.last;
        known.items.insert(key, on_color);
        known.on_color += usize::from(on_color);
        Key(NonZeroU64::new(key).expect("counted from 1"))
    }

    /// Sets where an item is now. Does nothing if the item has left.
    pub(crate) fn set(&self, key: Key, on_color: bool) {
        let known = &mut *self.0.lock();
        if let Some(is) = known.items.get_mut(&key.0.get()) {
            known.on_color = known.on_color - usize::from(*is) + usize::from(on_color);
            *is = on_color;
        }
    }

    /// An item is done, and about to release its room.
    pub(crate) fn leave(&self, key: Key) {
        let mut known = self.0.lock();
        let was_on_color = known.items.remove(&key.0.get());
        known.on_color -= usize::from(was_on_color == Some(true));
    }

    /// The waiter with this number has been called.
    pub(crate) fn call(&self, waiter: u64, task: WaitingTask) {
        self.0.lock().called.insert(waiter, task);
    }

    /// The called waiter now holds its permit, or is about to release it. The caller drops the
    /// result after all locks.
    pub(crate) fn take_called(&self, waiter: u64) -> Option<WaitingTask> {
        self.0.lock().called.remove(&waiter)
    }

    /// The ways in which there can be room; `None` if they are not known for all items. At least
    /// one item, and at most `inside()` items, are inside.
    pub(crate) fn ways(&self, inside: impl FnOnce() -> usize) -> Option<Ways> {
        let known = self.0.lock();
        let leave_known = known.on_color + known.called.len();
        if leave_known == 0 || leave_known < inside() {
            return None;
        }
        Ways::new(known.on_color > 0, known.called.values())
    }

    /// How many items are on the color.
    #[cfg(all(test, not(colored_loom)))]
    fn count(&self) -> usize {
        self.0.lock().on_color
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::Items;

    #[test]
    fn an_item_that_has_left_does_not_come_back() {
        let items = Items::default();
        let (one, other) = (items.enter(true), items.enter(false));
        assert_eq!(items.count(), 1);
        items.set(other, true);
        items.set(other, true);
        items.set(one, false);
        assert_eq!(items.count(), 1);
        items.leave(other);
        items.set(other, true);
        items.leave(one);
        assert_eq!(items.count(), 0);
    }
}
