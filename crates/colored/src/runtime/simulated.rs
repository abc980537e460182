//! [`SimulatedRuntime`]: the runtime of a simulated host, whose workers the caller steps.

use super::handle::Handle;
use super::unstarted::Unstarted;
use crate::services::current::Context as Place;
use crate::services::entered;
use crate::task::JoinHandle;
use crate::time::{Duration, Sleep, sleep};
use colored_core::{Color, Step, Worker, contain, look_for_deadlocks};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

/// A runtime whose caller chooses which of its *actors* takes the next turn. An actor is a worker; the last one, behind
/// the workers, runs blocking calls.
///
/// A turn is one poll or closure. While a thread is inside the turn of one actor, other threads may take turns of others:
/// these are threads of a real runtime then.
pub(crate) struct SimulatedRuntime {
    handle: Handle,
    workers: Vec<Mutex<Placed>>,
    /// By worker, its place in the services.
    places: Vec<Arc<Place>>,
    /// Something may be pinned to a worker.
    has_pins: AtomicBool,
    /// By worker, the thread of its first turn behind which something was pinned to it, as the caller counts threads.
    pinned_to: Vec<AtomicUsize>,
    /// Moves the clock to the next search for deadlocks.
    search: Mutex<Option<Pin<Box<Sleep>>>>,
    has_ended: AtomicBool,
}

/// A worker, and its place for the thread that steps it.
struct Placed {
    worker: Worker,
    place: Option<Arc<Place>>,
}

/// The worker that fires timers.
const FIRST: usize = 0;

/// No thread.
const NOWHERE: usize = usize::MAX;

impl SimulatedRuntime {
    pub(super) fn new(unstarted: Unstarted) -> Self {
        let Unstarted { handle, workers, .. } = unstarted;
        let place = |worker| Arc::new(Place::new(Arc::clone(&handle.services), Some(worker)));
        let places: Vec<_> = (0..workers.len()).map(place).collect();
        let placed = workers.into_iter().zip(&places);
        let placed =
            placed.map(|(worker, place)| Placed { worker, place: Some(Arc::clone(place)) });
        let workers: Vec<_> = placed.map(Mutex::new).collect();
        let (has_pins, has_ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let pinned_to = workers.iter().map(|_| AtomicUsize::new(NOWHERE)).collect();
        let search = Mutex::new(None);
        let this = Self { handle, workers, places, has_pins, pinned_to, search, has_ended };
        // They announce their first sleep.
        (0..this.workers.len()).for_each(|worker| this.step(worker, NOWHERE));
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

    /// Calls `f` as code of this host: clocks are the run's.
    pub(crate) fn call<R>(&self, f: impl FnOnce() -> R) -> R {
        let _entered = self.enter(FIRST);
        f()
    }

    /// Appends the actors that have something to run, in their order. Those that are inside a turn may be among them. `first` is the number of the first one.
    pub(crate) fn list_runnable(&self, first: usize, actors: &mut Vec<usize>) {
        self.handle.core.scheduler().append_unparked(first, actors);
        if self.handle.services.pool.has_work() {
            actors.push(first + self.workers.len());
        }
    }

    /// A number that is another one if [`list_runnable`](Self::list_runnable) would append others. None while blocking calls wait.
    pub(crate) fn changes(&self) -> Option<usize> {
        let has_calls = self.handle.services.pool.has_work();
        (!has_calls).then(|| self.handle.core.scheduler().unparked_changes())
    }

    /// The thread that must take the turns of an actor that is inside none, if something is pinned to it.
    pub(crate) fn thread_of(&self, actor: usize) -> Option<usize> {
        if !self.has_pins() {
            return None;
        }
        // Ordering: see `has_pins`.
        let thread = self.pinned_to.get(actor)?.load(Ordering::Relaxed);
        (thread != NOWHERE).then_some(thread)
    }

    /// Whether something may be pinned to some worker that is inside no turn.
    pub(crate) fn has_pins(&self) -> bool {
        // Ordering: one thread goes on at a time, and the hand-over to the next one synchronizes.
        self.has_pins.load(Ordering::Relaxed)
    }

    /// Takes a turn of an actor that is runnable, and inside no turn, on the thread that the caller counts so.
    pub(crate) fn take_turn(&self, actor: usize, thread: usize) {
        if actor == self.workers.len() {
            self.handle.services.pool.run_next();
        } else {
            self.step(actor, thread);
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
            (color, Some((task, site))) => format!("{color}, task {task}, spawned at {site}"),
            (color, None) => format!("{color}, a call or a closure"),
        }
    }

    /// Runs one turn of the worker; if nothing else waits for it, it goes to sleep.
    fn step(&self, index: usize, thread: usize) {
        let mut placed = lock(&self.workers[index]);
        let Placed { worker, place } = &mut *placed;
        let _entered = entered::enter_lent(place);
        while worker.step() == Step::Ran {
            if worker.thread().is_some() {
                // Ordering: see `has_pins`.
                self.has_pins.store(true, Ordering::Relaxed);
                self.pinned_to[index].store(thread, Ordering::Relaxed);
            }
            if self.handle.core.scheduler().has_load(index) {
                return;
            }
        }
    }

    /// Ends waits that never would, where nothing is runnable. True if something is runnable now.
    pub(crate) fn end_deadlocks(&self) -> bool {
        let _entered = self.enter(FIRST);
        let scheduler = self.handle.core.scheduler();
        let delay = self.handle.services.deadlock_after.as_nanos();
        let next_search = look_for_deadlocks(scheduler, u64::try_from(delay).unwrap_or(u64::MAX));
        // It is polled here only, so nothing needs its waker: time moves to it as to every timer.
        let mut search = lock(&self.search);
        *search = next_search.map(|nanos| Box::pin(sleep(Duration::from_nanos(nanos))));
        if let Some(search) = &mut *search {
            let _is_over = search.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        !scheduler.all_parked()
    }

    /// The next time at which something is due, in nanoseconds.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.handle.services.driver.next_due()
    }

    /// Moves the clock, where nothing is runnable, and takes what is due then. True if something was.
    pub(crate) fn move_clock(&self, to: u64) -> bool {
        let _entered = self.enter(FIRST);
        let mut wakers = Vec::new();
        self.handle.services.driver.move_clock(to, FIRST, &mut wakers);
        let was_due = !wakers.is_empty();
        wakers.into_iter().for_each(|waker| contain(|| waker.wake()));
        was_due
    }

    /// Cancels all tasks, once, on the threads that must: `drain` is called with each worker until it says that the worker has
    /// nothing left, which [`drain`](Self::drain) finds out on the right thread. No actor is inside a turn.
    pub(crate) fn end(&self, mut drain: impl FnMut(usize) -> bool) {
        // Ordering: one thread ends a simulation.
        if self.has_ended.swap(true, Ordering::Relaxed) {
            return;
        }
        *lock(&self.search) = None;
        self.handle.core.scheduler().shut_down();
        let mut left: Vec<usize> = (0..self.workers.len()).collect();
        while !left.is_empty() {
            left.retain(|worker| !drain(*worker));
        }
    }

    /// Runs the worker until it is out of work. True if it has nothing left.
    pub(crate) fn drain(&self, worker: usize) -> bool {
        let _entered = self.enter(worker);
        loop {
            match lock(&self.workers[worker]).worker.step() {
                Step::Ran => {}
                Step::Park(_) => return false,
                Step::Stopped => return true,
            }
        }
    }

    /// Makes this thread the worker, as far as timers are concerned.
    fn enter(&self, worker: usize) -> entered::Entered {
        entered::enter_shared(Arc::clone(&self.places[worker]))
    }
}

impl Drop for SimulatedRuntime {
    fn drop(&mut self) {
        self.end(|worker| self.drain(worker));
        let services = &self.handle.services;
        services.driver.shut_down();
        services.pool.shutdown(None);
        services.observer.on_shutdown(self.handle.core.scheduler(), true);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
