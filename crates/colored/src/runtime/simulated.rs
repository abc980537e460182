//! [`SimulatedRuntime`]: the runtime of a simulated host, with all workers on one thread.

use super::handle::Handle;
use super::unstarted::Unstarted;
use crate::services::{current, entered};
use crate::task::JoinHandle;
use crate::time::{Duration, Sleep, sleep};
use colored_core::{Color, Step, Worker, contain, look_for_deadlocks};
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
    /// Moves the clock to the next search for deadlocks.
    search: Option<Pin<Box<Sleep>>>,
}

/// The worker that fires timers.
const FIRST: usize = 0;

impl SimulatedRuntime {
    pub(super) fn new(unstarted: Unstarted) -> Self {
        let Unstarted { handle, workers, .. } = unstarted;
        let mut this = Self { handle, workers, search: None };
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
        self.handle.spawn_colored(Color::DEFAULT, main)
    }

    /// Appends the actors that have something to run, in their order. `first` is the number of the first one.
    pub(crate) fn list_runnable(&self, first: usize, actors: &mut Vec<usize>) {
        let scheduler = self.handle.core.scheduler();
        let workers = (0..self.workers.len()).filter(|worker| !scheduler.is_parked(*worker));
        actors.extend(workers.map(|worker| first + worker));
        if self.handle.services.pool.has_work() {
            actors.push(first + self.workers.len());
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

    /// Ends waits that never would, where nothing is runnable. True if something is runnable now.
    pub(crate) fn end_deadlocks(&mut self) -> bool {
        let _entered = self.enter(FIRST);
        let scheduler = self.handle.core.scheduler();
        let delay = self.handle.services.deadlock_after.as_nanos();
        let next_search = look_for_deadlocks(scheduler, u64::try_from(delay).unwrap_or(u64::MAX));
        // It is polled here only, so nothing needs its waker: time moves to it as to every timer.
        self.search = next_search.map(|nanos| Box::pin(sleep(Duration::from_nanos(nanos))));
        if let Some(search) = &mut self.search {
            let _is_over = search.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        !scheduler.all_parked()
    }

    /// The next time at which something is due, in nanoseconds.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.handle.services.driver.next_due()
    }

    /// Moves the clock, where nothing is runnable, and takes what is due then. True if something was.
    pub(crate) fn move_clock(&mut self, to: u64) -> bool {
        let _entered = self.enter(FIRST);
        let mut wakers = Vec::new();
        self.handle.services.driver.move_clock(to, FIRST, &mut wakers);
        let was_due = !wakers.is_empty();
        wakers.into_iter().for_each(|waker| contain(|| waker.wake()));
        was_due
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
