//! The end of a run and of its hosts, and of a run in which a thread is stuck.

use super::busy;
use super::state::{Order, Paused, State};
use super::{FIRST, Next, TURNS, Turns, Way, here};
use crate::sim::control::Control;
use crate::sim::runtime::Runtime;
use crate::stacks;
use colored_core::port::on_points;
use std::mem;
use std::panic::resume_unwind;
use std::sync::{Arc, MutexGuard};
use std::thread;

/// Drains a worker on the thread that must: see [`Runtime::end`].
pub(in crate::sim) fn drain(runtime: &Arc<dyn Runtime>, worker: usize) -> bool {
    match (here(), runtime.thread_of(worker)) {
        (Some((turns, thread)), Some(to)) if to != thread => {
            turns.drain_on(to, runtime, worker, thread)
        }
        _ => runtime.drain(worker),
    }
}

/// What becomes of a run in which a thread was stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Stuck {
    /// It goes on.
    Not,
    /// All its threads go on at once, and end it.
    Released,
    /// Its one thread never goes on with it.
    GivenUp,
}

/// This thread was given up, and its run has been made again: what it would do now comes too late.
pub(super) fn sleep_for_ever(state: MutexGuard<'_, State>) -> ! {
    drop(state);
    loop {
        thread::park();
    }
}

impl Turns {
    /// Drops all tasks, and ends the threads. To be called by the thread that has [`run`](Self::run).
    pub(in crate::sim) fn end(self: Arc<Self>) {
        on_points(None);
        self.hosts().end();
        let helpers = {
            let mut state = self.lock();
            let (threads, helpers) = (state.threads, mem::take(&mut state.helpers));
            drop(state);
            for thread in 1..threads {
                self.hand_over.tell(thread, Order::End);
                if self.hand_over.way == Way::Stacks {
                    stacks::switch_to(thread);
                }
            }
            helpers
        };
        for helper in helpers {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        TURNS.take();
    }

    /// Ends the run if no choice was made since the last call, some thread waits inside a turn, and no thread has something to
    /// do, as far as the system tells: perhaps one waits for a lock that another one holds. Then all threads go on at once. A
    /// thread with several stacks cannot: it is given up.
    pub(in crate::sim) fn look_at_stuck(&self) -> Stuck {
        let threads = {
            let mut state = self.lock();
            let is_same = state.choices == state.seen;
            state.same_looks = if is_same { state.same_looks.saturating_add(1) } else { 0 };
            state.seen = state.choices;
            if !is_same || state.paused.is_empty() {
                return Stuck::Not;
            }
            self.threads(&state)
        };
        // Without the lock: a thread that waited for it would not look busy.
        if threads.is_none_or(|threads| busy::is_some_busy(&threads)) {
            return Stuck::Not;
        }
        let mut state = self.lock();
        if state.choices != state.seen || state.paused.is_empty() {
            return Stuck::Not;
        }
        if self.hand_over.way == Way::Stacks {
            state.is_given_up = true;
            return Stuck::GivenUp;
        }
        state.is_released = true;
        state.ended.get_or_insert(Ok(()));
        for Paused { thread, .. } in mem::take(&mut state.paused) {
            self.hand_over.tell(thread, Order::Resume);
        }
        if state.idle.contains(&FIRST) {
            state.idle.retain(|idle| *idle != FIRST);
            self.hand_over.tell(FIRST, Order::Resume);
        }
        Stuck::Released
    }

    /// The run makes no further choice: its thread sleeps instead. False if it has made one since the last look.
    pub(in crate::sim) fn give_up(&self) -> bool {
        let mut state = self.lock();
        state.is_given_up = state.choices == state.seen;
        state.is_given_up
    }

    /// The numbers by which the system tells whether the threads are busy; `None` if one has not begun.
    fn threads(&self, state: &State) -> Option<Vec<i32>> {
        let of_the_system = match self.hand_over.way {
            Way::Threads => state.threads,
            Way::Stacks => 1,
        };
        busy::numbers_of_all(&state.known, of_the_system)
    }

    /// Whether no thread has something to do, as far as the system tells.
    pub(in crate::sim) fn is_asleep(&self) -> bool {
        let threads = self.threads(&self.lock());
        threads.is_some_and(|threads| !busy::is_some_busy(&threads))
    }

    /// How many looks have seen no choice since the one before.
    pub(in crate::sim) fn same_looks(&self) -> u32 {
        self.lock().same_looks
    }

    /// What goes on.
    pub(in crate::sim) fn describe_running(&self) -> String {
        let running = self.lock().running;
        match self.hosts.try_lock() {
            Ok(hosts) => hosts.describe_turn(running),
            Err(_) => "the start or the end of a host".to_owned(),
        }
    }

    /// The run has ended: lets the turns in progress end, and then the first thread.
    pub(super) fn end_turns(&self, mut state: MutexGuard<'_, State>, thread: usize) -> Next {
        let (to, order) = match state.paused.pop() {
            Some(paused) => (paused.thread, Order::Resume),
            None if thread == FIRST => return Next::End,
            None => (FIRST, Order::End),
        };
        state.idle.push(thread);
        state.idle.retain(|idle| *idle != to);
        drop(state);
        self.hand_over.pass(to, order);
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
        drop(self.left.wait_while(state, |state| state.idle.len() + 1 < state.threads));
        Next::End
    }

    /// Drains a worker on the thread to which something of it is pinned. True if nothing is left.
    fn drain_on(
        &self,
        thread: usize,
        runtime: &Arc<dyn Runtime>,
        worker: usize,
        asker: usize,
    ) -> bool {
        let mut state = self.lock();
        state.idle.retain(|idle| *idle != thread);
        drop(state);
        self.hand_over.pass(thread, Order::Drain(Arc::clone(runtime), worker, asker));
        let Order::Drained(is_drained) = self.hand_over.wait(asker) else {
            unreachable!("the other thread drains a worker")
        };
        is_drained
    }
}
