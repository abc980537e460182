//! Priorities between colors.
//!
//! Each lane has a word that says how urgent it is ([`PriorityWord`]). A program that sets a priority, or spawns an urgent task, gets
//! a queue for each class ([`classes`]), and its workers follow these ([`by_class`]). A color that an urgent color waits for is
//! urgent too ([`lent`]). A program that does neither pays a flag in each worker's own cache line.
//!
//! | bits of the word | meaning | changed by |
//! |---|---|---|
//! | `QUEUED` | the lane is in a queue by class: `class_place` says in which | the thread that has the lock of that queue |
//! | `LOW`, `HIGH` | the priority of the color, if it is not the normal one | [`SchedulerHandle::set_priority`](crate::SchedulerHandle::set_priority), under a lock |
//! | the rest, counted | urgent nodes that are scheduled here: tasks, and nodes that are [lent] urgency | producers, the holder |
//!
//! # A lane is raised at once
//!
//! A thread that queues the lane sets `QUEUED` and learns the class in one exchange of the word. A thread that raises
//! the lane adds the urgency and learns of `QUEUED` in one exchange too. So one of the two is first. If the raise is
//! first, the lane goes into the queue of the higher class. If the queueing is first, the raise finds the queue and
//! moves the lane there, under the queue's lock. If it does not find the lane there, a worker has taken the lane: the
//! next exchange that queues the lane comes after the raise.

pub(crate) mod by_class;
pub(crate) mod classes;
pub(crate) mod lent;

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

const QUEUED: u32 = 1;
const LOW: u32 = 1 << 1;
const HIGH: u32 = 1 << 2;
const UNIT: u32 = 1 << 3;

fn base(word: u32) -> Priority {
    match word & (LOW | HIGH) {
        0 => Priority::Normal,
        LOW => Priority::Low,
        _ => Priority::High,
    }
}

fn class(word: u32) -> Priority {
    if word >= UNIT { Priority::High } else { base(word) }
}

/// The new class, if the change has raised a lane that is queued by class.
fn raised(before: u32, after: u32) -> Option<Priority> {
    (before & QUEUED != 0 && class(before) < class(after)).then_some(class(after))
}

#[derive(Debug)]
pub(crate) struct PriorityWord(AtomicU32);

impl PriorityWord {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn get(&self) -> u32 {
        // Ordering: only this word decides.
        self.0.load(Ordering::Relaxed)
    }

    fn class(&self) -> Priority {
        class(self.get())
    }

    /// Counts an urgent node. Returns the new class, if the lane is queued in a lower one.
    fn add_urgent(&self) -> Option<Priority> {
        // Ordering: Acquire pairs with the Release in `enter_queue`. Else only this word decides.
        let before = self.0.fetch_add(UNIT, Ordering::Acquire);
        assert!(before < u32::MAX / 2, "too many urgent tasks under one color");
        raised(before, before + UNIT)
    }

    /// An urgent node has had its turn. Only the holder calls this, or the thread that lets a reader in.
    fn lower(&self) {
        // Ordering: as in `get`.
        self.0.fetch_sub(UNIT, Ordering::Relaxed);
    }

    /// Undoes [`lower`](Self::lower): the urgent node is still in the chain. Only the holder calls this.
    fn restore(&self) {
        // Ordering: as in `get`.
        self.0.fetch_add(UNIT, Ordering::Relaxed);
    }

    /// The lane is about to enter a queue by class. Returns its class.
    fn enter_queue(&self) -> Priority {
        // Ordering: Release pairs with the Acquire of a thread that raises the lane.
        class(self.0.fetch_or(QUEUED, Ordering::Release))
    }

    /// The lane has left its queue by class, under the lock of the queue.
    fn leave_queue(&self) {
        // Ordering: only this word decides; the lock hands the lane on.
        self.0.fetch_and(!QUEUED, Ordering::Relaxed);
    }

    /// The priority that the color was given last.
    fn base(&self) -> Priority {
        base(self.get())
    }

    /// Sets the priority of the color. Returns the new class, if the lane is queued in a lower one and must be moved.
    #[must_use]
    fn set_base(&self, base: Priority) -> Option<Priority> {
        let bits = match base {
            Priority::Low => LOW,
            Priority::Normal => 0,
            Priority::High => HIGH,
        };
        let change = |word: u32| word & !(LOW | HIGH) | bits;
        let set = |word| Some(change(word));
        // Ordering: as in `add_urgent`.
        let before = self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, set);
        let before = before.unwrap_or_else(|word| word);
        raised(before, change(before))
    }
}
