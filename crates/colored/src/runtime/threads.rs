//! The threads of a runtime: one per worker, and the reactor thread.

use super::event_poll::{POLL_INTERVAL_NANOS, wake_all};
use super::reactor_thread::{self, SpareThreads};
use super::unstarted::Unstarted;
use crate::driver::Driver;
use crate::error_context::with_source;
use crate::services::{Services, current, entered};
use crate::thread_settings::ThreadSettings;
use crate::wall;
use colored_core::{Step, Worker};
use core_affinity::CoreId;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The threads, while they live.
pub(super) struct Threads {
    pub(super) workers: Vec<JoinHandle<()>>,
    pub(super) reactor: Option<JoinHandle<()>>,
    pub(super) gate: Arc<Gate>,
    thread_settings: ThreadSettings,
}

/// Lets the threads start together or not at all, and counts the threads that live.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    open: Option<bool>,
    alive: usize,
}

impl Gate {
    fn lock(&self) -> std::sync::MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, open: bool) {
        self.lock().open = Some(open);
        self.changed.notify_all();
    }

    /// Waits until the threads may start. False if they must not.
    fn pass(&self) -> bool {
        let waiting = self.changed.wait_while(self.lock(), |state| state.open.is_none());
        waiting.unwrap_or_else(PoisonError::into_inner).open == Some(true)
    }

    /// Waits until all workers have ended, or `deadline`; whether they have. The reactor thread
    /// stays.
    pub(super) fn wait_for_workers(&self, deadline: Option<Instant>) -> bool {
        let mut state = self.lock();
        while state.alive > 1 {
            state = match deadline {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(wall::now());
                    if left.is_zero() {
                        return false;
                    }
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        true
    }
}

/// One thread's place in the gate's count.
struct Alive(Arc<Gate>);

impl Alive {
    fn new(gate: &Arc<Gate>) -> Self {
        gate.lock().alive += 1;
        Self(Arc::clone(gate))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.lock().alive -= 1;
        self.0.changed.notify_all();
    }
}

/// The CPUs to pin workers to, in turn; none if they are not pinned, or the system does not say.
pub(super) fn cpus_to_pin(pin: bool) -> Vec<CoreId> {
    if pin { core_affinity::get_core_ids().unwrap_or_default() } else { Vec::new() }
}

impl Threads {
    /// Starts one thread for each worker, pinned to these CPUs in turn if there are any, and the reactor thread.
    pub(super) fn start(unstarted: Unstarted, pins: Vec<CoreId>) -> io::Result<Self> {
        let gate = Arc::new(Gate::default());
        let thread_settings = unstarted.thread_settings.clone();
        let mut threads = Self { workers: Vec::new(), reactor: None, gate, thread_settings };
        let started = threads.spawn_all(unstarted, &pins);
        threads.gate.open(started.is_ok());
        started.map(|()| threads)
    }

    fn spawn_all(&mut self, unstarted: Unstarted, pins: &[CoreId]) -> io::Result<()> {
        let Unstarted { handle, mut workers, name, .. } = unstarted;
        let spares = workers.split_off(handle.core.scheduler().workers());
        for worker in workers {
            let index = worker.index();
            let pin = (!pins.is_empty()).then(|| pins[index % pins.len()]);
            let (services, settings) = (Arc::clone(&handle.services), self.thread_settings.clone());
            // Boxed, because a thread passes its body through a dozen functions, and some stacks are small.
            let worker = Box::new(worker);
            let body = move || {
                if let Some(pin) = pin {
                    // A refusal leaves the worker where the system puts it.
                    core_affinity::set_for_current(pin);
                }
                live(worker, services, &settings);
            };
            self.workers.push(self.spawn(format!("{name}-w{index}"), body)?);
        }
        let (core, services) = (handle.core.clone(), Arc::clone(&handle.services));
        let spares = self.spare_threads(Arc::clone(&services), spares, &name);
        let body = move || reactor_thread::run(core, services, spares);
        self.reactor = Some(self.spawn(format!("{name}-reactor"), body)?);
        Ok(())
    }

    fn spawn(
        &self,
        name: String,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        spawn(&self.gate, &self.thread_settings, name, body)
    }

    /// The threads of spare workers, which start when they are wanted. The reactor thread joins them at its end.
    fn spare_threads(
        &self,
        services: Arc<Services>,
        workers: Vec<Worker>,
        name: &str,
    ) -> SpareThreads {
        let (gate, thread_settings, name) =
            (Arc::clone(&self.gate), self.thread_settings.clone(), name.to_owned());
        SpareThreads::new(workers, move |worker| {
            let index = worker.index();
            // The closure of a thread that the system refuses is dropped, and the worker is to stay.
            let place = Arc::new(Mutex::new(Some(worker)));
            let (taken, services, settings) =
                (Arc::clone(&place), Arc::clone(&services), thread_settings.clone());
            let take = move |place: &Mutex<Option<Box<Worker>>>| {
                place.lock().unwrap_or_else(PoisonError::into_inner).take()
            };
            let body = move || {
                if let Some(worker) = take(&taken) {
                    live(worker, services, &settings);
                }
            };
            match spawn(&gate, &thread_settings, format!("{name}-s{index}"), body) {
                Ok(thread) => Ok(thread),
                Err(_) => Err(take(&place).expect("a thread that did not start took no worker")),
            }
        })
    }
}

fn spawn(
    gate: &Arc<Gate>,
    thread_settings: &ThreadSettings,
    name: String,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let alive = Alive::new(gate);
    let text = format!("cannot start the thread `{name}`");
    let body = thread_settings.around(body);
    let thread = thread_settings.thread(name).spawn(move || {
        let alive = alive;
        if alive.0.pass() {
            body();
        }
    });
    thread.map_err(|error| with_source(format!("{text}: {error}"), error))
}

/// A worker's life.
fn live(mut worker: Box<Worker>, services: Arc<Services>, settings: &ThreadSettings) {
    let index = worker.index();
    let driver = &services.driver;
    services.observer.on_worker_start(index);
    let context = if index < driver.timers.wheels() {
        current::Context::new(Arc::clone(&services), Some(index))
    } else {
        current::Context::of_spare(Arc::clone(&services))
    };
    let _entered = entered::enter(context);
    let _tokio = services.tokio.enter();
    let mut wakers = Vec::new();
    let mut last_poll = 0;
    start_checks(&worker, driver);
    loop {
        match worker.step() {
            // It was among the parked ones for a moment, and the reactor thread may have seen that.
            Step::Ran if worker.has_turned_back() => start_checks(&worker, driver),
            Step::Ran if worker.now() - last_poll < POLL_INTERVAL_NANOS => {}
            Step::Ran => {
                last_poll = worker.now();
                services.poll_events(index, &mut wakers);
                account_for_timers(&mut worker, driver);
                wake_all(&mut worker, &mut wakers);
            }
            Step::Park(_) if worker.is_absent() => {
                settings.around_sleep(&worker, || services.sleep(index));
                // It was called because others are stuck.
                driver.check_timer.wake_or_postpone(|| false);
            }
            Step::Park(limit) => {
                let limit = limit.map(Duration::from_nanos);
                settings.around_sleep(&worker, || {
                    if driver.clock.is_paused() {
                        let scheduler = worker.handle().scheduler();
                        services.park_paused(scheduler, index, limit, &mut wakers);
                    } else {
                        services.park(index, limit, &mut wakers);
                    }
                });
                account_for_timers(&mut worker, driver);
                wake_all(&mut worker, &mut wakers);
                driver.finish_events(index);
                worker.wake_up();
                start_checks(&worker, driver);
                last_poll = worker.now();
            }
            Step::Stopped => return,
        }
    }
}

/// Makes sure that the reactor thread checks a worker that has just left the parked ones.
fn start_checks(worker: &Worker, driver: &Driver) {
    let scheduler = worker.handle().scheduler();
    driver
        .check_timer
        .wake_or_postpone(|| scheduler.others_parked() && !scheduler.has_had_sections());
}

fn account_for_timers(worker: &mut Worker, driver: &Driver) {
    if let Some((fired, nanos)) = driver.timers.take_fired(worker.index()) {
        worker.record_timers(nanos, fired);
    }
}
