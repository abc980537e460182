//! A timer that lies in a wheel, and the timer that this worker released last.
//!
//! A task often drops a sleep and makes another one in the same poll: a time-out of each message, or
//! of each request. So a worker keeps the timer that was dropped last, in its wheel, and the next one
//! of the same task takes it over and moves it: one lock instead of two, and no waker or count is
//! touched. A timer that no future has taken over when the worker looks at its timers or parks is cancelled then. If it
//! comes due before, it wakes its task once for nothing.

use super::current::{self, Context};
use crate::driver::wheel::Key;
use colored_core::contain;
#[cfg(feature = "sim")]
use colored_core::port::OfStack;
use std::cell::Cell;
use std::sync::Arc;

/// A timer in a wheel. Dropping it takes the timer out.
pub(crate) struct WheelTimer {
    /// The thread that put it there.
    pub(crate) context: Arc<Context>,
    pub(crate) wheel: usize,
    pub(crate) key: Key,
}

thread_local!(static LAST: Cell<Option<WheelTimer>> = const { Cell::new(None) });

/// It lies in the wheel of the worker that this stack is.
#[cfg(feature = "sim")]
pub(crate) static LAST_OF_STACK: OfStack<Cell<Option<WheelTimer>>> = OfStack(&LAST);

impl WheelTimer {
    /// Drops it, later if this thread is the worker whose wheel it is.
    pub(crate) fn let_go(self) {
        let is_owner = |context: &Arc<Context>| {
            context.worker == Some(self.wheel) && Arc::ptr_eq(context, &self.context)
        };
        if current::on_thread(is_owner).unwrap_or(false) {
            // The old value is dropped when it is out of the cell: its waker may be foreign code. A thread that ends
            // drops its thread-locals in any order.
            drop(LAST.try_with(|last| last.replace(Some(self))));
        }
    }
}

impl Drop for WheelTimer {
    fn drop(&mut self) {
        self.context.driver.timers.wheel(self.wheel).cancel(self.key);
    }
}

/// The timer that was let go of last; it is in the wheel of this thread.
pub(crate) fn take_last() -> Option<WheelTimer> {
    LAST.try_with(Cell::take).ok().flatten()
}

/// Drops it. A waker's destructor may be foreign code, and its panic ends here.
pub(crate) fn drop_last() {
    if let Some(last) = take_last() {
        contain(|| drop(last));
    }
}
