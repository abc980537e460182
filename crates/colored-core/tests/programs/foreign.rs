//! Wakers that belong to no task.

use crate::act;
use crate::plan::Acts;
use crate::world::{Hands, Later};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

/// A waker that runs code of the program on its first wake, and when it is dropped.
pub(crate) struct Foreign {
    hands: Hands,
    acts: Acts,
    was_woken: AtomicBool,
    _later: Later,
}

impl Foreign {
    pub(crate) fn waker(hands: &Hands, woken: &Acts, dropped: &Acts) -> Waker {
        let later = Later::bare(hands, dropped);
        let hands = hands.bare();
        let was_woken = AtomicBool::new(false);
        Waker::from(Arc::new(Self { hands, acts: woken.clone(), was_woken, _later: later }))
    }
}

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.was_woken.swap(true, Ordering::Relaxed) {
            act::all(&mut self.hands.bare(), &self.acts, None);
        }
    }
}
