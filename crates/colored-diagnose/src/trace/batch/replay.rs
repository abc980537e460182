//! How long the steps of a graph take, if one color may be split.
//!
//! The model is list scheduling (R. L. Graham, "Bounds on multiprocessing timing anomalies", 1969): the workers take the steps
//! in the order in which these can run, and none is idle while it can take one. It knows no queue of the scheduler and no
//! theft: only that a color keeps its worker for a slice. What is compared is the model's time with the color as it is, and
//! with a color for each of its tasks: so a delay that the model does not know changes the factor little, and a color of one
//! task has the factor 1.

use super::graph::{Cause, Graph, Node};
use colored_core::{Color, Options};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A graph, and the nodes that wait for each of its nodes.
pub(super) struct Replay<'g> {
    graph: &'g Graph,
    /// The begin of the graph.
    start: u64,
    workers: usize,
    /// What a step costs more than it runs.
    dispatch: u64,
    /// How long a worker takes to wake up.
    wake: u64,
    /// For each node, the nodes that wait for it.
    followers: Vec<Vec<Follower>>,
}

/// A node that waits for another one.
#[derive(Clone, Copy)]
struct Follower {
    node: usize,
    after: After,
}

/// What a node waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// The wake, which comes so many nanoseconds after the begin of its poll.
    Wake(u64),
    /// The end of the poll of the same task before it.
    Own,
    /// The end of what its color ran before it.
    Color,
}

impl<'g> Replay<'g> {
    pub(super) fn new(graph: &'g Graph, start: u64, workers: usize) -> Self {
        let mut followers = vec![Vec::new(); graph.nodes.len()];
        for (index, node) in graph.nodes.iter().enumerate() {
            let mut add = |of: usize, after| followers[of].push(Follower { node: index, after });
            if let Cause::Poll(poll, nanos) = node.cause {
                add(poll, After::Wake(graph.nodes[poll].until(nanos)));
            }
            node.own.into_iter().for_each(|own| add(own, After::Own));
            node.of_color.into_iter().for_each(|before| add(before, After::Color));
        }
        Self { graph, start, workers, dispatch: dispatch(graph), wake: wake(graph), followers }
    }

    /// The time from the begin to the last end, in nanoseconds, if each task of the color `split` has a color of its own.
    pub(super) fn time(&self, split: Option<Color>) -> u64 {
        Run::new(self, split).finish()
    }
}

/// A schedule up to now.
struct Run<'r> {
    replay: &'r Replay<'r>,
    split: Option<Color>,
    options: Options,
    /// For each node, how much of what it waits for is still to come.
    waits: Vec<u8>,
    /// What will happen, by its time; what was planned earlier comes first.
    events: BinaryHeap<Reverse<(u64, usize, Event)>>,
    planned: usize,
    /// The nodes that can run; a worker takes the first one.
    ready: VecDeque<usize>,
    /// The slice of each worker that is in one.
    slices: Vec<Option<Slice>>,
    /// Whether a worker is about to wake up; the next one follows when that one has found something.
    is_waking: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A wake.
    Wake { node: usize },
    /// The end of a node on a worker.
    End { node: usize, worker: usize },
    /// A worker wakes up.
    Awake { worker: usize },
}

#[derive(Clone, Copy)]
struct Slice {
    since: u64,
    polls: u32,
}

impl<'r> Run<'r> {
    fn new(replay: &'r Replay<'r>, split: Option<Color>) -> Self {
        let nodes = &replay.graph.nodes;
        let mut run = Self {
            replay,
            split,
            options: Options::default(),
            waits: vec![1; nodes.len()],
            events: BinaryHeap::new(),
            planned: 0,
            ready: VecDeque::new(),
            slices: vec![None; replay.workers],
            is_waking: false,
        };
        for &Follower { node, after } in replay.followers.iter().flatten() {
            let is_wake = matches!(after, After::Wake(_));
            run.waits[node] += u8::from(!is_wake && run.counts(node, after));
        }
        for (index, node) in nodes.iter().enumerate() {
            let at = match node.cause {
                Cause::Outside(nanos) => nanos.saturating_sub(replay.start),
                Cause::Own => 0,
                Cause::Poll(..) => continue,
            };
            run.plan(at, Event::Wake { node: index });
        }
        run
    }

    /// Whether this wait is one: the steps of a color that is split do not wait for each other.
    fn counts(&self, node: usize, after: After) -> bool {
        after != After::Color || self.split != Some(self.replay.graph.nodes[node].color)
    }

    fn plan(&mut self, at: u64, event: Event) {
        self.planned += 1;
        self.events.push(Reverse((at, self.planned, event)));
    }

    fn finish(mut self) -> u64 {
        let mut last = 0;
        while let Some(Reverse((now, _, event))) = self.events.pop() {
            match event {
                Event::Wake { node } => {
                    if self.end_wait(node) {
                        self.ready.push_back(node);
                    }
                }
                Event::End { node, worker } => {
                    last = now;
                    self.end(node, worker, now);
                    self.search(worker, now);
                }
                Event::Awake { worker } => {
                    self.is_waking = false;
                    self.search(worker, now);
                }
            }
            self.wake_for(now);
        }
        last
    }

    /// A worker without a slice takes what it finds.
    fn search(&mut self, worker: usize, now: u64) {
        if self.slices[worker].is_none()
            && let Some(node) = self.ready.pop_front()
        {
            self.begin(node, worker, now);
        }
    }

    /// Wakes a worker, if a node can run and no worker is about to look for it.
    fn wake_for(&mut self, now: u64) {
        if !self.is_waking
            && !self.ready.is_empty()
            && let Some(worker) = self.slices.iter().position(Option::is_none)
        {
            self.is_waking = true;
            self.plan(now + self.replay.wake, Event::Awake { worker });
        }
    }

    /// Ends a wait of the node. Returns whether it was the last one.
    fn end_wait(&mut self, node: usize) -> bool {
        self.waits[node] -= 1;
        self.waits[node] == 0
    }

    fn begin(&mut self, node: usize, worker: usize, now: u64) {
        let slice = self.slices[worker].get_or_insert(Slice { since: now, polls: 0 });
        slice.polls += 1;
        let begin = now + self.replay.dispatch;
        for follower in &self.replay.followers[node] {
            if let After::Wake(nanos) = follower.after {
                self.plan(begin + nanos, Event::Wake { node: follower.node });
            }
        }
        let end = begin + self.replay.graph.nodes[node].ran();
        self.plan(end, Event::End { node, worker });
    }

    /// What waits for the end of the node can run. The next node of the same color runs at once, unless the slice is over.
    fn end(&mut self, node: usize, worker: usize, now: u64) {
        let nodes = &self.replay.graph.nodes;
        let mut next = None;
        for &Follower { node: follower, after } in &self.replay.followers[node] {
            if matches!(after, After::Wake(_))
                || !self.counts(follower, after)
                || !self.end_wait(follower)
            {
                continue;
            }
            if next.is_none() && nodes[follower].color == nodes[node].color {
                next = Some(follower);
            } else {
                self.ready.push_back(follower);
            }
        }
        let is_over = self.slices[worker].is_none_or(|slice| {
            slice.polls >= self.options.slice_polls || now - slice.since >= self.options.slice_nanos
        });
        match next {
            Some(next) if !is_over => self.begin(next, worker, now),
            next => {
                self.slices[worker] = None;
                self.ready.extend(next);
            }
        }
    }
}

/// The median of the time between two nodes that follow one another on a thread without a sleep between them: less than
/// 20 µs.
fn dispatch(graph: &Graph) -> u64 {
    let gap = |before: usize, begin: u64| begin - graph.nodes[before].end;
    let gaps = graph.nodes.iter().filter_map(|node| Some(gap(node.of_thread?, node.begin)));
    median(gaps.filter(|gap| *gap < 20_000).collect())
}

/// The median of the time from a wake or a spawn to the poll, where neither the thread nor the color ran anything meanwhile.
fn wake(graph: &Graph) -> u64 {
    let delay = |node: &Node| {
        let (Cause::Poll(_, nanos) | Cause::Outside(nanos)) = node.cause else { return None };
        let mut before = [node.of_thread, node.of_color, node.own].into_iter().flatten();
        let is_idle = before.all(|before| graph.nodes[before].end <= nanos);
        is_idle.then(|| node.begin.saturating_sub(nanos))
    };
    median(graph.nodes.iter().filter_map(delay).collect())
}

fn median(mut values: Vec<u64>) -> u64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}
