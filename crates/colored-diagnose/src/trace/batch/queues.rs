//! The queues of the workers in a replay, as in `colored_core`'s `sched/worker.rs`, without its classes and pins.

use std::collections::VecDeque;

/// The most steps from the `next` slot in a row.
const NEXT_STREAK: u8 = 3;

/// The most turns that thefts leave.
const MOST_FREE_TURNS: usize = 64;

/// The queues of all workers, which hold the steps that can run, each of another color.
pub(super) struct Queues {
    workers: Vec<Queue>,
    /// What no worker has made runnable.
    injector: VecDeque<usize>,
}

/// The queue of a worker.
#[derive(Clone, Default)]
struct Queue {
    /// What it made runnable last.
    next: Option<usize>,
    streak: u8,
    deque: VecDeque<usize>,
    free_turns: usize,
}

impl Queues {
    pub(super) fn new(workers: usize) -> Self {
        Self { workers: vec![Queue::default(); workers], injector: VecDeque::new() }
    }

    /// A step can run, which a step on the worker has woken, or something outside.
    pub(super) fn woken(&mut self, step: usize, by: Option<usize>) {
        match by {
            Some(worker) => {
                let queue = &mut self.workers[worker];
                queue.deque.extend(queue.next.replace(step));
            }
            None => self.injector.push_back(step),
        }
    }

    /// A step can run, which follows the last one of a slice that is over.
    pub(super) fn put_back(&mut self, step: usize, worker: usize) {
        let queue = &mut self.workers[worker];
        if queue.next.is_none() && !queue.deque.is_empty() && queue.free_turns > 0 {
            queue.free_turns -= 1;
            queue.next = Some(step);
        } else {
            queue.deque.push_back(step);
        }
    }

    /// What the worker runs next, if anything.
    pub(super) fn take(&mut self, worker: usize) -> Option<usize> {
        let queue = &mut self.workers[worker];
        if queue.streak < NEXT_STREAK
            && let Some(step) = queue.next.take()
        {
            queue.streak += 1;
            return Some(step);
        }
        queue.streak = 0;
        let queued = self.injector.pop_front().or_else(|| queue.deque.pop_front());
        queued.or_else(|| queue.next.take()).or_else(|| self.steal(worker))
    }

    /// Takes the older half of another deque.
    fn steal(&mut self, thief: usize) -> Option<usize> {
        let victim = self.workers.iter_mut().find(|queue| !queue.deque.is_empty())?;
        let step = victim.deque.pop_front()?;
        let rest: VecDeque<usize> = victim.deque.drain(..victim.deque.len() / 2).collect();
        let taken = 1 + rest.len();
        victim.free_turns = (victim.free_turns + taken).min(MOST_FREE_TURNS);
        let thief = &mut self.workers[thief];
        (thief.deque, thief.free_turns) = (rest, taken.min(MOST_FREE_TURNS));
        Some(step)
    }

    /// Whether there is something that any worker may take.
    pub(super) fn has_more(&self) -> bool {
        !self.injector.is_empty() || self.workers.iter().any(|queue| !queue.deque.is_empty())
    }

    /// Whether the worker has something to run next.
    pub(super) fn has_next(&self, worker: usize) -> bool {
        self.workers[worker].next.is_some()
    }

    /// Takes what the worker would run next.
    pub(super) fn take_next(&mut self, worker: usize) -> Option<usize> {
        self.workers[worker].next.take()
    }
}
