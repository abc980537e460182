//! [`HandOver`]: how a thread of a run tells another one to go on.

use super::state::Order;
use crate::sim::control::Control;
use crate::stacks;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

/// What the threads of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Way {
    /// Threads of the system.
    Threads,
    /// Stacks of one thread.
    Stacks,
}

/// Where the threads of a run are told what they do next.
pub(super) struct HandOver {
    pub(super) way: Way,
    /// By thread, if it was told something or has waited.
    slots: Box<[OnceLock<Box<Slot>>]>,
    /// The thread that was told last.
    next: AtomicUsize,
}

/// What a thread is to do next, and the run to do it with. Which thread may put an order there is decided under the lock of the
/// state; it is put there behind that, so that the thread that wakes up finds the state unlocked.
#[derive(Default)]
struct Slot {
    told: Mutex<Option<Told>>,
    is_there: Condvar,
}

struct Told {
    order: Order,
    /// On stacks the run stays with the one thread.
    control: Option<Box<Control>>,
}

impl HandOver {
    pub(super) fn new(way: Way, threads: usize) -> Self {
        let slots = (0..threads).map(|_| OnceLock::new()).collect();
        Self { way, slots, next: AtomicUsize::new(0) }
    }

    fn slot(&self, thread: usize) -> &Slot {
        self.slots[thread].get_or_init(Box::default)
    }

    /// Tells another thread what it does, and gives it the run. The caller [waits](Self::wait) next.
    pub(super) fn pass(&self, to: usize, order: Order) {
        let control = match self.way {
            Way::Threads => Control::take_from_thread().map(Box::new),
            Way::Stacks => None,
        };
        // Ordering: on stacks, one thread stores and loads it.
        self.next.store(to, Ordering::Relaxed);
        self.put(to, Told { order, control });
    }

    /// Tells another thread what it does, beside the one that has the run.
    pub(super) fn tell(&self, to: usize, order: Order) {
        self.put(to, Told { order, control: None });
    }

    fn put(&self, to: usize, told: Told) {
        let slot = self.slot(to);
        *slot.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        // The wake of a condition variable is a call of the system, also if nobody waits.
        if self.way == Way::Threads {
            slot.is_there.notify_one();
        }
    }

    /// Waits until this thread is told what it does.
    pub(super) fn wait(&self, thread: usize) -> Order {
        if self.way == Way::Stacks {
            stacks::switch_to(self.next.load(Ordering::Relaxed));
        }
        let Told { order, control } = self.slot(thread).wait();
        if let Some(control) = control {
            control.give_to_thread();
        }
        order
    }
}

impl Slot {
    fn wait(&self) -> Told {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let told = self.is_there.wait_while(told, |told| told.is_none());
        told.unwrap_or_else(PoisonError::into_inner).take().expect("it is there")
    }
}
