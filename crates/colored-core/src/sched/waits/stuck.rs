//! Which of those that wait cannot go on, where some need only one thing of several.
//!
//! A way back to who waits is proof enough while everything on it needs what comes next. Who waits for
//! room needs one of those inside: then a way is proof only if the others cannot go on either. So
//! everything that can be reached is taken to be stuck, and what has a way out is taken away, until
//! nothing changes: who needs all that it waits for, as soon as all of that goes on; who waits for
//! room, as soon as one of those inside does. What is left keeps itself waiting.

use super::graph::Graph;
use super::search::{Key, Node, Step};
use std::collections::{HashMap, HashSet};

/// What one needs, of what can be reached.
struct Needs {
    /// One of these is enough.
    any: bool,
    next: Vec<Key>,
}

impl Graph {
    /// What cannot go on of all that can be reached by these steps, if where they lead `back` to cannot,
    /// and none of the waits `without` is there.
    pub(super) fn stuck<'a>(
        &'a self,
        first: Vec<Step<'a>>,
        back: impl Fn(Node<'_>) -> bool,
        without: &[u64],
    ) -> HashSet<Key> {
        let mut reached: HashMap<Key, Option<Needs>> = HashMap::new();
        let mut rest = first;
        while let Some(step) = rest.pop() {
            let key = step.node.key();
            if reached.contains_key(&key) {
                continue;
            }
            if back(step.node) {
                reached.insert(key, None);
                continue;
            }
            let mut next = self.steps_from(&step);
            next.retain(|step| !step.is_one_of(without));
            let keys = next.iter().map(|step| step.node.key()).collect();
            let any = matches!(step.node, Node::Room(..));
            reached.insert(key, Some(Needs { any, next: keys }));
            rest.extend(next);
        }
        let mut stuck: HashSet<Key> = reached.keys().copied().collect();
        loop {
            let waits = |key: &Key| {
                let Some(Needs { any, next }) = &reached[key] else { return true };
                let mut next = next.iter().map(|key| stuck.contains(key));
                if *any { next.len() > 0 && next.all(|is| is) } else { next.any(|is| is) }
            };
            let left: HashSet<Key> = stuck.iter().copied().filter(waits).collect();
            if left.len() == stuck.len() {
                return left;
            }
            stuck = left;
        }
    }
}
