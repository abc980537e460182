//! [`Handle`]: a runtime from anywhere.

use super::metrics::Metrics;
use super::resume;
use crate::blocking;
use crate::driver::pause::Main;
use crate::pinned::{NoWorker, PinnedCell, spawn_pinned_in};
use crate::services::{Services, current, entered};
use crate::task::JoinHandle;
use colored_core::{Color, ColorCell, Nested, Priority};
use colored_limit::Limit;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Spawns on a runtime from any thread. Cheap to clone; does not keep the runtime running.
///
/// A runtime that has shut down cancels every spawned task at once, under its color.
#[derive(Clone)]
pub struct Handle {
    pub(super) core: colored_core::SchedulerHandle,
    pub(super) services: Arc<Services>,
}

impl Handle {
    pub(super) fn new(core: colored_core::SchedulerHandle, services: Arc<Services>) -> Self {
        Self { core, services }
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

    /// The handle of the runtime that this thread works for, if there is one.
    #[must_use]
    pub fn try_current() -> Option<Handle> {
        let core = colored_core::SchedulerHandle::with_current(|handle| handle.cloned())?;
        let services = current::of(&core)?;
        Some(Self { core, services })
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
        self.core.spawn_unique(future)
    }

    /// How many workers the runtime has, without the spare workers that take over from long polls.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.services.size.workers
    }

    /// Gives a color a priority against other colors, until the next call for that color. Default:
    /// [`Priority::Normal`].
    ///
    /// A free worker takes the color with the highest priority first, and among equals the color that
    /// has waited longest in its queue. If the call raises the priority of a waiting color, the color
    /// moves up at once; if the call lowers it, the color moves down after its next turn. The order
    /// within the color does not change ([`task::Builder`](crate::task::Builder) makes the whole color
    /// urgent). A turn that has begun is not interrupted. Of 32 turns of a worker one goes to the lower
    /// classes, so none starves.
    ///
    /// A waiting color passes its priority on: if a color with [`Priority::High`] calls a cell of
    /// another color, reads it or takes it by [`when`](crate::when()), the other color has the highest
    /// priority until the closure has had its turn, and so has a section that holds it. The priority
    /// passes to these colors only, not to the colors that they wait for in turn. Joining a task passes
    /// no priority on.
    ///
    /// Work that was queued before the runtime's first priority counts as normal until its next turn.
    /// From the first priority on, every turn takes two locks with little contention; a runtime without
    /// priorities pays nothing. A color with a priority keeps its lane until its priority is normal
    /// again. On a runtime that has shut down the call does nothing.
    pub fn set_priority(&self, color: impl Into<Color>, priority: Priority) {
        self.core.set_priority(color.into(), priority);
    }

    /// The priority that [`Handle::set_priority`] has given a color. Urgent tasks in the color do not
    /// change it.
    #[must_use]
    pub fn priority(&self, color: impl Into<Color>) -> Priority {
        self.core.priority(color.into())
    }

    /// Runs `f` on a thread that may block; see [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Panics
    ///
    /// If the system refuses a thread, and the runtime has no blocking thread that could run the call
    /// later.
    #[track_caller]
    pub fn spawn_blocking<T, F>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        blocking::submit_within(&self.core, &self.services, f)
    }

    /// Gives `value` to `color` of this runtime; see [`ColorCell::new`].
    #[must_use]
    #[track_caller]
    pub fn cell<T: Send + 'static>(&self, color: impl Into<Color>, value: T) -> ColorCell<T> {
        ColorCell::new_in(&self.core, color.into(), value)
    }

    /// Makes a value on a worker of this runtime; see [`PinnedCell::on_worker`].
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

    /// Spawns the future that `make` makes, on a worker of this runtime; see
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
        assert!(
            self.services.machine.is_none(),
            "`block_on` inside a simulation would keep its only thread: `.await` the future"
        );
        let context = current::Context::new(Arc::clone(&self.services), None);
        let entered = entered::enter(context);
        let output = {
            let _tokio = self.services.tokio.enter();
            self.core.block_on(async {
                let _running = Main::begin(&self.services.driver);
                future.await
            })
        };
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

    /// Lets this thread use the runtime's I/O, timers and spawn functions until the guard is dropped.
    /// If the thread has several guards, the newest one determines the runtime. Guards may be dropped
    /// in any order, also by the destructors of thread-locals. A forgotten guard keeps the runtime's
    /// descriptors open.
    ///
    /// This also works in a task of another runtime, and inside its `block_on`: an operation that names
    /// no runtime then goes to this one. Only `spawn_here`, `spawn_local` and `hop` depend on the color
    /// and the thread ([table](super#two-runtimes-in-one-program)). A task of `spawn_local` can keep
    /// the guard across an await; the guard then applies to everything that the thread polls meanwhile
    /// under the same color.
    pub fn enter(&self) -> EnterGuard {
        let context = current::Context::new(Arc::clone(&self.services), None);
        EnterGuard {
            _services: entered::enter(context),
            _core: self.core.enter(),
            _this_thread: PhantomData,
        }
    }

    /// Returns the runtime's counters.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics::of(self.core.scheduler(), &self.services)
    }

    /// Whether this thread is one of the runtime's workers, or runs under one of its colors.
    pub(super) fn runs_here(&self) -> bool {
        self.is_current_worker() || self.core.runs_here()
    }

    /// Whether this thread is one of the runtime's workers.
    pub(super) fn is_current_worker(&self) -> bool {
        let own = |context: &Arc<current::Context>| {
            context.worker.is_some() && Arc::ptr_eq(&context.services, &self.services)
        };
        current::on_thread(own).unwrap_or(false)
    }
}

// Other tasks see the state that a panic leaves behind in tasks and cells in any case: see `ColorCell`.
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
    _services: entered::Entered,
    _this_thread: PhantomData<*const ()>,
}
