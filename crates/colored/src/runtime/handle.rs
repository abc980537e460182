//! [`Handle`]: a runtime from anywhere.

use super::metrics::Metrics;
use super::resume;
use crate::blocking;
use crate::driver::{Driver, current, entered};
use crate::pinned::{NoWorker, PinnedCell, spawn_pinned_in};
use crate::task::JoinHandle;
use colored_core::{Color, ColorCell, Limit, Nested, Priority};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Spawns on a runtime from any thread. Cheap to clone; does not keep the runtime running.
///
/// On a runtime that has shut down, whatever is spawned is cancelled at once, under its color.
#[derive(Clone)]
pub struct Handle {
    pub(super) core: colored_core::Handle,
    pub(super) driver: Arc<Driver>,
}

impl Handle {
    pub(super) fn new(core: colored_core::Handle, driver: Arc<Driver>) -> Self {
        Self { core, driver }
    }

    /// The handle of the runtime that this thread works for.
    ///
    /// # Panics
    ///
    /// Outside a runtime; [`Handle::try_current`] does not.
    #[must_use]
    #[track_caller]
    pub fn current() -> Handle {
        Self::try_current().expect(
            "`Handle::current` outside a runtime: call it inside `#[colored::main]`, \
             `Runtime::run`, `Runtime::block_on`, or while the guard of `Handle::enter` lives",
        )
    }

    /// The handle of the runtime that this thread works for, if it does.
    #[must_use]
    pub fn try_current() -> Option<Handle> {
        let core = colored_core::Handle::with_current(|handle| handle.cloned())?;
        let driver = current::of(&core)?;
        Some(Self { core, driver })
    }

    /// Spawns under [`Color::DEFAULT`]; see [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.core.spawn_colored(Color::DEFAULT, future)
    }

    /// Spawns under `color`; see [`spawn_colored`](crate::spawn_colored).
    #[track_caller]
    pub fn spawn_colored<F>(&self, color: impl Into<Color>, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.core.spawn_colored(color.into(), future)
    }

    /// Spawns under a fresh color; see [`spawn_unique`](crate::spawn_unique).
    #[track_caller]
    pub fn spawn_unique<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.core.spawn_alone(future)
    }

    /// Gives a color a priority against other colors, until it is given another. Default:
    /// [`Priority::Normal`].
    ///
    /// A worker that is free takes the color with the highest priority first, and among equals the
    /// one that has waited longest in its queue. A color that waits and becomes more urgent by the
    /// call is moved up at once; one that becomes less urgent, after its next turn. Within the color
    /// the order stays what it was ([`task::Builder`](crate::task::Builder) makes the whole color
    /// urgent). A turn that has begun is not interrupted, and of 32 turns of a worker one is for the
    /// lower classes: none starves.
    ///
    /// Whoever waits lends urgency: where a color that is [`Priority::High`] calls a cell of another
    /// one, reads it or takes it by [`when`](crate::when()), that color is of the highest priority until the
    /// closure has had its turn, and so is a section that holds it. It is lent to those colors alone, not to
    /// what they wait for in turn, and joining a task lends nothing.
    ///
    /// What has been queued before the runtime's first priority counts as normal until its next turn.
    /// From that on, every turn goes through two locks that few others use; a runtime in which no
    /// priority is ever named pays for none of this. The color has a lane
    /// until it is normal again. With `Queue::SharedTasks` and `Queue::PerWorkerTasks`
    /// ([`lab`](super::lab)) there are no priorities: the call does nothing. Nor does it on a runtime
    /// that has shut down.
    pub fn set_priority(&self, color: impl Into<Color>, priority: Priority) {
        self.core.set_priority(color.into(), priority);
    }

    /// The priority that [`Handle::set_priority`] has given a color. What is urgent in it at the
    /// moment does not count.
    #[must_use]
    pub fn priority(&self, color: impl Into<Color>) -> Priority {
        self.core.priority(color.into())
    }

    /// Runs `f` on a thread that may block; see [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Panics
    ///
    /// If the system gives no thread although none is there that could take the call later.
    #[track_caller]
    pub fn spawn_blocking<T, F>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        blocking::submit_within(&self.core, &self.driver, f)
    }

    /// Gives `value` to `color` of this runtime; see [`ColorCell::new`].
    #[must_use]
    #[track_caller]
    pub fn cell<T: Send + 'static>(&self, color: impl Into<Color>, value: T) -> ColorCell<T> {
        ColorCell::new_in(&self.core, color.into(), value)
    }

    /// Has a value made on a worker of this runtime; see [`PinnedCell::on_worker`].
    ///
    /// # Errors
    ///
    /// If there is no such worker.
    pub fn pinned_cell<T: 'static>(
        &self,
        worker: usize,
        color: impl Into<Color>,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<PinnedCell<T>, NoWorker> {
        PinnedCell::new_in(&self.core, worker, color.into(), make)
    }

    /// Spawns what `make` makes on a worker of this runtime; see
    /// [`spawn_pinned`](crate::spawn_pinned).
    ///
    /// # Errors
    ///
    /// If there is no such worker.
    #[track_caller]
    pub fn spawn_pinned<M, F>(
        &self,
        worker: usize,
        color: impl Into<Color>,
        make: M,
    ) -> Result<JoinHandle<F::Output>, NoWorker>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        spawn_pinned_in(&self.core, Location::caller(), worker, color.into(), make)
    }

    /// A limit of `capacity` items for `color` of this runtime; see [`Limit::new`].
    ///
    /// # Panics
    ///
    /// If the capacity is 0, or more than 2⁶⁰.
    #[must_use]
    #[track_caller]
    pub fn limit(&self, color: impl Into<Color>, capacity: usize) -> Limit {
        Limit::new_in(&self.core, color.into(), capacity)
    }

    /// See [`Runtime::block_on`](super::Runtime::block_on).
    ///
    /// # Panics
    ///
    /// As there.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let context = current::Context { driver: Arc::clone(&self.driver), worker: None };
        let entered = entered::enter(context);
        let output = self.core.block_on(future);
        drop(entered);
        match output {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => resume(error, "block_on"),
            Err(Nested::InTask) => panic!(
                "`block_on` inside a task would block its worker and its color: `.await` the \
                 future, or run it from `spawn_blocking`"
            ),
            Err(_) => panic!(
                "`block_on` inside another `block_on` on the same thread: `.await` the future"
            ),
        }
    }

    /// Lets this thread use the runtime's I/O, timers and spawn functions until the guard is dropped. Of
    /// several guards the one that was made last counts; they may be dropped in any order, also by the
    /// destructors of thread-locals. A guard that is forgotten keeps the runtime's descriptors open.
    ///
    /// Also in a task of another runtime, and inside its `block_on`: what names no runtime goes to this one
    /// then. Only `spawn_here`, `spawn_local` and `hop` go by the color and the thread
    /// ([table](super#two-runtimes-in-one-program)). A task that keeps the guard across an await, as one of
    /// `spawn_local` can, keeps it for whatever its thread polls meanwhile under the same color.
    pub fn enter(&self) -> EnterGuard {
        let context = current::Context { driver: Arc::clone(&self.driver), worker: None };
        EnterGuard {
            _driver: entered::enter(context),
            _core: self.core.enter(),
            _this_thread: PhantomData,
        }
    }

    /// What the runtime has done so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics::of(self.core.scheduler())
    }

    /// Whether this thread is one of the runtime's workers, or runs under one of its colors.
    pub(super) fn runs_here(&self) -> bool {
        self.is_current_worker() || self.core.runs_here()
    }

    /// Whether this thread is one of the runtime's workers.
    pub(super) fn is_current_worker(&self) -> bool {
        let own = |context: &Arc<current::Context>| {
            context.worker.is_some() && Arc::ptr_eq(&context.driver, &self.driver)
        };
        current::on_thread(own).unwrap_or(false)
    }
}

// What a panic leaves behind in tasks and cells, others see in any case: see `ColorCell`.
impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("workers", &self.core.scheduler().workers())
            .finish_non_exhaustive()
    }
}

/// The guard of [`Handle::enter`].
#[derive(Debug)]
#[must_use = "dropping the guard leaves the runtime"]
pub struct EnterGuard {
    _core: colored_core::Entered,
    _driver: entered::Entered,
    _this_thread: PhantomData<*const ()>,
}
