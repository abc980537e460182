//! The end of a run and of its hosts, and of a run in which a thread is stuck.

use super::busy;
use super::state::{Order, Paused, State};
use super::{FIRST, HERE, Here, Next, Turns};
use crate::runtime::simulated::SimulatedRuntime;
use crate::sim::control::Control;
use colored_core::port::on_points;
use std::mem;
use std::panic::resume_unwind;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;

/// Drains a worker on the thread that must: see [`SimulatedRuntime::end`].
pub(in crate::sim) fn drain(runtime: &Arc<SimulatedRuntime>, worker: usize) -> bool {
    let here = HERE.try_with(|here| here.borrow().clone()).ok().flatten();
    let other = runtime.thread_of(worker).filter(|id| *id != thread::current().id());
    if let (Some(Here { turns, thread }), Some(id)) = (here, other) {
        let to = turns.lock().thread(id);
        if let Some(to) = to {
            return turns.drain_on(to, runtime, worker, thread);
        }
    }
    runtime.drain(worker)
}

impl Turns {
    /// Drops all tasks, and ends the threads. To be called by the thread that has [`run`](Self::run).
    pub(in crate::sim) fn end(self: Arc<Self>) {
        on_points(None);
        self.hosts().end();
        let helpers = {
            let mut state = self.lock();
            (1..state.ids.len()).for_each(|thread| self.slots[thread].put(Order::End(None)));
            mem::take(&mut state.helpers)
        };
        for helper in helpers {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        HERE.take();
    }

    /// Lets all threads go on at once if no choice was made since the last call, some thread waits inside a turn, and no
    /// thread has something to do, as far as the system tells: perhaps one waits for a lock that another one holds.
    pub(in crate::sim) fn release_if_stuck(&self) {
        let threads = {
            let mut state = self.lock();
            let is_same = state.choices == state.seen;
            state.same_looks = if is_same { state.same_looks.saturating_add(1) } else { 0 };
            state.seen = state.choices;
            if !is_same || state.paused.is_empty() {
                return;
            }
            busy::stats_of_all(&state.stats, state.ids.len())
        };
        // Without the lock: a thread that waited for it would not look busy.
        if threads.is_none_or(|threads| busy::is_some_busy(&threads)) {
            return;
        }
        let mut state = self.lock();
        if state.choices != state.seen || state.paused.is_empty() {
            return;
        }
        state.is_released = true;
        state.ended.get_or_insert(Ok(()));
        for Paused { thread, .. } in mem::take(&mut state.paused) {
            self.slots[thread].put(Order::Resume(None));
        }
        if state.idle.contains(&FIRST) {
            state.idle.retain(|idle| *idle != FIRST);
            self.slots[FIRST].put(Order::Resume(None));
        }
    }

    /// What goes on, if this is the look by which no choice was made for so many looks.
    pub(in crate::sim) fn describe_after(&self, same_looks: u32) -> Option<String> {
        let state = self.lock();
        let (is_now, running) = (state.same_looks == same_looks, state.running);
        drop(state);
        is_now.then(|| match self.hosts.try_lock() {
            Ok(hosts) => hosts.describe_turn(running),
            Err(_) => "the start or the end of a host".to_owned(),
        })
    }

    /// The run has ended: lets the turns in progress end, and then the first thread.
    pub(super) fn end_turns(&self, mut state: MutexGuard<'_, State>, thread: usize) -> Next {
        let (to, order): (_, fn(Option<Control>) -> Order) = match state.paused.pop() {
            Some(paused) => (paused.thread, Order::Resume),
            None if thread == FIRST => return Next::End,
            None => (FIRST, Order::End),
        };
        state.idle.push(thread);
        state.idle.retain(|idle| *idle != to);
        drop(state);
        self.slots[to].put(order(Control::take_from_thread()));
        Next::Wait
    }

    /// All threads go on at once: the first one waits for the others.
    pub(super) fn leave_released(&self, mut state: MutexGuard<'_, State>, thread: usize) -> Next {
        if let Some(control) = Control::take_from_thread() {
            state.left = Some(control);
        }
        if thread != FIRST {
            state.idle.push(thread);
            self.left.notify_one();
            return Next::Wait;
        }
        while state.idle.len() + 1 < state.ids.len() {
            state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Next::End
    }

    /// Drains a worker on the thread to which something of it is pinned. True if nothing is left.
    fn drain_on(
        &self,
        thread: usize,
        runtime: &Arc<SimulatedRuntime>,
        worker: usize,
        asker: usize,
    ) -> bool {
        let mut state = self.lock();
        state.idle.retain(|idle| *idle != thread);
        drop(state);
        let control = Control::take_from_thread().expect("this thread has the run");
        self.slots[thread].put(Order::Drain(Arc::clone(runtime), worker, asker, control));
        let Order::Drained(is_drained, control) = self.slots[asker].wait() else {
            unreachable!("the other thread drains a worker")
        };
        if let Some(control) = control {
            control.give_to_thread();
        }
        is_drained
    }
}
