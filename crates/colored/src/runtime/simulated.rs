//! [`SimulatedRuntime`]: the runtime of a simulated host, whose workers the caller steps.

use super::Builder;
use super::handle::Handle;
use super::unstarted::Unstarted;
use crate::blocking::running;
#[cfg(feature = "stage")]
use crate::driver::clock::Clock;
#[cfg(feature = "stage")]
use crate::driver::simulated::Machine;
use crate::error_context;
use crate::services::current::Context as Place;
use crate::services::{current, entered, wheel_timer};
use crate::sync::mpsc;
use crate::task::{JoinHandle, local_set, spawn_unique, yield_now};
use crate::time::{Duration, Sleep, sleep, timeout};
use crate::wall;
use colored_core::port::exchange_with_stacks;
use colored_core::{Color, ColorCell, Step, Worker, WorkerMemory, look_for_deadlocks};
use colored_sim::sim::{Main, Runtime, Runtimes, Settings, fail_at_panics};
use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

/// Makes runtimes of this crate for the hosts of a simulation.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct OfThisCrate;

impl Runtimes for OfThisCrate {
    fn make(settings: Settings, memory: &mut WorkerMemory) -> io::Result<Arc<dyn Runtime>> {
        #[cfg(feature = "stage")]
        colored_stage::follow_simulations(|| {
            let clock = |of: &Machine| Clock::standing(of.origin(), of.now());
            current::machine().map(|machine| clock(&machine).now())
        });
        // A panic without a handle fails the run.
        let builder = Builder::new().on_task_panic(|_| ());
        Ok(Arc::new(builder.build_simulated(settings, memory)?))
    }

    fn warm_up(seed: u64) -> Main {
        Box::pin(warm_up(seed))
    }
}

async fn warm_up(seed: u64) {
    let log = ColorCell::new(seed, 0);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let tasks: Vec<_> = (0..1 + seed % 5)
        .map(|number| {
            let (log, sender) = (log.clone(), sender.clone());
            spawn_unique(async move {
                for turn in 0..seed % 4 {
                    log.post(|log| *log += 1);
                    yield_now().await;
                    log.call(move |log| *log += turn).await;
                    let _ = timeout(Duration::from_millis(number), sleep(Duration::MAX)).await;
                }
                let _ = sender.send(number);
            })
        })
        .collect();
    drop(sender);
    while receiver.recv().await.is_some() {}
    for task in tasks {
        let _ = task.await;
    }
    let _ = crate::spawn_blocking(|| ()).await;
    // A thread counts its attempts to read and write.
    let _ = crate::fs::write("/file", []).await;
    for _ in 0..seed % 8 {
        let _ = crate::fs::read("/file").await;
    }
}

/// The runtime of a host, whose workers the caller steps.
pub(crate) struct SimulatedRuntime {
    handle: Handle,
    workers: Vec<Mutex<Placed>>,
    /// By worker, its place in the services.
    places: Vec<Arc<Place>>,
    /// Something may be pinned to a worker.
    has_pins: AtomicBool,
    /// By worker, the thread of its first turn behind which something was pinned to it, as the caller counts threads.
    pinned_to: Vec<AtomicUsize>,
    /// The last turn behind the workers is one of tokio's tasks, not a blocking call.
    // Ordering: see `has_pins`.
    is_tokios: AtomicBool,
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
        let pinned_to = workers.iter().map(|_| AtomicUsize::new(NOWHERE)).collect();
        let placed = workers.into_iter().enumerate().map(|(index, mut worker)| {
            worker.sleep_unless_busy();
            let place = Arc::new(Place::new(Arc::clone(&handle.services), Some(index)));
            (Arc::clone(&place), Mutex::new(Placed { worker, place: Some(place) }))
        });
        let (places, workers) = placed.unzip();
        let [has_pins, is_tokios, has_ended] = [(); 3].map(|()| AtomicBool::new(false));
        let search = Mutex::new(None);
        Self { handle, workers, places, has_pins, pinned_to, is_tokios, search, has_ended }
    }

    /// Runs one turn of the worker; if nothing else waits for it, it goes to sleep.
    fn step(&self, index: usize, thread: usize) {
        let mut placed = lock(&self.workers[index]);
        let Placed { worker, place } = &mut *placed;
        let _entered = entered::enter_lent(place);
        let _tokio = self.handle.services.tokio.enter();
        if worker.step() == Step::Ran {
            if worker.thread().is_some() {
                // Ordering: see `has_pins`.
                self.has_pins.store(true, Ordering::Relaxed);
                self.pinned_to[index].store(thread, Ordering::Relaxed);
            }
            worker.sleep_unless_busy();
        }
    }

    /// Whether there is something to run behind the workers: a blocking call, or a task of tokio.
    fn has_calls(&self) -> bool {
        let services = &self.handle.services;
        services.pool.has_work() || services.tokio.has_tasks()
    }

    /// Makes this thread the worker, as far as timers are concerned.
    fn enter_as(&self, worker: usize) -> entered::Entered {
        entered::enter_shared(Arc::clone(&self.places[worker]))
    }
}

impl Runtime for SimulatedRuntime {
    fn spawn_main(&self, main: Main) -> JoinHandle<()> {
        self.handle.spawn_colored(Color::DEFAULT, main)
    }

    fn enter(&self, f: &mut dyn FnMut()) {
        let _entered = self.enter_as(FIRST);
        let _tokio = self.handle.services.tokio.enter();
        f();
    }

    fn begin_stacks(&self) {
        exchange_with_stacks(&running::RUNNING_OF_STACK);
        exchange_with_stacks(&current::CURRENT_OF_STACK);
        exchange_with_stacks(&error_context::EAR_OF_STACK);
        exchange_with_stacks(&local_set::CURRENT_OF_STACK);
        exchange_with_stacks(&wheel_timer::LAST_OF_STACK);
    }

    fn list_runnable(&self, first: usize, actors: &mut Vec<usize>) {
        self.handle.core.scheduler().append_unparked(first, actors);
        if self.has_calls() {
            actors.push(first + self.workers.len());
        }
    }

    fn changes(&self) -> Option<usize> {
        let is_told = !self.has_pins() && !self.has_calls();
        is_told.then(|| self.handle.core.scheduler().unparked_changes())
    }

    fn thread_of(&self, actor: usize) -> Option<usize> {
        if !self.has_pins() {
            return None;
        }
        // Ordering: see `has_pins`.
        let thread = self.pinned_to.get(actor)?.load(Ordering::Relaxed);
        (thread != NOWHERE).then_some(thread)
    }

    fn has_pins(&self) -> bool {
        // Ordering: one thread goes on at a time, and the hand-over to the next one synchronizes.
        self.has_pins.load(Ordering::Relaxed)
    }

    fn take_turn(&self, actor: usize, thread: usize) -> [u64; 2] {
        if actor == self.workers.len() {
            let services = &self.handle.services;
            self.is_tokios.store(false, Ordering::Relaxed);
            if !services.pool.run_next() {
                self.is_tokios.store(true, Ordering::Relaxed);
                let _entered = self.handle.enter();
                // tokio catches the panics of its tasks, and libraries drop their handles.
                fail_at_panics(|| services.tokio.run_tasks());
            }
            return [0; 2];
        }
        self.step(actor, thread);
        let (color, task) = self.handle.core.scheduler().last_slice(actor);
        [color.number(), task.map_or(0, |(task, _)| task.get())]
    }

    fn describe_turn(&self, actor: usize) -> String {
        if actor == self.workers.len() {
            let is_tokios = self.is_tokios.load(Ordering::Relaxed);
            return if is_tokios { "tasks of tokio" } else { "a blocking call" }.to_owned();
        }
        match self.handle.core.scheduler().last_slice(actor) {
            (color, Some((_, site))) if site.file() == file!() => {
                format!("{color}, the main future")
            }
            (color, Some((task, site))) => format!("{color}, task {task}, spawned at {site}"),
            (color, None) => format!("{color}, a call or a closure"),
        }
    }

    fn end_deadlocks(&self) -> bool {
        let _entered = self.enter_as(FIRST);
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

    fn next_due(&self) -> Option<u64> {
        self.handle.services.driver.next_due()
    }

    fn set_clock(&self, to: u64) {
        self.handle.services.driver.clock.set(to);
    }

    fn move_clock(&self, to: u64, fire: &mut dyn FnMut(usize, Waker)) -> bool {
        let _entered = self.enter_as(FIRST);
        let due = self.handle.services.driver.move_clock(to, FIRST);
        let was_due = !due.is_empty();
        due.into_iter().for_each(|(worker, waker)| fire(worker, waker));
        was_due
    }

    fn end(&self, drain: &mut dyn FnMut(usize) -> bool) {
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
        // As in a shutdown, behind our tasks, whose destructors may use it.
        let _entered = self.handle.enter();
        self.handle.services.tokio.shut_down(Some(wall::now()));
    }

    fn drain(&self, worker: usize) -> bool {
        let _entered = self.enter_as(worker);
        let _tokio = self.handle.services.tokio.enter();
        loop {
            match lock(&self.workers[worker]).worker.step() {
                Step::Ran => {}
                Step::Park(_) => return false,
                Step::Stopped => return true,
            }
        }
    }

    fn leave_memory(&mut self, memory: &mut WorkerMemory) {
        assert!(*self.has_ended.get_mut(), "its workers may be used");
        for placed in mem::take(&mut self.workers) {
            memory.add(placed.into_inner().unwrap_or_else(PoisonError::into_inner).worker);
        }
    }
}

impl Drop for SimulatedRuntime {
    fn drop(&mut self) {
        self.end(&mut |worker| self.drain(worker));
        let services = &self.handle.services;
        services.driver.shut_down();
        services.pool.shutdown(None);
        services.observer.on_shutdown(self.handle.core.scheduler(), true);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
