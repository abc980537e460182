//! How much the split of a color can gain: longest paths.

use super::graph::{Cause, Graph};
use colored_core::Color;

/// When the last node could end, in nanoseconds after `start`, if CPUs were free at all times, and each color other than
/// `free` kept the order that it had; with `free` none, no color keeps an order. A node costs `dispatch` more than it ran.
pub(super) fn longest_path(graph: &Graph, start: u64, order: Order, dispatch: u64) -> u64 {
    let mut begins: Vec<u64> = Vec::with_capacity(graph.nodes.len());
    let (mut last, mut ends) = (0, Vec::<u64>::with_capacity(graph.nodes.len()));
    for node in &graph.nodes {
        let mut begin = match node.cause {
            Cause::Own => 0,
            // The wake came so long after the begin of its poll.
            Cause::Poll(poll, nanos) => {
                let waker = &graph.nodes[poll];
                begins[poll] + nanos.min(waker.end).saturating_sub(waker.begin)
            }
            Cause::Outside(nanos) => nanos.saturating_sub(start),
        };
        begin = begin.max(node.own.map_or(0, |own| ends[own]));
        if order.keeps(node.color) {
            begin = begin.max(node.of_color.map_or(0, |before| ends[before]));
        }
        begins.push(begin + dispatch);
        ends.push(begin + dispatch + node.ran());
        last = last.max(begin + dispatch + node.ran());
    }
    last
}

/// The colors that keep the order that they had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// None: only wakes, spawns and the order within each task count.
    Free,
    /// All but this one.
    AllBut(Color),
}

impl Order {
    fn keeps(self, color: Color) -> bool {
        match self {
            Self::Free => false,
            Self::AllBut(free) => color != free,
        }
    }
}

/// The median of the time between two nodes that follow one another on a thread without a sleep between them: less than
/// 20 µs.
pub(super) fn dispatch(graph: &Graph) -> u64 {
    let gap = |before: usize, begin: u64| begin - graph.nodes[before].end;
    let gaps = graph.nodes.iter().filter_map(|node| Some(gap(node.of_thread?, node.begin)));
    let mut gaps: Vec<u64> = gaps.filter(|gap| *gap < 20_000).collect();
    let middle = gaps.len() / 2;
    if gaps.is_empty() { 0 } else { *gaps.select_nth_unstable(middle).1 }
}
