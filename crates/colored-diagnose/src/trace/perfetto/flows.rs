//! [`Flows`]: which wake caused which poll.

use super::timeline::{Mark, Step};
use crate::trace::Event;
use crate::trace::snapshot::Snapshot;
use colored_core::Id;
use std::collections::HashMap;

/// A record, by the index of its thread and its own.
type Place = (usize, u32);

/// The flows of a file: one for each wake that a poll of its task follows.
#[derive(Default)]
pub(super) struct Flows {
    from: HashMap<Place, u64>,
    to: HashMap<Place, Vec<u64>>,
}

/// The begin of a poll.
struct Poll {
    nanos: u64,
    thread: usize,
    mark: usize,
    record: u32,
}

impl Flows {
    pub(super) fn new(snapshot: &Snapshot, timelines: &[Vec<Mark>]) -> Self {
        let (mut polls, mut wakes) = (HashMap::<Id, Vec<Poll>>::new(), Vec::new());
        for (thread, marks) in timelines.iter().enumerate() {
            let records = &snapshot.threads[thread].records;
            for (mark, &Mark { nanos, record, step }) in marks.iter().enumerate() {
                match (step, records[record as usize].event) {
                    (Step::Begin, Event::Poll { task, .. }) => {
                        polls.entry(task).or_default().push(Poll { nanos, thread, mark, record });
                    }
                    (Step::Instant, Event::Wake { task, .. }) => {
                        wakes.push((task, Poll { nanos, thread, mark, record }));
                    }
                    _ => {}
                }
            }
        }
        polls.values_mut().for_each(|polls| polls.sort_by_key(|poll| poll.nanos));
        let mut flows = Self::default();
        for (task, wake) in wakes {
            let Some(polls) = polls.get(&task) else { continue };
            let later = &polls[polls.partition_point(|poll| poll.nanos < wake.nanos)..];
            // A task may wake itself in a poll that has just begun.
            let follows = |poll: &&Poll| poll.thread != wake.thread || poll.mark > wake.mark;
            if let Some(poll) = later.iter().find(follows) {
                let flow = flows.from.len() as u64 + 1;
                flows.from.insert((wake.thread, wake.record), flow);
                flows.to.entry((poll.thread, poll.record)).or_default().push(flow);
            }
        }
        flows
    }

    /// The flow that begins at a wake.
    pub(super) fn from(&self, thread: usize, record: u32) -> Option<u64> {
        self.from.get(&(thread, record)).copied()
    }

    /// The flows that end at a poll.
    pub(super) fn to(&self, thread: usize, record: u32) -> &[u64] {
        self.to.get(&(thread, record)).map_or(&[], Vec::as_slice)
    }
}
