//! [`SimulatedRuntime`]: all workers of a runtime on one thread, and a clock that moves when nothing is runnable.

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
use std::sync::Arc;
use std::task::{Context, Waker};

/// A runtime whose caller chooses which of its *actors* takes the next turn. An actor is a worker; the last one, behind
/// the workers, runs blocking calls.
///
/// A turn is one poll or closure. It is a whole turn of the color: what it pushes is seen by the others at once, and they
/// go on after the turn. So each run is one that the threads of a real runtime may make.
pub(crate) struct SimulatedRuntime {
    handle: Handle,
    workers: Vec<Worker>,
    wakers: Vec<Waker>,
    /// Moves the clock to the next search for deadlocks.
    search: Option<Pin<Box<Sleep>>>,
}

/// The worker that fires timers.
const FIRST: usize = 0;

impl SimulatedRuntime {
    pub(super) fn new(unstarted: Unstarted) -> Self {
        let Unstarted { handle, workers, .. } = unstarted;
        let mut this = Self { handle, workers, wakers: Vec::new(), search: None };
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

    /// Puts the actors that have something to run into `actors`, in their order.
    pub(crate) fn list_runnable(&self, actors: &mut Vec<usize>) {
        let scheduler = self.handle.core.scheduler();
        actors.clear();
        actors.extend((0..self.workers.len()).filter(|worker| !scheduler.is_parked(*worker)));
        if self.handle.services.pool.has_work() {
            actors.push(self.workers.len());
        }
    }

    /// Takes a turn of one of the actors that are runnable.
    pub(crate) fn take_turn(&mut self, actor: usize) {
        if actor == self.workers.len() {
            self.handle.services.pool.run_next();
        } else {
            self.step(actor);
        }
    }

    /// The time, in nanoseconds since the runtime was made.
    pub(crate) fn nanos(&self) -> u64 {
        self.driver().clock.shown()
    }

    /// Tells what the actor has run in its last turn, as numbers.
    pub(crate) fn note_turn(&self, actor: usize, mut note: impl FnMut(u64)) {
        if actor < self.workers.len() {
            let (color, task) = self.handle.core.scheduler().last_slice(actor);
            note(color.number());
            note(task.map_or(0, |(task, _)| task.get()));
        }
    }

    /// What the actor has run in its last turn.
    pub(crate) fn describe_turn(&self, actor: usize) -> String {
        if actor == self.workers.len() {
            return "a blocking call".to_owned();
        }
        match self.handle.core.scheduler().last_slice(actor) {
            (color, Some((_, site))) if site.file() == file!() => {
                format!("{color}, the main future")
            }
            (color, Some((task, site))) => {
                // The ids of a simulation begin at a number that is no other task's.
                let number = task.get() % (1 << 62);
                format!("{color}, task {number}, spawned at {site}")
            }
            (color, None) => format!("{color}, a call or a closure"),
        }
    }

    /// Runs one turn of the worker; if nothing else waits for it, it goes to sleep.
    fn step(&mut self, worker: usize) {
        let _entered = self.enter(worker);
        while self.workers[worker].step() == Step::Ran {
            if self.handle.core.scheduler().load(worker) > 0 {
                return;
            }
        }
    }

    /// Goes on where nothing is runnable: ends waits that never would, or moves the clock to the next timer. False if
    /// nothing will ever be runnable.
    pub(crate) fn move_time(&mut self) -> bool {
        let _entered = self.enter(FIRST);
        let services = Arc::clone(&self.handle.services);
        let scheduler = self.handle.core.scheduler();
        let delay = u64::try_from(services.deadlock_after.as_nanos()).unwrap_or(u64::MAX);
        let next_search = look_for_deadlocks(scheduler, delay);
        if !scheduler.all_parked() {
            return true;
        }
        // It is polled here only, so nothing needs its waker: time moves to it as to every timer.
        self.search = next_search.map(|nanos| Box::pin(sleep(Duration::from_nanos(nanos))));
        if let Some(search) = &mut self.search {
            let _is_over = search.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        let has_moved = services.move_paused(scheduler, FIRST, &mut self.wakers);
        wake_all(&mut self.workers[FIRST], &mut self.wakers);
        services.driver.finish_events(FIRST);
        if self.handle.core.scheduler().load(FIRST) == 0 {
            self.step(FIRST);
        }
        has_moved
    }

    fn driver(&self) -> &Arc<Driver> {
        &self.handle.services.driver
    }

    /// Makes this thread the worker, as far as timers are concerned.
    fn enter(&self, worker: usize) -> entered::Entered {
        entered::enter(current::Context::new(Arc::clone(&self.handle.services), Some(worker)))
    }
}

impl Drop for SimulatedRuntime {
    fn drop(&mut self) {
        self.search = None;
        self.handle.core.scheduler().shut_down();
        let mut left: Vec<usize> = (0..self.workers.len()).collect();
        while !left.is_empty() {
            left.retain(|worker| {
                let _entered = self.enter(*worker);
                loop {
                    match self.workers[*worker].step() {
                        Step::Ran => {}
                        Step::Park(_) => return true,
                        Step::Stopped => return false,
                    }
                }
            });
        }
        let services = &self.handle.services;
        services.driver.shut_down();
        services.pool.shutdown(None);
        services.observer.on_shutdown(self.handle.core.scheduler(), true);
    }
}
