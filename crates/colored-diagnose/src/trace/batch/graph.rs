//! [`Graph`]: the polls of a snapshot, and what each had to wait for.

use crate::trace::{Event, Snapshot};
use colored_core::{Color, Id};
use std::collections::HashMap;

/// A poll, or a slice in which only closures ran. Times are the scheduler's, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) task: Option<Id>,
    pub(super) color: Color,
    pub(super) thread: usize,
    /// The index of its record.
    pub(super) record: usize,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// What made it runnable.
    pub(super) cause: Cause,
    /// The poll of its task before it.
    pub(super) own: Option<usize>,
    /// What its color ran before it.
    pub(super) of_color: Option<usize>,
    /// What its thread ran before it.
    pub(super) of_thread: Option<usize>,
}

/// What made a poll runnable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Nothing that is known: the end of its task's last poll.
    Own,
    /// A wake or a spawn at this time, in a poll of the graph.
    Poll(usize, u64),
    /// A wake or a spawn at this time by something else: an event, a timer, another thread.
    Outside(u64),
}

impl Node {
    pub(super) fn ran(&self) -> u64 {
        self.end - self.begin
    }

    /// The time from its begin to something that it did then, before its end.
    pub(super) fn until(&self, nanos: u64) -> u64 {
        nanos.min(self.end).saturating_sub(self.begin)
    }
}

/// The nodes, by their begin.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// A wake or a spawn.
#[derive(Clone, Copy)]
struct Wake {
    nanos: u64,
    by: Option<Id>,
}

impl Graph {
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for thread in 0..snapshot.threads.len() {
            add_nodes(snapshot, thread, &mut nodes);
        }
        nodes.sort_by_key(|node| (node.begin, node.end));
        let mut graph = Self { nodes };
        graph.link_lines();
        graph.link_causes(&wakes(snapshot));
        graph
    }

    /// By task, color and thread, what came before. Readers of a color overlap: the last that ended before counts.
    fn link_lines(&mut self) {
        let mut tasks = HashMap::<Id, usize>::new();
        let (mut colors, mut threads) = (HashMap::<Color, Vec<usize>>::new(), HashMap::new());
        for index in 0..self.nodes.len() {
            let Node { task, color, thread, begin, .. } = self.nodes[index];
            let own = task.and_then(|task| tasks.insert(task, index));
            let line = colors.entry(color).or_default();
            let ended = |before: &&usize| self.nodes[**before].end <= begin;
            let of_color = line.iter().rev().take(16).find(ended).copied();
            line.push(index);
            let of_thread: Option<usize> = threads.insert(thread, index);
            let of_thread = of_thread.filter(|before| self.nodes[*before].end <= begin);
            let node = &mut self.nodes[index];
            (node.own, node.of_color, node.of_thread) = (own, of_color, of_thread);
        }
    }

    /// The first wake since the last poll of the task has made it runnable.
    fn link_causes(&mut self, wakes: &HashMap<Id, Vec<Wake>>) {
        let mut by_task = HashMap::<Id, Vec<usize>>::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(task) = node.task {
                by_task.entry(task).or_default().push(index);
            }
        }
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            let Some(wakes) = node.task.and_then(|task| wakes.get(&task)) else { continue };
            let since = node.own.map(|own| self.nodes[own].begin);
            let first = wakes.partition_point(|wake| Some(wake.nanos) <= since);
            let Some(wake) = wakes.get(first).filter(|wake| wake.nanos <= node.begin) else {
                continue;
            };
            let source = wake.by.and_then(|by| {
                let polls = by_task.get(&by)?;
                let after = polls.partition_point(|poll| self.nodes[*poll].begin <= wake.nanos);
                let poll = *polls.get(after.checked_sub(1)?)?;
                // The end of a task wakes just after its last poll.
                (self.nodes[poll].begin < node.begin && poll != index).then_some(poll)
            });
            self.nodes[index].cause = match source {
                Some(poll) => Cause::Poll(poll, wake.nanos),
                None => Cause::Outside(wake.nanos),
            };
        }
    }
}

/// A poll is recorded before the slice around it.
fn add_nodes(snapshot: &Snapshot, thread: usize, nodes: &mut Vec<Node>) {
    let mut polls = Vec::new();
    for (record, of) in snapshot.threads[thread].records.iter().enumerate() {
        let node = |task, color, ran| Node {
            task,
            color,
            thread,
            record,
            begin: of.nanos.saturating_sub(ran),
            end: of.nanos,
            cause: Cause::Own,
            own: None,
            of_color: None,
            of_thread: None,
        };
        match of.event {
            Event::Poll { task, ran } => polls.push(node(Some(task), Color::DEFAULT, ran)),
            Event::Slice { color, ran, .. } => {
                let slice = node(None, color, ran);
                // Polls of an older slice, whose record is lost, are in none.
                polls.retain(|poll: &Node| poll.begin >= slice.begin);
                if polls.is_empty() {
                    nodes.push(slice);
                }
                nodes.extend(polls.drain(..).map(|poll| Node { color, ..poll }));
            }
            _ => {}
        }
    }
}

/// The wakes and spawns of each task, in their order.
fn wakes(snapshot: &Snapshot) -> HashMap<Id, Vec<Wake>> {
    let mut wakes = HashMap::<Id, Vec<Wake>>::new();
    for record in snapshot.threads.iter().flat_map(|thread| &thread.records) {
        if let Event::Wake { by, task } | Event::Spawn { by, task, .. } = record.event {
            wakes.entry(task).or_default().push(Wake { nanos: record.nanos, by });
        }
    }
    wakes.values_mut().for_each(|wakes| wakes.sort_by_key(|wake| wake.nanos));
    wakes
}
