//! One word per lane: whether the right to run it has been left there, and how urgent it is.
//!
//! | bits | meaning | changed by |
//! |---|---|---|
//! | `LEFT` | the right to run the lane is here, for the first thread with a ticket | the holder; the thread that takes the right |
//! | `LOW`, `HIGH` | the priority of the color, if it is not the normal one | [`SchedulerHandle::set_priority`](crate::SchedulerHandle::set_priority), under a lock |
//! | one for each class | a ticket is in a queue of the class, or on its way there | the thread that makes it; the thread that takes it out |
//! | the rest, counted | urgent nodes that are scheduled here: tasks, and nodes that are [lent](crate::lane::priority::inherit) urgency | producers, the holder |
//!
//! # A lane is raised at once
//!
//! Leaving the right and adding urgency are exchanges of this one word, so one of them is first. If the leaving is
//! first, the thread that adds urgency finds `LEFT` and makes a second ticket, for the queue of the higher class. If
//! the adding is first, the holder learns the higher class when it leaves the right, and its ticket goes there. The
//! ticket that comes first takes the right, the other finds none.
//!
//! A class has at most one ticket for a lane. A thread that needs one and finds the bit set relies on it. The thread
//! that takes that ticket out clears the bit and takes the right in one exchange. That exchange comes either before,
//! and then the bit was clear, or after, and then it gets the right.

pub(crate) mod inherit;

use crate::sync::{AtomicU32, Ordering};

/// How urgent a color is, against other colors. The order within one color does not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// After the others, but without starving.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Before the others.
    High,
}

const LEFT: u32 = 1;
const LOW: u32 = 1 << 1;
const HIGH: u32 = 1 << 2;
const UNIT: u32 = 1 << 6;

/// The bit of a class.
fn ticket(class: Priority) -> u32 {
    1 << (3 + class as u32)
}

#[derive(Debug)]
pub(in crate::lane) struct PriorityWord(AtomicU32);

fn class(word: u32) -> Priority {
    match () {
        () if word >= UNIT || word & HIGH != 0 => Priority::High,
        () if word & LOW != 0 => Priority::Low,
        () => Priority::Normal,
    }
}

/// The word `after`, with a ticket's bit set if the lane waits in a queue of too low a class.
fn risen(before: u32, after: u32) -> u32 {
    let too_low = before & LEFT != 0 && class(before) < class(after);
    if too_low { after | ticket(class(after)) } else { after }
}

/// The class, if it has no ticket yet.
fn needed(word: u32, class: Priority) -> Option<Priority> {
    (word & ticket(class) == 0).then_some(class)
}

impl PriorityWord {
    pub(in crate::lane) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Leaves the right to run the lane here, where queues are by class. Returns the class that a ticket must be made
    /// for, unless it has one. Only the holder calls this, and is not the holder afterwards.
    pub(in crate::lane) fn leave(&self) -> Option<Priority> {
        let before = self.update(Ordering::Release, |word| word | LEFT | ticket(class(word)));
        needed(before, class(before))
    }

    /// Changes the word; returns its old value.
    fn update(&self, order: Ordering, change: impl Fn(u32) -> u32) -> u32 {
        // Ordering: the caller's: Release pairs with the Acquire in `redeem`, since the lane's content comes with the
        // right. Else only this word decides.
        let result = self.0.fetch_update(order, Ordering::Relaxed, |word| Some(change(word)));
        result.unwrap_or_else(|word| word)
    }

    /// A ticket of the class has been taken out: takes the right with it. False if the right is not here.
    pub(in crate::lane) fn redeem(&self, class: Priority) -> bool {
        // Ordering: pairs with the Release in `leave`.
        self.0.fetch_and(!(LEFT | ticket(class)), Ordering::Acquire) & LEFT != 0
    }

    /// An urgent node is about to be pushed. True if the lane waits in a queue of a lower class, and a ticket of the
    /// highest must be made.
    pub(in crate::lane) fn raise(&self) -> bool {
        let change = |word| risen(word, word + UNIT);
        let before = self.update(Ordering::Relaxed, change);
        assert!(before < u32::MAX / 2, "too many urgent tasks under one color");
        needed(before, class(change(before)))
            .is_some_and(|to| before & LEFT != 0 && class(before) < to)
    }

    /// Whether the lane is of the highest class.
    pub(in crate::lane) fn is_high(&self) -> bool {
        // Ordering: as in `raise`.
        class(self.0.load(Ordering::Relaxed)) == Priority::High
    }

    pub(in crate::lane) fn class(&self) -> Priority {
        // Ordering: as in `raise`.
        class(self.0.load(Ordering::Relaxed))
    }

    /// An urgent node has had its turn. Only the holder calls this, or the thread that lets a reader in.
    pub(in crate::lane) fn lower(&self) {
        // Ordering: as in `raise`.
        self.0.fetch_sub(UNIT, Ordering::Relaxed);
    }

    /// Undoes [`lower`](Self::lower): the urgent node is still in the chain. Only the holder calls this.
    pub(in crate::lane) fn restore(&self) {
        // Ordering: as in `raise`.
        self.0.fetch_add(UNIT, Ordering::Relaxed);
    }

    /// Sets the priority of the color. Returns the class that a ticket must be made for, if the lane waits in a queue
    /// of a lower class than its own is now.
    pub(in crate::lane) fn set_base(&self, base: Priority) -> Option<Priority> {
        let bits = match base {
            Priority::Low => LOW,
            Priority::Normal => 0,
            Priority::High => HIGH,
        };
        let change = |word: u32| risen(word, word & !(LOW | HIGH) | bits);
        let before = self.update(Ordering::Relaxed, change);
        let to = needed(before, class(change(before)))?;
        (before & LEFT != 0 && class(before) < to).then_some(to)
    }
}
