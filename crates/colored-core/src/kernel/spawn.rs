//! Functions on tasks: spawn, move, yield, join, abort.

mod blocking;
mod hop;

pub use self::blocking::{Job, blocking};
pub use self::hop::{Hop, hop};

use crate::kernel::color::Color;
use crate::kernel::lane::{self, current};
use crate::kernel::task::{Id, TaskRef};
use std::pin::Pin;
use std::task::{Context, Poll};

impl Color {
    /// The color that the caller runs under, in a task, in a callback, or in a destructor of these.
    /// `None` on a thread that runs nothing for a runtime.
    ///
    /// Code that knows a color can spawn under it. So the first call in a task with a fresh color
    /// enters that color into the table, under a lock; every other call reads a thread-local.
    #[must_use]
    pub fn current() -> Option<Color> {
        lane::current_color()
    }
}

/// The id of the task that is being polled by this thread, or whose output this thread drops because nobody takes it.
#[must_use]
pub fn current_task() -> Option<Id> {
    Id::of_dropped_output().or_else(|| current::task().map(TaskRef::id))
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow(bool);

/// Lets all work that is scheduled under the current color run first, and also other colors when
/// the color's slice is over. Works under any runtime. Cancel safe.
pub fn yield_now() -> YieldNow {
    YieldNow(false)
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use crate::kernel::lane::{Lane, LanePtr};
    use crate::kernel::task::Cell;
    use std::future::Ready;

    /// The memory of an idle task and an idle color.
    #[test]
    fn a_small_task_takes_two_cache_lines_and_a_lane_less() {
        assert!(size_of::<Cell<Ready<()>, LanePtr>>() <= 128);
        assert!(size_of::<Lane>() <= 112);
    }
}
