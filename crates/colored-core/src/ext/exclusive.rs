//! [`exclusive`]: a section that holds the color across awaits.
//!
//! Between two polls a task holds no color, and other tasks of its color run. A task with an open
//! section keeps its lane when its poll ends (`kernel/lane/turn.rs`). The section is a count in the task's
//! state, so it ends wherever its future is dropped, also far from the task.
//!
//! # Taken again
//!
//! The task stays at the head from its first section on, for as long as its polls end with an open one. So it is still
//! there when it has given the color up, in a poll that goes on, and could take the color again before all others, again
//! and again. [`Holds`] says that it has had a section since it came to the head; such a task begins another one only if
//! nothing is scheduled behind it, and goes behind that work first otherwise ([`take`]). It leaves the head for that, and
//! so the next section begins in any case. A section beside, or inside, an open one takes nothing.

use crate::kernel::budget;
use crate::kernel::lane::{Held, LanePtr, current};
use crate::kernel::sched::with_handle_of_task;
use crate::kernel::task::{Holds, PolledTask, Section, TaskRef};
use crate::kernel::wait::{self, Inside, Wait};
use pin_project_lite::pin_project;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Holds the current color until `section` is done or dropped: nothing else of the color runs in
/// between, also while `section` waits.
///
/// The hold begins with the first poll, and belongs to the whole task: other branches of the task,
/// for example in a `join!`, may run meanwhile. Work that is scheduled under the color meanwhile
/// runs afterwards, in its order. Other colors are not affected, and no worker waits. Sections
/// nest, and a task may have several at once; the end of the last one releases the color.
///
/// ```
/// # use colored_core as colored;
/// # fn doc() -> impl Future<Output = ()> {
/// # async fn read_the_rest() {}
/// async {
///     colored::exclusive(async {
///         // A value that is read here has not changed after the await.
///         read_the_rest().await;
///     })
///     .await;
/// }
/// # }
/// ```
///
/// # One section after another
///
/// A task whose last section has ended has given the color up, also if its poll goes on. Its next
/// section begins in the same poll only if nothing else is scheduled under the color. Otherwise the
/// task goes behind that work first, as by [`yield_now`](crate::yield_now()). So sections in a loop
/// starve nothing: work that is scheduled under the color waits for at most one turn, or one
/// section, of each task, call or other work that is before it. Sections of one task that overlap
/// count as one section: a task that always opens one before another has ended keeps the color.
///
/// A section takes a unit of the cooperative [budget] when it begins. So a loop of
/// sections that never wait ends its poll now and then.
///
/// # When to use it
///
/// Use a section where several awaits must look like one step to all other work of the color. Short steps need no
/// section, because a poll is never interrupted. While a section waits for long, the queue of its color grows.
///
/// # Waits that would never end
///
/// A wait inside a section for something that can go on only after the section would never end.
/// Such a wait becomes an error, in every build, and so does a wait in a cycle over several colors,
/// when it has lasted for a while: 10 ms, unless the runtime's builder sets another time. The
/// youngest wait of the cycle that is inside a section gets the error; the others go on waiting.
///
/// | the wait | gets |
/// |---|---|
/// | a [`JoinHandle`](crate::JoinHandle) | an error with [`JoinError::deadlock`](crate::JoinError::deadlock); it may be awaited again later |
/// | [`ColorCell::checked_call`](crate::ColorCell::checked_call), `checked_read`, [`checked_when`](crate::checked_when()) | [`CallError::Deadlock`](crate::CallError); the closure is dropped when its turn comes |
/// | `checked_call` of a `PinnedCell` | `PinnedError::Deadlock`; the same |
/// | [`ColorCell::call`](crate::ColorCell::call), [`read`](crate::ColorCell::read), [`when`](crate::when()), the call of a `PinnedCell`, and a task that waits for room in a `Limit` | a panic with the same text |
///
/// The text lists every wait of the cycle and its place in the source. All waits of a task count
/// together, and so do all waits in a section: a `select!` with a time-out does not make a cycle
/// legal, and a handle that was polled counts until it is ready or dropped, or the section is over.
/// A [`hop`](crate::hop()) counts too, but never gets the error, because it is never inside a
/// section. The runtime does not know waits for locks, channels and other primitives, and waits for
/// a color of another runtime. It does not know a wait for room under a `Limit` while an item
/// inside may run under another color, is an unused `Permit`, or was admitted before the runtime's
/// first section. If a task of the cycle is woken in each of its
/// polls, the search finds the cycle only when these wakes stop.
///
/// A [`yield_now`](crate::yield_now()) inside a section lets other colors run, but no other work of
/// this color: a loop of turns inside one section keeps the color for as long as it lasts. A `hop`
/// to another color panics.
///
/// # How it ends
///
/// An abort, a panic and a shutdown end the section as they end the task, and the color goes on.
/// Cancel safe if `section` is: a section that is dropped is over. This also holds if the future is
/// taken out of its task after it has been polled: dropping it anywhere ends the section, and
/// polling it in another task panics. A leaked section ends with its task.
///
/// # Costs
///
/// A section costs two read-modify-writes of the task's state, and a record in the task's list of
/// waits; where other work is scheduled, one after another in a poll costs a turn as well. A wait in a section costs the same as other waits. From the runtime's first section on,
/// the reactor thread examines the waiting sections, and the work in line behind them, every few
/// milliseconds while something runs.
///
/// # Panics
///
/// If it is polled outside a task of a runtime, or in another task than the first time; if the task has started a
/// [`hop`](crate::hop) in the same poll; and if it is the 128th section of one task at once.
#[track_caller]
pub fn exclusive<F: Future>(section: F) -> Exclusive<F> {
    exclusive_at(Location::caller(), section)
}

pub(crate) fn exclusive_at<F: Future>(
    site: &'static Location<'static>,
    section: F,
) -> Exclusive<F> {
    Exclusive { future: Some(section), open: None, put_off: None, site }
}

pin_project! {
    /// The future of [`exclusive`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Exclusive<F> {
        // Dropped before the color is released.
        #[pin]
        future: Option<F>,
        open: Option<Open>,
        put_off: Option<Holds>,
        site: &'static Location<'static>,
    }
}

impl<F: Future> Future for Exclusive<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        match &this.open {
            Some(open) => assert_same(&open.section, this.site),
            None if this.future.is_some() => {
                // A loop of sections that never wait would be one poll without an end.
                ready!(budget::poll_proceed(cx));
                let Some(open) = enter(this.site, this.put_off) else {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                };
                *this.open = Some(open);
            }
            None => {}
        }
        let (Some(future), Some(open)) = (this.future.as_mut().as_pin_mut(), this.open.as_ref())
        else {
            panic!("the section of {} was polled again after it had ended", this.site)
        };
        let inside = GoingOn::begin(open, this.site);
        let polled = future.poll(cx);
        drop(inside);
        if polled.is_ready() {
            this.future.set(None);
            *this.open = None;
        }
        polled
    }
}

/// A section that has begun.
struct Open {
    /// Dropped before the color is released.
    record: Option<Wait>,
    section: Section<LanePtr>,
}

/// Opens a section of the task that this thread polls. `None` if the task has to go behind other work first.
fn enter(site: &'static Location<'static>, put_off: &mut Option<Holds>) -> Option<Open> {
    current::with_polled(|task| match task {
        Some(task) => enter_in(&task, site, put_off),
        None => panic!(
            "the section of {site} was polled outside a task: only a task of a runtime has a color \
             to hold"
        ),
    })
}

fn enter_in(
    task: &PolledTask<'_, LanePtr>,
    site: &'static Location<'static>,
    put_off: &mut Option<Holds>,
) -> Option<Open> {
    if let Some(color) = current::hops_to() {
        panic!(
            "the section of {site} cannot begin: {:?} has been told to hop to {color} in this poll, \
             and would leave the color that it is to hold",
            task.task().id()
        )
    }
    if !take(task.task(), put_off) {
        return None;
    }
    match Section::enter(task) {
        Ok(section) => {
            with_handle_of_task(|handle| handle.map(|handle| handle.scheduler().expect_sections()));
            Some(Open { record: Wait::section(site), section })
        }
        Err(error) => panic!("the section of {site} cannot begin: {error}"),
    }
}

/// A section of the task that this thread polls is about to begin. False if it may not begin in this turn, because the
/// task has given the color up since it came to the head, and other work is scheduled: the task has to go behind that.
///
/// `put_off` belongs to the section, and says when it was put off. So no section is put off in two turns, whatever the
/// other branches of its task do, and a branch that is polled twice in one turn gains nothing.
fn take(task: TaskRef<LanePtr>, put_off: &mut Option<Holds>) -> bool {
    if task.has_sections() {
        return true;
    }
    Held::with_current(|lane| {
        let Some(lane) = lane else { return true };
        let holds = lane.inner(|inner| inner.holds);
        let is_again = holds.is_on() && put_off.is_none_or(|before| before == holds);
        if is_again && !lane.chain.has_head_only() {
            *put_off = Some(holds);
            return false;
        }
        lane.inner(|inner| inner.holds.begin());
        true
    })
}

fn assert_same(section: &Section<LanePtr>, site: &'static Location<'static>) {
    let owner = section.task();
    match current::task() {
        Some(task) if task.as_ptr() == owner.as_ptr() => {}
        Some(task) => panic!(
            "the section of {site} holds the color of {:?}, where it began, and cannot go on in {:?}",
            owner.id(),
            task.id()
        ),
        None => panic!(
            "the section of {site} holds the color of {:?}, where it began, and cannot go on outside \
             a task",
            owner.id()
        ),
    }
}

/// The time in which a section is polled.
struct GoingOn(Option<Inside>);

impl GoingOn {
    fn begin(open: &Open, site: &'static Location<'static>) -> Self {
        let record = open.record.as_ref().map(Wait::record);
        Self(wait::replace_inside(Some(Inside { task: open.section.task(), site, record })))
    }
}

impl Drop for GoingOn {
    fn drop(&mut self) {
        wait::replace_inside(self.0);
    }
}

impl<F> fmt::Debug for Exclusive<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive")
            .field("site", self.site)
            .field("holds", &self.open.is_some())
            .finish_non_exhaustive()
    }
}
