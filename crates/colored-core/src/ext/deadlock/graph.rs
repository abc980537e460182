//! The graph of waits, and cycles in it.
//!
//! A node stands for something that cannot go on before other nodes do: all of them, or one of several alternatives.
//! `K` identifies a node, `W` a wait, and `L` is the text that an error shows for a step.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The nodes that one node needs.
pub(super) struct Needs<K, W, L> {
    /// One of the steps is enough.
    pub(super) any: bool,
    pub(super) steps: Vec<Step<K, W, L>>,
}

#[derive(Clone, Copy)]
pub(super) struct Step<K, W, L> {
    /// How an error names the step.
    pub(super) link: L,
    pub(super) to: K,
    /// The wait that the step follows, if it is one.
    pub(super) wait: Option<W>,
}

impl<K, W: Eq + Hash, L> Step<K, W, L> {
    /// Whether the step still counts.
    fn is_left(&self, told: &HashSet<W>) -> bool {
        self.wait.as_ref().is_none_or(|wait| !told.contains(wait))
    }
}

pub(super) struct Graph<K, W, L>(HashMap<K, Needs<K, W, L>>);

impl<K, W, L> Default for Graph<K, W, L> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Copy + Eq + Hash, W: Copy + Eq + Hash, L: Copy> Graph<K, W, L> {
    /// Adds all nodes that can be reached from `start`. `needs` is called once for each node that is not there yet.
    pub(super) fn reach(&mut self, start: K, mut needs: impl FnMut(K) -> Needs<K, W, L>) {
        let mut rest = vec![start];
        while let Some(key) = rest.pop() {
            if let Entry::Vacant(entry) = self.0.entry(key) {
                let needs = entry.insert(needs(key));
                rest.extend(needs.steps.iter().map(|step| step.to));
            }
        }
    }

    /// A cycle through this node that uses none of the waits in `told`.
    pub(super) fn cycle(&self, start: K, told: &HashSet<W>) -> Option<Vec<Step<K, W, L>>> {
        let stuck = self.stuck(start, told);
        let goes = |step: &Step<K, W, L>| stuck.contains(&step.to) && step.is_left(told);
        let steps_from = |key: K| self.0[&key].steps.iter().copied().filter(goes);
        if !stuck.contains(&start) {
            return None;
        }
        let mut seen = HashSet::new();
        // The way so far, and the untried steps at each of its points.
        let mut way: Vec<Step<K, W, L>> = Vec::new();
        let mut rest: Vec<Vec<Step<K, W, L>>> = vec![steps_from(start).collect()];
        while let Some(steps) = rest.last_mut() {
            let Some(step) = steps.pop() else {
                rest.pop();
                way.pop();
                continue;
            };
            if step.to == start {
                way.push(step);
                return Some(way);
            }
            if seen.insert(step.to) {
                rest.push(steps_from(step.to).collect());
                way.push(step);
            }
        }
        None
    }

    /// The nodes that cannot go on, of all that can be reached from `start`. All count as stuck at first; nodes with a
    /// way out are removed until nothing changes. A node that needs all of its steps goes on when all of them do, a
    /// wait for room as soon as one does.
    fn stuck(&self, start: K, told: &HashSet<W>) -> HashSet<K> {
        let mut stuck = HashSet::new();
        let mut rest = vec![start];
        while let Some(key) = rest.pop() {
            if stuck.insert(key) {
                let steps = self.0[&key].steps.iter().filter(|step| step.is_left(told));
                rest.extend(steps.map(|step| step.to));
            }
        }
        loop {
            let waits = |key: &K| {
                let Needs { any, steps } = &self.0[key];
                let mut steps = steps.iter().filter(|step| step.is_left(told)).peekable();
                if *any {
                    steps.peek().is_some() && steps.all(|step| stuck.contains(&step.to))
                } else {
                    steps.any(|step| stuck.contains(&step.to))
                }
            };
            let left: HashSet<K> = stuck.iter().copied().filter(waits).collect();
            if left.len() == stuck.len() {
                return left;
            }
            stuck = left;
        }
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Graph, Needs, Step};
    use std::collections::HashSet;

    /// A graph of numbered nodes. A step to node `n` from node `m` is the wait `10 * m + n`.
    fn graph(nodes: &[(u32, bool, &[u32])]) -> Graph<u32, u32, ()> {
        let mut graph = Graph::default();
        let needs = |key| {
            let (_, any, to) = nodes.iter().find(|(node, ..)| *node == key).expect("a node");
            let step = |to: &u32| Step { link: (), to: *to, wait: Some(10 * key + to) };
            Needs { any: *any, steps: to.iter().map(step).collect() }
        };
        graph.reach(nodes[0].0, needs);
        graph
    }

    fn cycle(graph: &Graph<u32, u32, ()>, told: &[u32]) -> Option<Vec<u32>> {
        let told = HashSet::from_iter(told.iter().copied());
        let steps = graph.cycle(1, &told)?;
        Some(steps.iter().filter_map(|step| step.wait).collect())
    }

    #[test]
    fn a_cycle_leads_back_to_its_start_and_ends_with_one_of_its_waits() {
        let graph =
            graph(&[(1, false, &[4, 2]), (2, false, &[3]), (3, false, &[1]), (4, false, &[])]);
        assert_eq!(cycle(&graph, &[]), Some(vec![12, 23, 31]));
        for told in [12, 23, 31] {
            assert_eq!(cycle(&graph, &[told]), None);
        }
        assert_eq!(cycle(&graph, &[14]), Some(vec![12, 23, 31]));
    }

    #[test]
    fn one_of_several_alternatives_that_goes_on_is_enough() {
        let stuck =
            graph(&[(1, false, &[2]), (2, true, &[3, 4]), (3, false, &[1]), (4, false, &[1])]);
        assert!(cycle(&stuck, &[]).is_some());
        let open =
            graph(&[(1, false, &[2]), (2, true, &[3, 4]), (3, false, &[1]), (4, false, &[])]);
        assert_eq!(cycle(&open, &[]), None);
        let none = graph(&[(1, false, &[2]), (2, true, &[])]);
        assert_eq!(cycle(&none, &[]), None);
    }

    #[test]
    fn a_node_that_only_waits_for_a_cycle_is_in_none() {
        let graph = graph(&[(1, false, &[2]), (2, false, &[3]), (3, false, &[2])]);
        assert_eq!(cycle(&graph, &[]), None);
    }
}
