//! [`Slot`]: where a thread of a run is told what it does next.

use super::state::Order;
use std::sync::{Condvar, Mutex, PoisonError};

/// What a thread is to do next. Which thread may put an order there is decided under the lock of the state; it is put there
/// behind that, so that the thread that wakes up finds the state unlocked.
#[derive(Default)]
pub(super) struct Slot {
    order: Mutex<Option<Order>>,
    is_there: Condvar,
}

impl Slot {
    pub(super) fn put(&self, order: Order) {
        *self.order.lock().unwrap_or_else(PoisonError::into_inner) = Some(order);
        self.is_there.notify_one();
    }

    /// Waits until the thread is given something to do.
    pub(super) fn wait(&self) -> Order {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(order) = order.take() {
                return order;
            }
            order = self.is_there.wait(order).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
