//! [`EmbeddedRuntime`]: a runtime inside an event loop of the program.

use super::event_poll::{POLL_INTERVAL_NANOS, wake_all};
use super::handle::{EnterGuard, Handle};
use super::metrics::Metrics;
use super::reactor_thread::DeadlockSearch;
use super::resume;
use super::unstarted::Unstarted;
use crate::driver::outside::Rest;
use crate::driver::pause::Main;
use crate::services::{Services, current, entered};
use crate::task::JoinHandle;
use crate::wall;
use colored_core::{Color, Step, Worker};
use std::fmt;
use std::marker::PhantomData;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// A runtime whose only worker is the thread that made it: for programs that have an event loop already, such as a
/// user interface, a game, or libuv; and for tests that step a runtime by hand.
///
/// The runtime does nothing by itself. The program calls [`turn`](Self::turn), which runs what is runnable for a bounded
/// time, and tells how long the program may wait. Between two turns the program waits for the runtime's descriptor
/// (`AsFd`, on unix) beside its own: the descriptor is readable as long as the runtime has something
/// to do. A spawn, a wake or an earlier timer from another thread makes it readable too.
///
/// | | the descriptor tells of |
/// |---|---|
/// | Linux, Android | sockets, wakes from other threads, timers |
/// | other unix systems | sockets, wakes from other threads; for timers, wait no longer than `turn` says |
/// | Windows | there is none: call [`wait`](Self::wait) in place of the program's own wait, or `turn` often enough |
///
/// Everything works as in a [`Runtime`](super::Runtime) with one worker: colors, sockets, timers, blocking calls, the
/// search for deadlocks, [handles](Handle) on other threads. What is missing is the runtime's own threads: no spare worker
/// takes over from a long poll, long polls are not counted, and sockets and timers are looked after in turns only.
///
/// A wait for a task on the thread itself, as by [`Handle::block_on`], would wait for ever, because nobody takes turns
/// meanwhile: use [`EmbeddedRuntime::block_on`].
///
/// Dropping the runtime drops its tasks, each under its color, and waits for blocking calls that have begun. Events that
/// stages have accepted are dropped: close the stages before.
///
/// # Examples
///
/// ```
/// # #[cfg(unix)]
/// # fn main() -> std::io::Result<()> {
/// use colored::time::{Duration, sleep};
///
/// let mut runtime = colored::Builder::new().build_embedded()?;
/// let task = runtime.handle().spawn_colored(7, async {
///     sleep(Duration::from_millis(5)).await;
///     "done"
/// });
/// loop {
///     let time = runtime.turn(Duration::from_millis(1));
///     if task.is_finished() {
///         break;
///     }
///     // The program's own wait, for this descriptor and others, no longer than `time`.
///     # runtime.wait(time);
/// }
/// # assert_eq!(runtime.block_on(task).unwrap(), "done");
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
pub struct EmbeddedRuntime {
    handle: Handle,
    worker: Worker,
    wakers: Vec<Waker>,
    deadlock_search: DeadlockSearch,
    /// How long the worker may rest at most, by itself.
    rest: Option<Duration>,
    /// Futures that need not be `Send` are on this thread.
    _this_thread: PhantomData<*const ()>,
}

/// The worker's number.
const ONLY: usize = 0;

impl EmbeddedRuntime {
    pub(super) fn new(mut unstarted: Unstarted) -> Self {
        let worker = unstarted.workers.pop().expect("an embedded runtime has one worker");
        let deadlock_search = DeadlockSearch::new(unstarted.handle.services.deadlock_after);
        let handle = unstarted.handle;
        let this = Self {
            handle,
            worker,
            wakers: Vec::new(),
            deadlock_search,
            rest: None,
            _this_thread: PhantomData,
        };
        // The first turn announces the first sleep.
        this.services().driver.come_back_soon(ONLY);
        this
    }

    /// A handle, which spawns from any thread.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs what is runnable, for `limit` and some more: at least one slice ([`Tuning::slice`](super::Tuning::slice)),
    /// if there is one, and no poll is interrupted. Never sleeps.
    ///
    /// Returns how long the program may wait before the next turn, unless the descriptor becomes readable: zero if more
    /// is runnable; the time until the next timer; `None` if there is none. Costs a system call or two if there is nothing
    /// to do.
    ///
    /// # Panics
    ///
    /// Inside a task or `block_on` of any runtime: a task that waits for other tasks awaits them.
    #[track_caller]
    pub fn turn(&mut self, limit: Duration) -> Option<Duration> {
        assert!(
            Color::current().is_none(),
            "`EmbeddedRuntime::turn` inside a task: call it from the program's event loop"
        );
        let end = wall::now().checked_add(limit);
        let is_over = || end.is_some_and(|end| wall::now() >= end);
        let services = Arc::clone(self.services());
        let driver = &services.driver;
        let _entered = enter(&services);
        let _tokio = services.tokio.enter();
        driver.end_rest(ONLY);
        self.look();
        let mut last_poll = self.worker.now();
        loop {
            match self.worker.step() {
                Step::Ran if is_over() => break,
                Step::Ran if self.worker.now() - last_poll < POLL_INTERVAL_NANOS => {}
                Step::Ran => {
                    self.look();
                    last_poll = self.worker.now();
                }
                Step::Park(limit) => {
                    if self.move_time() {
                        continue;
                    }
                    let due = self.deadlock_search.check(self.handle.core.scheduler());
                    self.rest = limit.map(Duration::from_nanos).into_iter().chain(due).min();
                    match driver.rest_outside(ONLY, self.rest) {
                        Rest::For(time) => return time,
                        Rest::None if is_over() => break,
                        Rest::None => {
                            driver.end_rest(ONLY);
                            self.look();
                        }
                    }
                }
                Step::Stopped => return None,
            }
        }
        driver.come_back_soon(ONLY);
        Some(Duration::ZERO)
    }

    /// Sleeps until the runtime has something to do, or `timeout` is over: in place of a wait of the program's own. Call
    /// [`turn`](Self::turn) afterwards. The time may be a millisecond longer.
    ///
    /// # Panics
    ///
    /// As `turn`.
    #[track_caller]
    pub fn wait(&mut self, timeout: Option<Duration>) {
        assert!(
            Color::current().is_none(),
            "`EmbeddedRuntime::wait` inside a task: call it from the program's event loop"
        );
        let services = Arc::clone(self.services());
        let driver = &services.driver;
        let _entered = enter(&services);
        let limit = timeout.into_iter().chain(self.rest).min();
        let limit = if driver.end_rest(ONLY) { Some(Duration::ZERO) } else { limit };
        services.park(ONLY, limit, &mut self.wakers);
        wake_all(&mut self.worker, &mut self.wakers);
        // Whatever has come: the next turn finds it, and the descriptor still says so.
        driver.come_back_soon(ONLY);
    }

    /// Runs a future as a task under the default color, and all other tasks beside it, until it is done. Other tasks go on
    /// with the next turn. The future need not be `Send`.
    ///
    /// # Panics
    ///
    /// With the panic of the future; and as [`turn`](Self::turn).
    #[track_caller]
    pub fn block_on<F: Future + 'static>(&mut self, future: F) -> F::Output {
        let mut task = self.spawn_local(future);
        let _running = Main::begin(&self.services().driver);
        loop {
            let time = self.turn(Duration::from_millis(1));
            match task.try_take() {
                Some(Ok(output)) => return output,
                Some(Err(error)) => resume(error, "block_on"),
                None => self.wait(time),
            }
        }
    }

    /// Spawns a future that need not be `Send` under the default color. The task stays on this thread.
    ///
    /// # Panics
    ///
    /// Inside a task: there, use [`spawn_local`](crate::spawn_local()).
    #[track_caller]
    pub fn spawn_local<F: Future + 'static>(&mut self, future: F) -> JoinHandle<F::Output> {
        assert!(
            Color::current().is_none(),
            "`EmbeddedRuntime::spawn_local` inside a task: use `colored::spawn_local` there"
        );
        // The task is sent to the worker, which makes the descriptor readable.
        let spawned = self.worker.batch(0, || colored_core::spawn_local(future));
        match spawned {
            Ok(task) => task,
            Err(_) => unreachable!("this thread is the worker"),
        }
    }

    /// Lets this thread use the runtime's I/O, timers and spawn functions until the guard is dropped: see
    /// [`Handle::enter`].
    pub fn enter(&self) -> EnterGuard {
        self.handle.enter()
    }

    /// Returns the runtime's counters.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    fn services(&self) -> &Arc<Services> {
        &self.handle.services
    }

    /// Moves a paused clock, if the runtime is at rest. True if that has woken tasks.
    fn move_time(&mut self) -> bool {
        let services = &self.handle.services;
        if !services.driver.clock.is_paused() {
            return false;
        }
        let scheduler = self.handle.core.scheduler();
        let has_moved = services.move_paused(scheduler, ONLY, &mut self.wakers);
        wake_all(&mut self.worker, &mut self.wakers);
        self.handle.services.driver.finish_events(ONLY);
        has_moved
    }

    /// Looks for events and due timers.
    fn look(&mut self) {
        self.handle.services.poll_events(ONLY, &mut self.wakers);
        wake_all(&mut self.worker, &mut self.wakers);
    }
}

/// Makes this thread the worker, as far as I/O is concerned.
fn enter(services: &Arc<Services>) -> entered::Entered {
    entered::enter(current::Context::new(Arc::clone(services), Some(ONLY)))
}

impl Drop for EmbeddedRuntime {
    fn drop(&mut self) {
        let services = Arc::clone(self.services());
        self.handle.core.scheduler().shut_down();
        {
            let _entered = enter(&services);
            let _tokio = services.tokio.enter();
            services.driver.end_rest(ONLY);
            loop {
                match self.worker.step() {
                    Step::Ran => {}
                    // Another thread has a color of the runtime: it is in a closure of a cell, or in `block_on`.
                    Step::Park(limit) => {
                        let limit = limit.map(Duration::from_nanos);
                        services.park(ONLY, limit, &mut self.wakers);
                        wake_all(&mut self.worker, &mut self.wakers);
                    }
                    Step::Stopped => break,
                }
            }
        }
        services.driver.shut_down();
        services.pool.shutdown(None);
        services.tokio.shut_down(None);
        services.observer.on_shutdown(self.handle.core.scheduler(), true);
    }
}

#[cfg(unix)]
impl AsFd for EmbeddedRuntime {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.services.driver.descriptor(ONLY)
    }
}

#[cfg(unix)]
impl AsRawFd for EmbeddedRuntime {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl fmt::Debug for EmbeddedRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheduler = self.handle.core.scheduler();
        f.debug_struct("EmbeddedRuntime")
            .field("colors", &scheduler.lanes())
            .field("is_idle", &scheduler.all_parked())
            .finish_non_exhaustive()
    }
}
