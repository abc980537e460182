//! Which of those inside can only leave under the color: so that a wait for room is known to be one for
//! the color.
//!
//! An item is *at home* from the moment at which it is scheduled under the color, or asks to hop there,
//! until it ends there, or asks to hop away. Nothing that happens elsewhere ends it: aborted, it is dropped when the color
//! comes to it, and so is a call that nobody waits for any more. A [`Permit`](super::Permit) in
//! somebody's hands, a call that has not been scheduled yet, a task that is under another color now:
//! those may give their room back any time.
//!
//! Hence, **if all inside are at home, nobody is let in before the color runs again**. The permit of who
//! is called by one who leaves is counted inside and is not at home. Until it is used, or given back,
//! it belongs to the task that waited for it, and nothing happens to it before that task runs: so while
//! all others are at home, or called like it, room comes by the color or by one of those tasks.
//!
//! Kept from the runtime's first section on. What was let in before is not known, and taken to be away.

use crate::sync::Mutex;
use crate::wait::room::{Caller, Ways};
use std::collections::HashMap;
use std::num::NonZeroU64;

/// The items of one semaphore.
#[derive(Default)]
pub(crate) struct Items(Mutex<Known>);

/// What an item is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(NonZeroU64);

#[derive(Default)]
struct Known {
    last: u64,
    /// Whether it is at home.
    items: HashMap<u64, bool>,
    on_color: usize,
    /// Those who have been called and have not noticed, by the numbers of their ids.
    called: HashMap<u64, Caller>,
}

impl Items {
    /// An item that is inside.
    pub(crate) fn enter(&self, on_color: bool) -> Key {
        let mut known = self.0.lock();
        known.last += 1;
        let key = known.last;
        known.items.insert(key, on_color);
        known.on_color += usize::from(on_color);
        Key(NonZeroU64::new(key).expect("counted from 1"))
    }

    /// Where an item is now. Nothing if it has gone.
    pub(crate) fn set(&self, key: Key, on_color: bool) {
        let known = &mut *self.0.lock();
        if let Some(is) = known.items.get_mut(&key.0.get()) {
            known.on_color = known.on_color - usize::from(*is) + usize::from(on_color);
            *is = on_color;
        }
    }

    /// An item is over, and about to give its room back.
    pub(crate) fn leave(&self, key: Key) {
        let mut known = self.0.lock();
        let was_on_color = known.items.remove(&key.0.get());
        known.on_color -= usize::from(was_on_color == Some(true));
    }

    /// Somebody has been called who waited with that waiter.
    pub(crate) fn call(&self, waiter: u64, caller: Caller) {
        self.0.lock().called.insert(waiter, caller);
    }

    /// Who was called has its permit in its hands, or is about to give it back. To be dropped after all
    /// locks.
    pub(crate) fn notices(&self, waiter: u64) -> Option<Caller> {
        self.0.lock().called.remove(&waiter)
    }

    /// By what room comes, if so many are inside at most, of whom one at least; `None` if that is not
    /// known of all.
    pub(crate) fn ways(&self, inside: impl FnOnce() -> usize) -> Option<Ways> {
        let known = self.0.lock();
        let leave_known = known.on_color + known.called.len();
        let called = known.called.values().map(Caller::called).collect::<Option<_>>()?;
        (leave_known > 0 && leave_known >= inside())
            .then(|| Ways { by_color: known.on_color > 0, called })
    }

    /// How many are at home.
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
