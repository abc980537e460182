//! The events to come, in the order of virtual time.

use crate::slab::Key;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A worker that is awake takes a step.
    Step(u32),
    /// The time limit of a worker's park: worker, and which of its parks.
    Limit(u32, u32),
    /// A timer, or data on a socket, is ready for the task that waits there.
    Ready(Key),
    /// A thread that is no worker does something.
    Outside,
    /// The backstop looks for lanes to which no worker may come.
    Rescue,
    /// Another number of spare workers is wanted.
    Spares,
    /// A park returns for no reason.
    Spurious,
}

/// Events by time. Events of one time are in the order in which they were put down.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    count: u64,
}

impl Agenda {
    pub(crate) fn put(&mut self, time: u64, event: Event) {
        self.count += 1;
        self.heap.push(Reverse((time, self.count, event)));
    }

    /// The next event, if it is due by `until`.
    pub(crate) fn next_until(&mut self, until: u64) -> Option<(u64, Event)> {
        let Reverse((time, ..)) = self.heap.peek()?;
        if *time > until {
            return None;
        }
        self.heap.pop().map(|Reverse((time, _, event))| (time, event))
    }
}
