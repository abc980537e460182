//! Which of those inside can only leave under the color: so that a wait for room is known to be one for
//! the color.
//!
//! An item is *at home* from the moment at which it is scheduled under the color, or asks to hop there,
//! until it ends there, or asks to hop away. Nothing that happens elsewhere ends it: aborted, it is dropped when the color
//! comes to it, and so is a call that nobody waits for any more. A [`Place`](super::Place) in
//! somebody's hands, a call that has not been scheduled yet, a task that is under another color now:
//! those may give their room back any time.
//!
//! Hence, **if all inside are at home, nobody is let in before the color runs again**. The place of who
//! is called by one who leaves is counted inside and is not at home. Until it is used, or given back,
//! it belongs to the task that waited for it, and nothing happens to it before that task runs: so while
//! all others are at home, or called like it, room comes by the color or by one of those tasks.
//!
//! Kept from the runtime's first section on. What was let in before is not known, and taken to be away.

use crate::sync::Mutex;
use crate::wait::room::{Caller, Ways};
use std::collections::HashMap;
use std::num::NonZeroU64;

/// The items of one gate.
#[derive(Default)]
pub(crate) struct Homes(Mutex<Items>);

/// What an item is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(NonZeroU64);

#[derive(Default)]
struct Items {
    last: u64,
    /// Whether it is at home.
    items: HashMap<u64, bool>,
    at_home: usize,
    /// Those who have been called and have not noticed, by the numbers of their tickets.
    called: HashMap<u64, Caller>,
}

impl Homes {
    /// An item that is inside.
    pub(crate) fn enter(&self, at_home: bool) -> Key {
        let mut items = self.0.lock();
        items.last += 1;
        let key = items.last;
        items.items.insert(key, at_home);
        items.at_home += usize::from(at_home);
        Key(NonZeroU64::new(key).expect("counted from 1"))
    }

    /// Where an item is now. Nothing if it has gone.
    pub(crate) fn set(&self, key: Key, at_home: bool) {
        let items = &mut *self.0.lock();
        if let Some(is) = items.items.get_mut(&key.0.get()) {
            items.at_home = items.at_home - usize::from(*is) + usize::from(at_home);
            *is = at_home;
        }
    }

    /// An item is over, and about to give its room back.
    pub(crate) fn leave(&self, key: Key) {
        let mut items = self.0.lock();
        let was_home = items.items.remove(&key.0.get());
        items.at_home -= usize::from(was_home == Some(true));
    }

    /// Somebody has been called who waited with that ticket.
    pub(crate) fn call(&self, ticket: u64, caller: Caller) {
        self.0.lock().called.insert(ticket, caller);
    }

    /// Who was called has its place in its hands, or is about to give it back. To be dropped after all
    /// locks.
    pub(crate) fn notices(&self, ticket: u64) -> Option<Caller> {
        self.0.lock().called.remove(&ticket)
    }

    /// By what room comes, if so many are inside at most, of whom one at least; `None` if that is not
    /// known of all.
    pub(crate) fn ways(&self, inside: impl FnOnce() -> usize) -> Option<Ways> {
        let items = self.0.lock();
        let known = items.at_home + items.called.len();
        let called = items.called.values().map(Caller::called).collect::<Option<_>>()?;
        (known > 0 && known >= inside()).then(|| Ways { by_color: items.at_home > 0, called })
    }

    /// How many are at home.
    #[cfg(all(test, not(colored_loom)))]
    fn count(&self) -> usize {
        self.0.lock().at_home
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::Homes;

    #[test]
    fn who_has_gone_does_not_come_home() {
        let homes = Homes::default();
        let (one, other) = (homes.enter(true), homes.enter(false));
        assert_eq!(homes.count(), 1);
        homes.set(other, true);
        homes.set(other, true);
        homes.set(one, false);
        assert_eq!(homes.count(), 1);
        homes.leave(other);
        homes.set(other, true);
        homes.leave(one);
        assert_eq!(homes.count(), 0);
    }
}
