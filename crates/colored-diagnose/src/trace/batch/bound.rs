//! What no schedule makes shorter.

use super::graph::{Cause, Graph};

/// When the last node could end, in nanoseconds after `start`, with any number of CPUs and colors: only wakes, spawns and the
/// order within each task count.
pub(super) fn longest_chain(graph: &Graph, start: u64) -> u64 {
    let mut begins: Vec<u64> = Vec::with_capacity(graph.nodes.len());
    let (mut last, mut ends) = (0, Vec::<u64>::with_capacity(graph.nodes.len()));
    for node in &graph.nodes {
        let woken = match node.cause {
            Cause::Own => 0,
            Cause::Poll(poll, nanos) => begins[poll] + graph.nodes[poll].until(nanos),
            Cause::Outside(nanos) => nanos.saturating_sub(start),
        };
        let begin = woken.max(node.own.map_or(0, |own| ends[own]));
        begins.push(begin);
        ends.push(begin + node.ran());
        last = last.max(begin + node.ran());
    }
    last
}
