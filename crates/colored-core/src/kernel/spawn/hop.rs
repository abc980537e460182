//! [`hop`]: a task moves to another color.

use crate::kernel::budget;
use crate::kernel::color::Color;
use crate::kernel::lane::current;
use crate::kernel::lane::section::inside;
use crate::kernel::sched::with_handle_of_task;
use crate::kernel::task::How;
use crate::kernel::wait::WaitSlot;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The future of [`hop`].
#[must_use = "futures do nothing unless awaited"]
pub struct Hop {
    color: Color,
    site: &'static Location<'static>,
    wait: WaitSlot,
    /// Whether the hop has ended a poll of the task already.
    has_moved: bool,
}

/// Moves the current task under `color`: the code after the await runs under that color, after
/// everything that was scheduled there before.
///
/// The whole task moves. Inside `join!` or `select!` the other branches are polled under the new
/// color as well from then on. **And the whole task waits**: no branch is polled before `color` gives the task a turn, so a
/// `timeout` or a `select!` around the hop, or beside it, cannot fire until then. The guide, `docs/colors.md` of the
/// repository, has a section on this, "Which wait freezes what". A hop costs one scheduling, and a look-up in the table of colors
/// unless `color` is the default one. If the task already has the color, and nothing else is
/// scheduled there, the hop is ready at once, and takes a unit of the cooperative [budget], so that
/// a loop of such hops lets others run now and then. If other work is scheduled there, that work
/// runs first, as for a task that comes from another color; inside a [section](crate::exclusive())
/// the hop is ready at once.
///
/// Not cancel safe: a hop that is dropped after its first poll, for example as the losing branch of
/// a `select!`, still moves the task when that poll of the task ends. If one poll makes two hops, as two branches of a
/// `join!` do, the task makes them one after the other, the later one first, and each branch goes on when the task has
/// the branch's own color: once for its next step, since the task has one color and the other hop takes it on.
///
/// # Panics
///
/// If it is polled outside a task of a runtime, or in a task that holds its color in a section
/// ([`exclusive`](crate::exclusive())).
#[track_caller]
pub fn hop(color: impl Into<Color>) -> Hop {
    Hop {
        color: color.into(),
        site: Location::caller(),
        wait: WaitSlot::default(),
        has_moved: false,
    }
}

impl fmt::Debug for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hop").field("color", &self.color).finish_non_exhaustive()
    }
}

impl Future for Hop {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (color, site) = (self.color, self.site);
        let lane = with_handle_of_task(|handle| handle.map(|handle| handle.lane(color)));
        let (Some(lane), Some(task)) = (lane, current::task()) else {
            panic!("`hop({color})` outside a task: only a task of a runtime can move to a color")
        };
        self.wait.end();
        if lane.is_current() {
            if !self.has_moved {
                // The hop has ended no poll: a loop of such hops would be one poll without an end.
                ready!(budget::poll_proceed(cx));
                if !lane.is_free_here() {
                    // The task goes behind the work that is scheduled here, as a task from another
                    // color does.
                    self.has_moved = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            return Poll::Ready(());
        }
        if task.has_sections() {
            in_a_section(color, site);
        }
        if !lane.is_idle() {
            const HOW: &How = &How { text: "hops to", is_shared: false };
            self.wait.record_move(HOW, site);
        }
        if !task.owns(cx.waker()) {
            // A combinator polls only the branches whose wakers were woken, and the move wakes only
            // the task.
            cx.waker().wake_by_ref();
        }
        let moved = lane.hop();
        debug_assert!(moved.is_ok(), "this is a task");
        self.has_moved = true;
        Poll::Pending
    }
}

#[cold]
fn in_a_section(color: Color, site: &'static Location<'static>) -> ! {
    match inside::get() {
        Some(section) => panic!(
            "`hop({color})` at {site} inside the section of {}: a section holds the color \
             where it began until it ends",
            section.site
        ),
        None => panic!(
            "`hop({color})` at {site} beside a section of the same task, which holds the color where \
             it began until it ends"
        ),
    }
}
