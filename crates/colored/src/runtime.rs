//! A runtime: its threads, and how it is built, entered and shut down.
//!
//! | type | what it is |
//! |---|---|
//! | [`Runtime`] | the owner: dropping it shuts the runtime down |
//! | [`Builder`] | its settings: workers, pinning, blocking threads, names |
//! | [`Handle`] | spawns on it from any thread, and does not keep it running |
//! | [`Metrics`] | what its workers have done so far |
//! | [`lab`] | other queues and other balancing |
//!
//! A runtime has one thread for each worker (`colored-w0`, ..), a reactor thread (`colored-reactor`)
//! and blocking threads as they are needed. When nothing is runnable they all sleep, and the process
//! makes no system call.
//!
//! # Two runtimes in one program
//!
//! Their colors have nothing to do with each other, and neither have their workers, timers, sockets and
//! priorities. Handles, cells and futures of one can be used in the other, and work. A task never leaves its
//! runtime.
//!
//! What names no runtime goes to the **current** one. That is, from inside to outside, the first of: the one
//! entered last ([`Handle::enter`]) where the thread is now; the one under whose color the thread runs; the one
//! whose `block_on` or blocking call it is in. So a closure that is given to a cell of another runtime is in that
//! runtime, whether it runs at once, on the caller's thread, or later, on a worker. Only a read, and a `when`
//! that only reads, have no color: which runtime is current inside depends on who runs them. Name one by its
//! handle there.
//!
//! *Closing* is a runtime whose shutdown has begun and waits for a poll that does not end; *gone* is one that
//! has ended.
//!
//! | operation, from a task of a runtime | of its own or another one | of one that is closing | of one that is gone |
//! |---|---|---|---|
//! | `spawn`, `spawn_colored`, `spawn_unique`, `spawn_pinned`, of the current one or by a handle | runs there | cancelled at once | cancelled at once |
//! | `spawn_blocking` | runs there | runs there, until all polls have ended | cancelled |
//! | `spawn_here` | runs in the runtime of the color that runs | cancelled | cancelled |
//! | `spawn_local`, [`PinnedCell::here`](crate::PinnedCell::here) | stays on the thread, in the runtime whose worker or guest that is: under the color that runs, if it is of that runtime, else under the default one | cancelled | cancelled |
//! | await a `JoinHandle` | the output | an error, unless it is done | an error, unless it is done |
//! | `abort` | works | works | does nothing |
//! | [`hop`](crate::hop()), [`yield_now`](crate::yield_now) | of the task's runtime, whatever has been entered | cancelled with the task | |
//! | `call`, `read`, [`when`](crate::when()) and their `try_`, over cells of any runtimes | works, in order and without deadlock as in one | runs at once if the colors are idle, else it is [`CallError::ShutDown`](crate::CallError), and without `try_` a panic | runs at once |
//! | [`ColorCell::post`](crate::ColorCell::post) | works | the closure is dropped under the color | the same |
//! | [`ColorCell::with`](crate::ColorCell::with) | refused under the same color of another runtime: it is another color | | |
//! | a call of a [`PinnedCell`](crate::PinnedCell) | works | [`PinnedError`](crate::pinned::PinnedError) | `PinnedError` |
//! | a permit of a [`Limit`](crate::Limit) | works | given; what is spawned with it is cancelled | the same |
//! | `send` to a [stage](crate::stage) | works | the event comes back | the event comes back |
//! | [`exclusive`](crate::exclusive()) | holds a color of the task's runtime. A wait in another one, or by a `when` over cells of several, is in no cycle that is told | | |
//! | [`sleep`](crate::time::sleep), `timeout`, `interval` | a timer of the runtime in which it is polled first; if that goes, of the one in which it is polled next | works, until all polls have ended | a panic, if it is polled there before it is due |
//! | a socket | of the runtime in which it was made; any task may use it | works, until all polls have ended | an error |
//! | a [`color_local!`](crate::color_local!) | of the color that runs, in its runtime | | |
//! | [`set_priority`](Handle::set_priority) | works | does nothing | does nothing |
//! | [`metrics`](Handle::metrics) | works | works | works |
//! | `block_on`, [`run`](Runtime::run) | a panic in a task, and `block_on` inside another one; elsewhere, as in `spawn_blocking`, works | the same; then a panic, for it is shut down | the same |
//! | drop a [`Runtime`] | waits for it, unless this thread runs under its color, or is its worker or in its `block_on` | | |
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
mod handle;
pub mod lab;
mod main_task;
mod metrics;
mod shutdown;
mod threads;

pub use self::builder::Builder;
pub use self::handle::{EnterGuard, Handle};
pub use self::metrics::{Metrics, WorkerMetrics};
pub use self::shutdown::ShutdownTimeout;

use self::threads::Threads;
use crate::pool::Class;
use crate::task::{JoinError, JoinHandle};
use colored_core::Color;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe, resume_unwind};
use std::time::Duration;

/// Workers, reactor, timers and blocking threads, as one value.
///
/// Several may live in one process; their colors have nothing to do with each other. What each operation does
/// across them is in [a table](self#two-runtimes-in-one-program).
///
/// Dropping a runtime shuts it down, and so does the end of `#[colored::main]`. It waits for what its
/// [stages](crate::stage) have accepted, as [`Runtime::shutdown_timeout`] does first, and for its
/// threads: for polls and blocking calls that are under way. That takes as long as these take, and for
/// ever if one of them does. A read of the standard input in [`spawn_blocking`](crate::spawn_blocking),
/// for one, keeps a program from ending until a line comes. `shutdown_timeout` bounds the wait,
/// [`Runtime::shutdown_background`] does without. Name look-ups that are under way are not waited for:
/// nobody is there any more who wants the answer. While the thread panics, or inside a task, a drop does
/// not wait for stages; and under a color of the runtime's own, for nothing.
///
/// A thread that is neither worker nor inside `block_on` has no color inside a
/// [`ColorCell::read`](crate::ColorCell::read), or inside a [`when`](crate::when()) that only reads; and of two
/// runtimes, a cell of one called inside a closure on one of the other, it has the inner one's. To drop the other
/// runtime there may be to wait for oneself: `shutdown_background` does not.
///
/// A thread-local may hold a runtime, which then ends with its thread, and so may it a [`Handle`], a guard of
/// `enter`, a timer or a socket: the destructors of thread-locals may drop and use all of them, in any
/// order, also on the main thread. In a thread-local of a worker of its own a runtime never ends, since that
/// thread waits for it. On Windows a destructor of a thread-local that waits for a thread may wait for ever
/// ([`std::thread::LocalKey`]): there, end the runtime by `shutdown_background`, or before.
pub struct Runtime {
    handle: Handle,
    threads: Threads,
}

impl Runtime {
    /// A runtime with one worker per available CPU.
    ///
    /// # Errors
    ///
    /// When the system refuses a thread or a selector.
    pub fn new() -> std::io::Result<Runtime> {
        Builder::new().build()
    }

    /// A runtime with other settings.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// For spawning from threads that the runtime does not know.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `main` as a task under the default color, on any worker, while the calling thread sleeps
    /// until it is done. Other tasks go on when it returns.
    ///
    /// # Panics
    ///
    /// With the panic of `main`; on a thread that runs tasks; and if the runtime is shut down
    /// meanwhile.
    #[track_caller]
    pub fn run<F>(&self, main: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match main_task::run(&self.handle, main) {
            Ok(output) => output,
            Err(error) => resume(error, "run"),
        }
    }

    /// Runs any future under the default color, on the calling thread, which sleeps while the future
    /// waits. It need not be `Send` and may borrow. Every poll hands the color from a worker to this
    /// thread and back, which costs two thread switches if the color is busy: [`Runtime::run`] does
    /// not.
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
    /// If the system gives no thread although none is there that could take the call later.
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

    /// What the runtime has done so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    /// Lets stages handle what they have accepted, then cancels every task, each under its color, and
    /// waits for all threads to end: up to `timeout` for all of it.
    ///
    /// The [stages](crate::stage) that were built in the runtime are closed and drained one after
    /// another, the one that was built last first: whoever sends ends before whoever receives. All else
    /// goes on meanwhile; who sends to a stage that is closed gets the event back. A runtime in which no
    /// stage was built loses no time by it, and neither does one whose stages have been drained.
    ///
    /// A poll and a blocking call that are under way are not interrupted; blocking calls that have
    /// not begun are cancelled. Afterwards nothing of the runtime is left but what is stuck.
    ///
    /// # Errors
    ///
    /// If some thread was still busy at the end: it ends by itself when it can. If stages had events
    /// left: [`ShutdownTimeout::events`] says how many, and they are lost.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Result<(), ShutdownTimeout> {
        self.threads.shut_down(&self.handle, Some(timeout), true)
    }

    /// As [`Runtime::shutdown_timeout`] with no time at all: cancels everything, also what stages have
    /// accepted, and waits for nobody.
    pub fn shutdown_background(mut self) {
        let _ = self.threads.shut_down(&self.handle, Some(Duration::ZERO), false);
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // On a thread of the runtime's own, waiting would be waiting for oneself; and what is still to be
        // dropped by a worker may need the color that this thread holds.
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
            .field("blocking_threads", &self.handle.driver.pool.stats(Class::Work).threads)
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
