//! A runtime: its threads, and how it is built, entered and shut down.
//!
//! | type | what it is |
//! |---|---|
//! | [`Runtime`] | the owner: dropping it shuts the runtime down |
//! | [`Builder`] | its settings: workers, pinning, blocking threads, names |
//! | [`Handle`] | spawns on it from any thread, and does not keep it running |
//! | [`EmbeddedRuntime`] | a runtime inside an event loop of the program: its only worker is the thread that calls it |
//! | [`Metrics`] | counters of its workers |
//!
//! A runtime has one thread for each worker (`colored-w0`, ..), a reactor thread (`colored-reactor`) and
//! blocking threads on demand; with the feature `tokio-context` also `colored-tokio`, which waits for events of libraries
//! ([`Builder`]). When nothing is runnable all threads sleep, and the process makes no system
//! call.
//!
//! # Who polls the reactor
//!
//! The reactor's selectors (mio's) are shards. A worker that has nothing to run sleeps inside a shard's selector, and a busy
//! one looks there between slices, so that an event is handled where its task then runs: no other thread has to wake up.
//! The reactor thread polls what no worker polls, checks the timers of workers that are stuck, and calls spare workers. A
//! server of small requests took 11.4 µs of CPU time a request with a reactor thread that polls alone, and 7.1 to 7.7 µs
//! with workers that poll when they are idle.
//!
//! # Two runtimes in one program
//!
//! The colors of two runtimes are unrelated, and so are their workers, timers, sockets and priorities.
//! Handles, cells and futures of one runtime work in the other. A task never leaves its runtime.
//!
//! An operation that names no runtime goes to the **current** one. The current runtime is the innermost of
//! these: the runtime that the thread entered last ([`Handle::enter`]), the runtime under whose color the
//! thread runs, and the runtime in whose `block_on` or blocking call the thread is. So a closure that is
//! given to a cell of another runtime is in that runtime, whether it runs at once on the caller's thread or
//! later on a worker. Only a read, and a `when` that only reads, have no color: there the current runtime
//! depends on the thread that runs the closure. Name a runtime by its handle there.
//!
//! A runtime is *closing* if its shutdown has begun and waits for a poll that does not end, and *gone* if
//! it has ended.
//!
//! | operation, from a task of a runtime | of its own or another one | of one that is closing | of one that is gone |
//! |---|---|---|---|
//! | `spawn`, `spawn_colored`, `spawn_unique`, `spawn_pinned`, of the current one or by a handle | runs there | cancelled at once | cancelled at once |
//! | `spawn_blocking` | runs there | runs there, until all polls have ended | cancelled |
//! | `spawn_here` | runs in the runtime of the current color | cancelled | cancelled |
//! | `spawn_local`, [`PinnedCell::here`](crate::PinnedCell::here) | stays on the thread, in the runtime that has the thread as a worker or in its `block_on`: under the current color, if it is of that runtime, else under the default one | cancelled | cancelled |
//! | await a `JoinHandle` | the output | an error, unless it is done | an error, unless it is done |
//! | `abort` | works | works | does nothing |
//! | [`hop`](crate::hop()), [`yield_now`](crate::yield_now) | stays in the task's runtime, whichever runtime has been entered | cancelled with the task | |
//! | `call`, `read`, [`when`](crate::when()) and their `checked_`, over cells of any runtimes | works, in order and without deadlock as in one runtime | runs at once if the colors are idle, else returns [`CallError::ShutDown`](crate::CallError), and without `checked_` panics | runs at once |
//! | [`ColorCell::post`](crate::ColorCell::post) | works | the closure is dropped under the color | the same |
//! | [`ColorCell::with`](crate::ColorCell::with) | refused under the same color of another runtime: it is another color | | |
//! | a call of a [`PinnedCell`](crate::PinnedCell) | works | [`PinnedError`](crate::pinned::PinnedError) | `PinnedError` |
//! | a permit of a [`Limit`](crate::Limit) | works | is granted; a task that is spawned with it is cancelled | the same |
//! | `send` to a stage | works | the event comes back | the event comes back |
//! | [`exclusive`](crate::exclusive()) | holds a color of the task's runtime. The search for deadlocks ignores a wait in another runtime, and a `when` over cells of several | | |
//! | [`sleep`](crate::time::sleep), `timeout`, `interval` | belongs to the runtime in which it is polled first; if that is gone, to the one in which it is polled next | works, until all polls have ended | panics, if it is polled there before it is due |
//! | a socket | belongs to the runtime in which it was made; any task may use it | works, until all polls have ended | an error |
//! | a [`File`](crate::fs::File) | belongs to the runtime in which it was made; any task may use it | works, until all polls have ended | what is in memory is read; else an error |
//! | a [`color_local!`](crate::color_local!) | belongs to the current color, in its runtime | | |
//! | [`set_priority`](Handle::set_priority) | works | does nothing | does nothing |
//! | [`metrics`](Handle::metrics) | works | works | works |
//! | `block_on`, [`run`](Runtime::run) | panics in a task, and `block_on` panics inside another one; elsewhere, as in `spawn_blocking`, works | the same; then panics, because the runtime is shut down | the same |
//! | drop a [`Runtime`] | waits for the runtime, unless this thread runs under its color, or is its worker or in its `block_on` | | |
//!
//! # Examples
//!
//! ```
//! use colored::{Color, Runtime};
//!
//! # fn main() -> std::io::Result<()> {
//! let runtime = Runtime::builder().workers(2).build()?;
//! let sum = runtime.run(async {
//!     let squares = [1, 2, 3].map(|n| colored::spawn_colored(Color::new(n), async move { n * n }));
//!     let mut sum = 0;
//!     for square in squares {
//!         sum += square.await.unwrap();
//!     }
//!     sum
//! });
//! assert_eq!(sum, 14);
//! # Ok(())
//! # }
//! ```

mod builder;
mod by_default;
#[cfg(feature = "diagnose")]
mod diagnosed;
mod embedded;
mod event_poll;
mod handle;
mod main_task;
mod metrics;
mod park;
mod reactor_thread;
mod shutdown;
#[cfg(feature = "sim")]
pub(crate) mod simulated;
mod threads;
mod tokio_names;
#[cfg(feature = "tokio-context")]
mod tokio_threads;
#[cfg(not(feature = "tokio-context"))]
#[path = "runtime/tokio_threads/absent.rs"]
mod tokio_threads;
mod unstarted;
pub(crate) mod without_features;

pub use self::builder::{Builder, Tuning};
pub use self::by_default::block_on;
pub use self::embedded::EmbeddedRuntime;
pub use self::handle::{EnterGuard, Handle};
pub use self::metrics::{Metrics, WorkerMetrics};
pub use self::shutdown::{ShutdownTimeout, StuckCall};
pub use self::tokio_names::RuntimeFlavor;

use self::threads::Threads;
use crate::pool::Class;
use crate::task::{JoinError, JoinHandle};
use colored_core::Color;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe, resume_unwind};
use std::time::Duration;

/// A runtime: its workers, reactor, timers and blocking threads.
///
/// Several runtimes may live in one process; their colors are unrelated. [A
/// table](self#two-runtimes-in-one-program) shows the behavior of each operation across runtimes.
///
/// Dropping a runtime shuts it down, and so does the end of `#[colored::main]`. The drop first waits until
/// the stages have handled their accepted events, as [`Runtime::shutdown_timeout`] does,
/// and then for the threads: for polls and blocking calls that have begun. If one of these never returns,
/// the drop never returns. For example, a read of the standard input in
/// [`spawn_blocking`](crate::spawn_blocking) keeps a program from ending until a line arrives.
/// `shutdown_timeout` limits the wait, and [`Runtime::shutdown_background`] does not wait. A shutdown does
/// not wait for name look-ups, because no task is left that needs the answer. While the thread panics, or
/// inside a task, a drop does not wait for stages; under a color of its own runtime it waits for nothing.
///
/// A drop recognizes its own runtime by the color of its thread. A thread that is neither a worker nor
/// inside `block_on` has no color inside a [`ColorCell::read`](crate::ColorCell::read), or inside a
/// [`when`](crate::when()) that only reads. If a closure on a cell of one runtime calls a cell of another,
/// the thread has the color of the inner one. A drop of the outer runtime there may wait for its own
/// thread; use `shutdown_background`, which does not wait.
///
/// A thread-local may hold a runtime, which then ends with its thread. A thread-local may also hold a
/// [`Handle`], a guard of `enter`, a timer or a socket: the destructors of thread-locals may drop and use
/// all of them, in any order, also on the main thread. A runtime in a thread-local of one of its own
/// workers never ends, because the worker waits for itself. On Windows a destructor of a thread-local that
/// waits for a thread may wait for ever ([`std::thread::LocalKey`]): there, end the runtime earlier, or by
/// `shutdown_background`.
pub struct Runtime {
    handle: Handle,
    threads: Threads,
}

impl Runtime {
    /// Starts a runtime with one worker per available CPU.
    ///
    /// # Errors
    ///
    /// When the system refuses a thread or a selector.
    pub fn new() -> std::io::Result<Runtime> {
        Builder::new().build()
    }

    /// Returns a builder for a runtime with other settings.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Returns a handle, which spawns from any thread.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `main` as a task under the default color, on any worker, while the calling thread sleeps
    /// until it is done. Other tasks go on when it returns.
    ///
    /// # Panics
    ///
    /// With the panic of `main`; on a thread that runs tasks; and if the runtime shuts down meanwhile.
    #[track_caller]
    pub fn run<F>(&self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.run_from(Location::caller(), main)
    }

    /// As [`run`](Self::run), for a caller at `site`.
    #[track_caller]
    pub(crate) fn run_from<F>(&self, site: &'static Location<'static>, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match main_task::run(&self.handle, site, main) {
            Ok(output) => output,
            Err(error) => resume(error, "run"),
        }
    }

    /// Runs any future under the default color, on the calling thread, which sleeps while the future waits.
    /// The future need not be `Send` and may borrow. Every poll hands the color from a worker to this
    /// thread and back, which costs two thread switches if the color is busy; [`Runtime::run`] avoids them.
    ///
    /// # Panics
    ///
    /// With the panic of the future; inside a task or another `block_on`; and if the runtime is shut
    /// down meanwhile.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Spawns under [`Color::DEFAULT`]; see [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Spawns under `color`; see [`spawn_colored`](crate::spawn_colored).
    #[track_caller]
    pub fn spawn_colored<F>(&self, color: impl Into<Color>, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn_colored(color, future)
    }

    /// Spawns under a fresh color; see [`spawn_unique`](crate::spawn_unique).
    #[track_caller]
    pub fn spawn_unique<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn_unique(future)
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
        self.handle.spawn_blocking(f)
    }

    /// Lets this thread use the runtime's I/O, timers and spawn functions until the guard is dropped:
    /// see [`Handle::enter`].
    pub fn enter(&self) -> EnterGuard {
        self.handle.enter()
    }

    /// Returns the runtime's counters.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    /// Lets stages handle their accepted events, then cancels every task, each under its color, and waits
    /// for all threads to end. All of this takes at most `timeout`.
    ///
    /// The shutdown closes and drains the stages of the runtime one after another, the last
    /// one built first, so that senders end before receivers. Everything else goes on meanwhile; a send to
    /// a closed stage returns the event. A runtime without stages, or with drained stages, loses no time by
    /// this.
    ///
    /// The shutdown does not interrupt a poll or a blocking call that has begun; it cancels blocking calls
    /// that have not begun. Afterwards only stuck threads of the runtime are left.
    ///
    /// # Errors
    ///
    /// If some thread was still busy at the end; the thread ends by itself when it can. The error names the polls and
    /// the blocking calls that go on: worker, color, task, where it was spawned, and for how long. If stages had events
    /// left, these are lost; [`ShutdownTimeout::events`] counts them.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Result<(), ShutdownTimeout> {
        self.threads.shut_down(&self.handle, Some(timeout), true)
    }

    /// Cancels everything, also the events that stages have accepted, and waits for nothing:
    /// [`Runtime::shutdown_timeout`] with no time at all.
    pub fn shutdown_background(mut self) {
        let _ = self.threads.shut_down(&self.handle, Some(Duration::ZERO), false);
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // On a thread of the runtime's own, the drop would wait for its own thread; and values that a worker has yet to
        // drop may need the color that this thread holds.
        let timeout = self.handle.runs_here().then_some(Duration::ZERO);
        // Nor must a panic wait for others, or a task for what may need its color.
        let drains = !std::thread::panicking() && Color::current().is_none();
        let _ = self.threads.shut_down(&self.handle, timeout, drains);
    }
}

// As for its handle.
impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheduler = self.handle.core.scheduler();
        f.debug_struct("Runtime")
            .field("workers", &scheduler.workers())
            .field("parked", &scheduler.parked())
            .field("colors", &scheduler.lanes())
            .field("blocking_threads", &self.handle.services.pool.stats(Class::Work).threads)
            .finish_non_exhaustive()
    }
}

#[track_caller]
fn resume(error: JoinError, what: &str) -> ! {
    match error.try_into_panic() {
        Ok(payload) => resume_unwind(payload),
        Err(_) => panic!("the runtime was shut down while `{what}` waited"),
    }
}
