//! A machine of many virtual cores.
//!
//! Each core is a thread of the system, and one of them runs at a time. A core has a clock, which each access to shared
//! memory advances. Before a core accesses a line that several cores use, it waits until no other core is behind it: so
//! such accesses take place in the order of virtual time, one by one, and the code of the scheduler interleaves as on
//! as many real cores.

mod cache;
mod state;

use self::state::{Core, State, Waits};
use super::Port;
use super::{Load, Outcome, Size, live, window};
use crate::costs::Costs;
use colored_core::Scheduler;
use colored_core::watch::{Access, Watcher, set_watcher};
use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

const PICOS: u64 = 1_000;

/// One machine, and what its load has done so far.
struct Machine {
    state: Mutex<State>,
    /// For each core, the signal that it may go on.
    turns: Vec<Condvar>,
    costs: Costs,
    ops: u64,
}

std::thread_local! {
    static HERE: Cell<Option<(&'static Machine, usize)>> = const { Cell::new(None) };
}

fn here<R>(f: impl FnOnce(&'static Machine, usize) -> R) -> Option<R> {
    HERE.get().map(|(machine, core)| f(machine, core))
}

impl Machine {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no core panics")
    }

    /// Lets the core that is furthest behind run, and returns when it is this core's turn.
    fn next<'a>(&'a self, core: usize, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let next = state.take_next();
        if next == Some(core) {
            return state;
        }
        if let Some(next) = next {
            self.turns[next].notify_one();
        }
        while state.running != Some(core) {
            assert!(state.running.is_some(), "all cores sleep for ever");
            state = self.turns[core].wait(state).expect("no core panics");
        }
        state
    }

    /// Waits until no other core is behind this one.
    fn catch_up<'a>(
        &'a self,
        core: usize,
        mut state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        if state.is_ahead(core) {
            state.make_ready(core);
            return self.next(core, state);
        }
        state
    }

    /// The thread becomes the core, when it is its turn.
    fn enter(&'static self, core: usize) {
        HERE.set(Some((self, core)));
        let mut state = self.lock();
        while state.running != Some(core) {
            state = self.turns[core].wait(state).expect("no core panics");
        }
    }

    /// The core has ended.
    fn leave(&self) {
        HERE.set(None);
        if let Some(next) = self.lock().take_next() {
            self.turns[next].notify_one();
        }
    }
}

/// Tells the machine of this thread.
struct Reporter;

impl Watcher for Reporter {
    fn access(&self, address: usize, access: Access, place: &'static str) {
        here(|machine, core| {
            let mut state = machine.lock();
            if state.lines.is_shared(address, core) {
                state = machine.catch_up(core, state);
            }
            state.access(core, &machine.costs, address, access, place);
        });
    }

    fn fence(&self, place: &'static str) {
        here(|machine, core| machine.lock().fence(core, &machine.costs, place));
    }

    fn spin(&self, _: &'static str) {
        here(|machine, core| {
            let mut state = machine.lock();
            state.cores[core].clock += machine.costs.pause;
            drop(machine.catch_up(core, state));
        });
    }

    fn wait_for_lock(&self, address: usize, place: &'static str) {
        here(|machine, core| {
            let mut state = machine.lock();
            let since = state.cores[core].clock;
            state.cores[core].waits = Waits::Lock { address, since };
            state = machine.next(core, state);
            state.count_wait(core, since, place);
        });
    }

    fn has_unlocked(&self, address: usize, _: &'static str) {
        here(|machine, core| machine.lock().unlock(core, &machine.costs, address));
    }
}

/// The time of this core.
pub(crate) fn now() -> u64 {
    let now = here(|machine, core| {
        let mut state = machine.lock();
        state.cores[core].clock += machine.costs.clock;
        state.cores[core].clock / PICOS
    });
    now.unwrap_or(0)
}

/// Works for so long.
pub(crate) fn work(nanos: u64) {
    here(|machine, core| machine.lock().cores[core].clock += nanos * PICOS);
}

/// An operation is done. It costs nothing.
pub(crate) fn done() {
    let is_over = here(|machine, core| {
        let mut state = machine.lock();
        state.done += 1;
        let (first, last) = window(machine.ops);
        match state.done {
            n if n == first => state.begin_window(core),
            n if n == last => state.end_window(core),
            _ => {}
        }
        state.done == machine.ops
    });
    if is_over == Some(true) {
        here(|machine, _| unpark(machine.turns.len() - 1));
    }
}

/// This core sleeps until it is unparked.
pub(crate) fn sleep(_thread: usize, limit: Option<u64>) {
    here(|machine, core| {
        let mut state = machine.lock();
        state = machine.catch_up(core, state);
        if std::mem::take(&mut state.cores[core].token) {
            return;
        }
        state.cores[core].clock += machine.costs.sleep;
        let since = state.cores[core].clock;
        state.cores[core].waits = Waits::Parked;
        if let Some(limit) = limit {
            state.wake_at(core, since + limit * PICOS);
        }
        state = machine.next(core, state);
        state.count_sleep(core, since);
        state.cores[core].token = false;
    });
}

pub(crate) fn unpark(thread: usize) {
    here(|machine, core| {
        let state = machine.lock();
        machine.catch_up(core, state).unpark(core, thread, &machine.costs);
    });
}

/// The system wakes the core at that time, if it sleeps.
pub(crate) fn wake_at(thread: usize, nanos: u64) {
    here(|machine, _| {
        let mut state = machine.lock();
        if matches!(state.cores[thread].waits, Waits::Parked) {
            let latency = machine.costs.latency;
            state.wake_at(thread, nanos * PICOS + latency);
        }
    });
}

/// Runs the load. The last core is no worker: it begins the load, and ends the scheduler.
pub(crate) fn run(size: Size, load: &dyn Load) -> Outcome {
    set_watcher(&Reporter);
    let Size { workers, ops, costs } = size;
    let cores: Vec<_> = (0..=workers).map(|_| Core::default()).collect();
    let machine: &'static Machine = Box::leak(Box::new(Machine {
        turns: cores.iter().map(|_| Condvar::new()).collect(),
        state: Mutex::new(State::new(cores)),
        costs,
        ops,
    }));
    let (handle, all) = Scheduler::with_workers(workers, 1, Box::new(Port));
    let ended = Arc::new(Mutex::new(all.len()));
    thread::scope(|scope| {
        for worker in all {
            let ended = Arc::clone(&ended);
            scope.spawn(move || {
                machine.enter(worker.index());
                live(worker, load);
                *ended.lock().expect("no panic") -= 1;
                machine.leave();
            });
        }
        scope.spawn(move || {
            machine.enter(workers);
            load.begin(&handle);
            while machine.lock().done < ops {
                sleep(workers, None);
            }
            handle.scheduler().shut_down();
            machine.leave();
        });
        machine.lock().take_next();
        machine.turns.iter().for_each(Condvar::notify_one);
    });
    let (first, last) = window(ops);
    let mut state = machine.lock();
    let nanos = (state.window.1 - state.window.0) as f64 / (PICOS * (last - first)) as f64;
    let total = (state.window.1 - state.window.0) * workers as u64;
    Outcome { nanos, places: std::mem::take(&mut state.places), total, asleep: state.asleep }
}
