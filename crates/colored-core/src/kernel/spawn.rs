//! Functions on tasks: spawn, move, yield, join, abort; and [`blocking`], a closure for another thread, with a handle that
//! waits for it as for a task.

use crate::hooks::TaskSpan;
use crate::kernel::budget;
use crate::kernel::color::Color;
use crate::kernel::lane::{self, LanePtr, current};
use crate::kernel::sched::JoinHandle;
use crate::kernel::sched::with_handle_of_task;
use crate::kernel::task::{self, EndedTurn, How, Id, TaskRef, TaskTurn};
use crate::kernel::wait::{self, WaitSlot};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

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

/// A closure to be run by a thread that may block; see [`blocking`].
pub struct Job(Option<TaskRef<LanePtr>>);

// SAFETY: `blocking` makes it from a closure and an output that are `Send`.
unsafe impl Send for Job {}

/// Makes a closure into a job for another thread, and a handle that waits for its result. A job
/// that is dropped, or aborted before it runs, is cancelled.
#[track_caller]
pub fn blocking<T, F>(f: F) -> (Job, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let site = Location::caller();
    let mut f = Some(f);
    let future = std::future::poll_fn(move |_| {
        let f = f.take().expect("a job is polled once");
        Poll::Ready(f())
    });
    let Some(span) = TaskSpan::of_blocking_call(site.into()) else { return job(future, site) };
    let (job, handle) = job(span.around(future), site);
    span.set_id(handle.id());
    (job, handle)
}

/// The future completes with its first poll.
fn job<F>(future: F, site: &'static Location<'static>) -> (Job, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the future is `Send`, and borrows nothing. The task is never on a lane: it counts as
    // scheduled from its creation until it completes, and so no wake ever schedules it.
    let (task, join) = unsafe { task::Cell::allocate(future, LanePtr::nowhere(), 0, false, site) };
    (Job(Some(task)), JoinHandle::new(join))
}

impl Job {
    /// Runs the closure. A panic goes to the handle.
    pub fn run(mut self) {
        self.finish(false);
    }

    fn finish(&mut self, cancel: bool) {
        if let Some(task) = self.0.take() {
            finish(task, cancel);
        }
    }
}

/// The turn of a job, of which nothing is left.
fn finish(task: TaskRef<LanePtr>, cancel: bool) {
    // SAFETY: the task is on no lane, and the job takes its own half out: so this is the task's one turn.
    let mut turn = unsafe { TaskTurn::new(task) };
    let stored = turn.run(cancel).expect("a job does not wait");
    turn.complete(stored);
    // SAFETY: the task has had its turn here, and is in no chain.
    let released = unsafe { EndedTurn::new(task) }.release();
    debug_assert!(released.is_ok(), "it is complete");
}

impl Drop for Job {
    fn drop(&mut self) {
        self.finish(true);
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Job").field(&self.0.map(TaskRef::id)).finish()
    }
}

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
    match wait::inside() {
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
