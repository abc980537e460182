//! [`SimulatedRuntime`]: all workers of a runtime, stepped by its caller, and a clock that moves when nothing is runnable.

use super::event_poll::wake_all;
use super::handle::Handle;
use super::unstarted::Unstarted;
use crate::driver::Driver;
use crate::driver::pause::Main;
use crate::services::{current, entered};
use crate::task::JoinHandle;
use crate::time::{Duration, Sleep, sleep};
use colored_core::{Color, Step, Worker, look_for_deadlocks};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::thread::ThreadId;

/// A runtime whose caller chooses which of its *actors* takes the next turn. An actor is a worker; the last one, behind
/// the workers, runs blocking calls.
///
/// A turn is one poll or closure. While a thread is inside the turn of one actor, other threads may take turns of others:
/// these are threads of a real runtime then.
pub(crate) struct SimulatedRuntime {
    handle: Handle,
    workers: Vec<Mutex<Worker>>,
    time: Mutex<Time>,
}

#[derive(Default)]
struct Time {
    wakers: Vec<Waker>,
    /// Moves the clock to the next search for deadlocks.
    search: Option<Pin<Box<Sleep>>>,
    is_over: bool,
}

/// The worker that fires timers.
const FIRST: usize = 0;

impl SimulatedRuntime {
    pub(super) fn new(unstarted: Unstarted) -> Self {
        let Unstarted { handle, workers, .. } = unstarted;
        let workers = workers.into_iter().map(Mutex::new).collect();
        let this = Self { handle, workers, time: Mutex::default() };
        // They announce their first sleep.
        (0..this.workers.len()).for_each(|worker| this.step(worker));
        this
    }

    /// Spawns the main future under the default color.
    pub(crate) fn spawn_main<F>(&self, main: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let driver = Arc::clone(self.driver());
        self.handle.spawn_colored(Color::DEFAULT, async move {
            let _running = Main::begin(&driver);
            main.await
        })
    }

    /// Puts the actors that have something to run into `actors`, in their order. Those that are inside a turn may be among
    /// them.
    pub(crate) fn list_runnable(&self, actors: &mut Vec<usize>) {
        let scheduler = self.handle.core.scheduler();
        actors.clear();
        actors.extend((0..self.workers.len()).filter(|worker| !scheduler.is_parked(*worker)));
        if self.handle.services.pool.has_work() {
            actors.push(self.workers.len());
        }
    }

    /// The thread that must take the turns of an actor that is inside none, if something is pinned to it.
    pub(crate) fn thread_of(&self, actor: usize) -> Option<ThreadId> {
        lock(self.workers.get(actor)?).thread()
    }

    /// Takes a turn of an actor that is runnable, and inside no turn.
    pub(crate) fn take_turn(&self, actor: usize) {
        if actor == self.workers.len() {
            self.handle.services.pool.run_next();
        } else {
            self.step(actor);
        }
    }

    /// Runs one turn of the worker; if nothing else waits for it, it goes to sleep.
    fn step(&self, index: usize) {
        let _entered = self.enter(index);
        let mut worker = lock(&self.workers[index]);
        while worker.step() == Step::Ran {
            if self.handle.core.scheduler().load(index) > 0 {
                return;
            }
        }
    }

    /// Goes on where nothing is runnable, and nothing inside a turn: ends waits that never would, or moves the clock to the
    /// next timer. False if nothing will ever be runnable.
    pub(crate) fn move_time(&self) -> bool {
        let _entered = self.enter(FIRST);
        let mut time = lock(&self.time);
        let Time { wakers, search, .. } = &mut *time;
        let services = Arc::clone(&self.handle.services);
        let scheduler = self.handle.core.scheduler();
        let delay = u64::try_from(services.deadlock_after.as_nanos()).unwrap_or(u64::MAX);
        let next_search = look_for_deadlocks(scheduler, delay);
        if !scheduler.all_parked() {
            return true;
        }
        // It is polled here only, so nothing needs its waker: time moves to it as to every timer.
        *search = next_search.map(|nanos| Box::pin(sleep(Duration::from_nanos(nanos))));
        if let Some(search) = search {
            let _is_over = search.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        let has_moved = services.move_paused(scheduler, FIRST, wakers);
        wake_all(&mut lock(&self.workers[FIRST]), wakers);
        services.driver.finish_events(FIRST);
        if self.handle.core.scheduler().load(FIRST) == 0 {
            self.step(FIRST);
        }
        has_moved
    }

    /// Cancels all tasks, on the threads that must: `drain` is called with each worker, until it says that the worker has
    /// nothing left, by [`drain`](Self::drain).
    pub(crate) fn end(&self, mut drain: impl FnMut(&Self, usize) -> bool) {
        {
            let mut time = lock(&self.time);
            (time.search, time.is_over) = (None, true);
        }
        self.handle.core.scheduler().shut_down();
        let mut left: Vec<usize> = (0..self.workers.len()).collect();
        while !left.is_empty() {
            left.retain(|worker| !drain(self, *worker));
        }
    }

    /// Runs the worker until it is out of work. True if it has nothing left.
    pub(crate) fn drain(&self, worker: usize) -> bool {
        let _entered = self.enter(worker);
        loop {
            match lock(&self.workers[worker]).step() {
                Step::Ran => {}
                Step::Park(_) => return false,
                Step::Stopped => return true,
            }
        }
    }

    fn driver(&self) -> &Arc<Driver> {
        &self.handle.services.driver
    }

    /// Makes this thread the worker, as far as timers are concerned.
    fn enter(&self, worker: usize) -> entered::Entered {
        entered::enter(current::Context::new(Arc::clone(&self.handle.services), Some(worker)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for SimulatedRuntime {
    fn drop(&mut self) {
        if !lock(&self.time).is_over {
            self.end(Self::drain);
        }
        let services = &self.handle.services;
        services.driver.shut_down();
        services.pool.shutdown(None);
        services.observer.on_shutdown(self.handle.core.scheduler(), true);
    }
}
