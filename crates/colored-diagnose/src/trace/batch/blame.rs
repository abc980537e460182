//! The walk from the end back to the begin: what each step waited for.
//!
//! It begins with the node that ended last. A node that began when its color was released waited for its color, one that
//! began when its thread came free for a CPU, and any other one for what woke it (the critical path of M. Yang and B.
//! Miller, "Critical path analysis for the execution of parallel and distributed programs", 1988).

use super::graph::{Cause, Graph, Node};
use colored_core::Color;
use std::collections::HashMap;

/// Why a part of the time passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reason {
    Color(Color),
    Cpus,
    Outside,
    Work,
}

/// The sums of a walk, and the nodes on it, the last one first.
#[derive(Default)]
pub(super) struct Walk {
    pub(super) sums: HashMap<Reason, u64>,
    pub(super) nodes: Vec<usize>,
}

impl Walk {
    fn blame(&mut self, reason: Reason, nanos: u64) {
        *self.sums.entry(reason).or_default() += nanos;
    }
}

/// Walks from the last end back to `start`. A color is to blame only while not all of the `workers` were busy.
pub(super) fn walk(graph: &Graph, start: u64, workers: usize) -> Walk {
    let mut walk = Walk::default();
    let last = (0..graph.nodes.len()).max_by_key(|node| graph.nodes[*node].end);
    let Some(mut at) = last else { return walk };
    let (mut until, mut reason) = (graph.nodes[at].end, Reason::Work);
    loop {
        let node = &graph.nodes[at];
        walk.nodes.push(at);
        walk.blame(reason, until - node.begin);
        until = node.begin;
        let runnable = match node.cause {
            // Without a cause, only what ended just then can be one.
            Cause::Own => node.own.map_or(node.begin, |own| graph.nodes[own].end),
            Cause::Poll(_, nanos) | Cause::Outside(nanos) => nanos,
        };
        let color = held_up_by(graph, node, runnable, node.of_color);
        let thread = held_up_by(graph, node, runnable, node.of_thread);
        // What came between the color's release and the begin is part of the wait for the color, if it is the smaller one.
        let of_color = color.filter(|(freed, _)| {
            node.begin - freed <= freed - runnable && busy(graph, at, *freed) < workers
        });
        (reason, at) = match (of_color, thread.or(color)) {
            (Some((_, before)), _) => (Reason::Color(node.color), before),
            (None, Some((_, before))) => (Reason::Cpus, before),
            (None, None) => {
                // The thread was asleep, or did something else.
                let runnable = runnable.min(until);
                walk.blame(Reason::Cpus, until - runnable);
                until = runnable;
                match (node.cause, node.own) {
                    (Cause::Poll(poll, _), _) => {
                        until = until.max(graph.nodes[poll].begin);
                        (Reason::Work, poll)
                    }
                    (_, Some(own)) => {
                        let end = graph.nodes[own].end.min(until);
                        walk.blame(Reason::Outside, until - end);
                        until = end;
                        (Reason::Work, own)
                    }
                    (_, None) => {
                        walk.blame(Reason::Outside, until.saturating_sub(start));
                        return walk;
                    }
                }
            }
        };
    }
}

/// The node before, and its end, if the node waited for that end: it was runnable from `runnable` on.
fn held_up_by(
    graph: &Graph,
    node: &Node,
    runnable: u64,
    before: Option<usize>,
) -> Option<(u64, usize)> {
    let before = before.filter(|before| graph.nodes[*before].end >= runnable)?;
    let Node { begin, end, .. } = graph.nodes[before];
    // A poll that ends soon after its wake is what its wake waited for.
    let is_cause = node.cause == Cause::Poll(before, runnable)
        && end.saturating_sub(runnable) <= runnable.saturating_sub(begin);
    (!is_cause).then_some((end, before))
}

/// How many threads ran something just before that moment, which is not after the begin of the node.
fn busy(graph: &Graph, at: usize, moment: u64) -> usize {
    let moment = moment.saturating_sub(1);
    // Nodes are sorted by their begin, and long ones are few: a poll that is this far back in the list does not count.
    let before = graph.nodes[..at].iter().rev().take(256);
    let runs = before.filter(|node| node.end > moment && node.begin <= moment);
    let mut threads: Vec<usize> = runs.map(|node| node.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads.len()
}
