//! [`exclusive`]: a section that holds the color across awaits.
//!
//! Between two polls a task has no color: others of its color run. A task with an open section is
//! different: it keeps its lane when its poll ends (`lane/keep.rs`). The section is a count in the
//! task's state, so it ends wherever its future ends, also far from the task.

use crate::lane::{LanePtr, current};
use crate::sync::thread_slot;
use crate::task::Section;
use pin_project_lite::pin_project;
use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

// Where the innermost section was made whose future this thread polls.
thread_slot!(static INSIDE: Cell<Option<&'static Location<'static>>> = Cell::new(None));

/// Where the section that the caller is in was made; `None` outside the future of one.
pub(crate) fn inside() -> Option<&'static Location<'static>> {
    INSIDE.with(Cell::get)
}

/// Holds the current color until `section` is done or dropped: nothing else of the color runs in
/// between, also while `section` waits.
///
/// The hold begins with the first poll, and is that of the whole task: its other branches, in a
/// `join!` say, may run meanwhile. What is scheduled under the color meanwhile runs afterwards, in
/// its order. Other colors are not affected: no worker waits. Sections nest, and a task may have
/// several at once; the last one to end gives the color back.
///
/// ```
/// # use colored_core as colored;
/// # fn doc() -> impl Future<Output = ()> {
/// # async fn read_the_rest() {}
/// async {
///     colored::exclusive(async {
///         // What is read here is still true after the await.
///         read_the_rest().await;
///     })
///     .await;
/// }
/// # }
/// ```
///
/// Best where several awaits must look like one step to everything else of the color. Short steps
/// need no section, for a poll is never interrupted; and a section that waits for long is a queue
/// that grows for long.
///
/// What must not happen inside: to wait for something that itself needs the color, such as a task
/// that was spawned here, or a call that another task makes to a cell of the color. A
/// [`yield_now`](crate::yield_now) lets other colors run, but nobody of this one. A
/// [`hop`](crate::hop) panics.
///
/// An abort, a panic and a shutdown end the section as they end the task, and the color goes on.
/// Cancel safe as far as `section` is: a section that is dropped is over. That also holds where the
/// future was taken out of its task after it had been polled: to drop it anywhere ends the section,
/// to poll it in another task panics. One that is leaked ends with its task.
///
/// Costs two read-modify-writes of the task's state; and a lock that few others use, twice, in a
/// section that waits for anything.
///
/// # Panics
///
/// When it is polled: outside a task of a runtime; in another task than the first time; if the task
/// has been told to [`hop`](crate::hop) in the same poll; if it is the 128th section at once of one
/// task.
#[track_caller]
pub fn exclusive<F: Future>(section: F) -> Exclusive<F> {
    exclusive_at(Location::caller(), section)
}

pub(crate) fn exclusive_at<F: Future>(
    site: &'static Location<'static>,
    section: F,
) -> Exclusive<F> {
    Exclusive { future: Some(section), section: None, site }
}

pin_project! {
    /// The future of [`exclusive`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Exclusive<F> {
        // Dropped before the color is given back.
        #[pin]
        future: Option<F>,
        section: Option<Section<LanePtr>>,
        site: &'static Location<'static>,
    }
}

impl<F: Future> Future for Exclusive<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        match &this.section {
            Some(section) => assert_same(section, this.site),
            None if this.future.is_some() => *this.section = Some(enter(this.site)),
            None => {}
        }
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            panic!("the section of {} was polled again after it had ended", this.site)
        };
        let _inside = Inside(INSIDE.with(|inside| inside.replace(Some(this.site))));
        let output = std::task::ready!(future.poll(cx));
        this.future.set(None);
        *this.section = None;
        Poll::Ready(output)
    }
}

/// Opens a section of the task that this thread polls.
fn enter(site: &'static Location<'static>) -> Section<LanePtr> {
    let Some(task) = current::task() else {
        panic!(
            "the section of {site} was polled outside a task: only a task of a runtime has a color \
             to hold"
        )
    };
    if let Some(color) = current::hops_to() {
        panic!(
            "the section of {site} cannot begin: {:?} has been told to hop to {color} in this poll, \
             and would leave the color that it is to hold",
            task.id()
        )
    }
    // SAFETY: this thread polls the task.
    match unsafe { Section::enter(task) } {
        Ok(section) => section,
        Err(error) => panic!("the section of {site} cannot begin: {error}"),
    }
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

/// Puts back what this thread was inside of.
struct Inside(Option<&'static Location<'static>>);

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.with(|inside| inside.set(self.0));
    }
}

impl<F> fmt::Debug for Exclusive<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive")
            .field("site", self.site)
            .field("holds", &self.section.is_some())
            .finish_non_exhaustive()
    }
}
