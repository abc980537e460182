//! Bounds: the tasks inside, and those that wait in line.

use super::{Hue, Oracle};
use crate::slab::Key;
use std::collections::VecDeque;

pub(crate) type BoundKey = Key;

#[derive(Debug)]
pub(crate) struct BoundModel {
    hue: Hue,
    capacity: usize,
    inside: usize,
    line: VecDeque<Key>,
    /// The tasks that the bound has called, and that have yet to come in or to learn that it is closed.
    called: Vec<(Key, Answer)>,
    closed: bool,
    /// How many clones of the bound there are. Its color has a lane as long as there is one.
    owners: u32,
}

/// The answer to an attempt to go in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Inside,
    Full,
    Closed,
}

impl Oracle {
    /// The program makes a bound, with one owner.
    pub(crate) fn new_bound(&mut self, hue: Hue, capacity: usize) -> BoundKey {
        let lane = self.lanes.get_mut(hue);
        lane.cells += 1;
        lane.published = true;
        let (line, called) = (VecDeque::new(), Vec::new());
        self.bounds.insert(BoundModel {
            hue,
            capacity,
            inside: 0,
            line,
            called,
            closed: false,
            owners: 1,
        })
    }

    fn bound(&mut self, key: BoundKey) -> &mut BoundModel {
        self.bounds.get_mut(key).expect("the program names bounds that are there")
    }

    pub(crate) fn bound_hue(&mut self, key: BoundKey) -> Hue {
        self.bound(key).hue
    }

    /// A caller under a color tries to go in, and does not wait. Inside it owns a clone.
    pub(crate) fn bound_enter(&mut self, key: BoundKey, here: Option<Hue>) -> Answer {
        let bound = self.bound(key);
        let room = bound.line.is_empty() && bound.inside < bound.capacity;
        let answer = match () {
            () if bound.closed => Answer::Closed,
            () if room || here == Some(bound.hue) => Answer::Inside,
            () => Answer::Full,
        };
        if answer == Answer::Inside {
            bound.inside += 1;
            bound.owners += 1;
            self.tally.admitted += 1;
        }
        answer
    }

    /// A task tries to go in. If there is no room it goes into the line, or stays there.
    pub(crate) fn bound_look(&mut self, key: BoundKey, task: Key) -> Answer {
        let here = self.hue_of(task);
        let bound = self.bound(key);
        if let Some(place) = bound.called.iter().position(|(called, _)| *called == task) {
            let (_, answer) = bound.called.swap_remove(place);
            return answer;
        }
        if bound.line.contains(&task) {
            return Answer::Full;
        }
        let answer = self.bound_enter(key, here);
        if answer == Answer::Full {
            self.tally.lined_up += 1;
            self.bound(key).line.push_back(task);
        }
        answer
    }

    /// A task gives up its place in the line.
    pub(crate) fn bound_give_up(&mut self, key: BoundKey, task: Key) {
        let bound = self.bound(key);
        bound.line.retain(|waiting| *waiting != task);
        let place = bound.called.iter().position(|(called, _)| *called == task);
        if let Some(place) = place
            && bound.called.swap_remove(place).1 == Answer::Inside
        {
            self.bound_leave(key);
        }
    }

    /// An occupant leaves, and the task that has waited longest comes in.
    pub(crate) fn bound_leave(&mut self, key: BoundKey) {
        let bound = self.bound(key);
        if bound.inside <= bound.capacity
            && let Some(next) = bound.line.pop_front()
        {
            // The clone of the one that leaves goes, and the next one has another.
            bound.called.push((next, Answer::Inside));
            self.tally.admitted += 1;
            self.wake(next);
            return;
        }
        bound.inside -= 1;
        self.bound_clone_gone(key);
    }

    /// The bound closes: no task comes in any more, and it sends away those in line.
    pub(crate) fn bound_close(&mut self, key: BoundKey) {
        let bound = self.bound(key);
        bound.closed = true;
        let line = std::mem::take(&mut bound.line);
        bound.called.extend(line.iter().map(|task| (*task, Answer::Closed)));
        for task in line {
            self.wake(task);
        }
    }

    pub(crate) fn bound_clone_made(&mut self, key: BoundKey) {
        self.bound(key).owners += 1;
    }

    pub(crate) fn bound_clone_gone(&mut self, key: BoundKey) {
        let bound = self.bound(key);
        bound.owners -= 1;
        let (hue, owners, inside) = (bound.hue, bound.owners, bound.inside);
        if owners == 0 {
            if inside > 0 {
                self.violated("bound", format!("{inside} are inside a bound that nobody has"));
            }
            self.bounds.remove(key);
            self.lanes.get_mut(hue).cells -= 1;
            self.lanes.settle(hue);
        }
    }

    /// Checks what a bound says of itself: how many are inside, how many wait, and whether it is closed.
    pub(crate) fn bound_says(&mut self, key: BoundKey, found: (usize, usize, bool)) {
        let bound = self.bound(key);
        let expected = (bound.inside, bound.line.len(), bound.closed);
        if found != expected {
            let what = format!("bound {} is {found:?}, not {expected:?}", key.slot);
            self.violated("bound", what);
        }
    }
}
