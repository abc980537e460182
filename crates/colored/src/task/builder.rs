//! [`Builder`]: spawns a task with a color, a priority and a name.

use super::with_handle;
use colored_core::{Color, JoinHandle, Origin, Priority, TaskName};
use pin_project_lite::pin_project;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The settings of one task.
///
/// ```
/// use colored::{Priority, task};
///
/// # #[colored::main(workers = 2)]
/// # async fn main() {
/// let alarm = task::Builder::new().color(7).priority(Priority::High).spawn(async { "now" });
/// assert_eq!(alarm.await.unwrap(), "now");
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing before `spawn`"]
pub struct Builder<'a> {
    color: Color,
    priority: Priority,
    name: Option<&'a str>,
}

impl Default for Builder<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Builder<'a> {
    /// As [`spawn`](super::spawn): the default color, and no priority of its own.
    pub fn new() -> Self {
        Self { color: Color::DEFAULT, priority: Priority::Normal, name: None }
    }

    /// The color that the task runs under. Default: [`Color::DEFAULT`].
    pub fn color(mut self, color: impl Into<Color>) -> Self {
        self.color = color.into();
        self
    }

    /// [`Priority::High`]: from each time the task is scheduled until its turn is over, its color at
    /// that time has the highest priority, and so the work before the task in that color profits as
    /// well. A color that waits in a queue moves up at once; it returns to its own class when no such
    /// task is left in it. The order within the color does not change.
    ///
    /// The task passes its priority on to the cells that it calls, reads, or takes by
    /// [`when`](crate::when()) meanwhile.
    ///
    /// [`Priority::Normal`], the default: the task has the priority of its color.
    ///
    /// [`Handle::set_priority`](crate::Handle::set_priority) documents the cost of priorities, and the
    /// schedulers without them.
    ///
    /// # Panics
    ///
    /// With [`Priority::Low`]: the order within a color is fixed, so a task that is less urgent than
    /// the others of its color would delay the tasks behind it. To give a whole color low priority, use
    /// [`Handle::set_priority`](crate::Handle::set_priority).
    #[track_caller]
    pub fn priority(mut self, priority: Priority) -> Self {
        assert!(
            priority != Priority::Low,
            "a task cannot have `Priority::Low`, only `High` or `Normal`: it would hold up what stands \
             behind it in its color; give it a color of its own, with \
             `Handle::set_priority(color, Priority::Low)`"
        );
        self.priority = priority;
        self
    }

    /// A name for the task, which dumps (`Handle::dump`, feature `diagnose`), long polls, deadlocks and panics show. Several tasks may
    /// have one name. Default: none.
    ///
    /// A task without a name pays nothing. A name costs an allocation, four looks under a lock of the process, and 16
    /// bytes of the task.
    ///
    /// ```
    /// # #[colored::main(workers = 1)]
    /// # async fn main() {
    /// let reader = colored::task::Builder::new().name("reader").spawn(async {});
    /// # reader.await.unwrap();
    /// # }
    /// ```
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    /// Spawns the task on the current runtime.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let site = Location::caller();
        let origin = Origin { site, name: self.name };
        let Some(text) = self.name else { return self.spawn_from(origin, future) };
        let (kept, name) = TaskName::reserve(text);
        let handle = self.spawn_from(origin, Named { future, name: kept, is_given: false });
        name.give(handle.id());
        handle
    }

    #[track_caller]
    fn spawn_from<F>(self, origin: Origin<'_>, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        with_handle("task::Builder::spawn", |handle| match self.priority {
            Priority::High => handle.spawn_high_from(origin, self.color, future),
            _ => handle.spawn_colored_from(origin, self.color, future),
        })
    }
}

pin_project! {
    /// A future that keeps the name of its task.
    struct Named<F> {
        #[pin]
        future: F,
        name: TaskName,
        is_given: bool,
    }
}

impl<F: Future> Future for Named<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if !std::mem::replace(this.is_given, true)
            && let Some(id) = colored_core::current_task()
        {
            this.name.give(id);
        }
        this.future.poll(cx)
    }
}
