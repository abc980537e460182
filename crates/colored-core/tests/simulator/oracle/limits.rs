//! Limits: the tasks inside, and the tasks that wait in line.

use super::{Hue, Oracle};
use crate::slab::Key;
use std::collections::VecDeque;

pub(crate) type LimitKey = Key;

#[derive(Debug)]
pub(crate) struct LimitModel {
    hue: Hue,
    capacity: usize,
    inside: usize,
    line: VecDeque<Key>,
    /// The tasks that the limit has called, and that have yet to enter or to get the error of a closed limit.
    called: Vec<(Key, Answer)>,
    closed: bool,
    /// How many clones of the limit there are. Its color has a lane as long as there is one.
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
    /// The program makes a limit, with one owner.
    pub(crate) fn new_limit(&mut self, hue: Hue, capacity: usize) -> LimitKey {
        let lane = self.lanes.get_mut(hue);
        lane.cells += 1;
        lane.published = true;
        let (line, called) = (VecDeque::new(), Vec::new());
        self.limits.insert(LimitModel {
            hue,
            capacity,
            inside: 0,
            line,
            called,
            closed: false,
            owners: 1,
        })
    }

    fn limit(&mut self, key: LimitKey) -> &mut LimitModel {
        self.limits.get_mut(key).expect("the program names limits that are there")
    }

    pub(crate) fn limit_hue(&mut self, key: LimitKey) -> Hue {
        self.limit(key).hue
    }

    /// A caller under a color tries to go in, and does not wait. Inside it owns a clone.
    pub(crate) fn limit_enter(&mut self, key: LimitKey, here: Option<Hue>) -> Answer {
        let limit = self.limit(key);
        let room = limit.line.is_empty() && limit.inside < limit.capacity;
        let answer = match () {
            () if limit.closed => Answer::Closed,
            () if room || here == Some(limit.hue) => Answer::Inside,
            () => Answer::Full,
        };
        if answer == Answer::Inside {
            limit.inside += 1;
            limit.owners += 1;
            self.tally.admitted += 1;
        }
        answer
    }

    /// A task tries to go in. If there is no room it goes into the line, or stays there.
    pub(crate) fn limit_look(&mut self, key: LimitKey, task: Key) -> Answer {
        let here = self.hue_of(task);
        let limit = self.limit(key);
        if let Some(place) = limit.called.iter().position(|(called, _)| *called == task) {
            let (_, answer) = limit.called.swap_remove(place);
            return answer;
        }
        if limit.line.contains(&task) {
            return Answer::Full;
        }
        let answer = self.limit_enter(key, here);
        if answer == Answer::Full {
            self.tally.lined_up += 1;
            self.limit(key).line.push_back(task);
        }
        answer
    }

    /// A task gives up its place in the line.
    pub(crate) fn limit_give_up(&mut self, key: LimitKey, task: Key) {
        let limit = self.limit(key);
        limit.line.retain(|waiting| *waiting != task);
        let place = limit.called.iter().position(|(called, _)| *called == task);
        if let Some(place) = place
            && limit.called.swap_remove(place).1 == Answer::Inside
        {
            self.limit_leave(key);
        }
    }

    /// An occupant leaves, and the task that has waited longest enters.
    pub(crate) fn limit_leave(&mut self, key: LimitKey) {
        let limit = self.limit(key);
        if limit.inside <= limit.capacity
            && let Some(next) = limit.line.pop_front()
        {
            // The leaving task's clone is dropped, and the next task has another clone.
            limit.called.push((next, Answer::Inside));
            self.tally.admitted += 1;
            self.wake(next);
            return;
        }
        limit.inside -= 1;
        self.limit_clone_gone(key);
    }

    /// The limit closes: it admits no task any more, and the waiting tasks get an error.
    pub(crate) fn limit_close(&mut self, key: LimitKey) {
        let limit = self.limit(key);
        limit.closed = true;
        let line = std::mem::take(&mut limit.line);
        limit.called.extend(line.iter().map(|task| (*task, Answer::Closed)));
        for task in line {
            self.wake(task);
        }
    }

    pub(crate) fn limit_clone_made(&mut self, key: LimitKey) {
        self.limit(key).owners += 1;
    }

    pub(crate) fn limit_clone_gone(&mut self, key: LimitKey) {
        let limit = self.limit(key);
        limit.owners -= 1;
        let (hue, owners, inside) = (limit.hue, limit.owners, limit.inside);
        if owners == 0 {
            if inside > 0 {
                self.violated("limit", format!("{inside} are inside a limit that nobody has"));
            }
            self.limits.remove(key);
            self.lanes.get_mut(hue).cells -= 1;
            self.lanes.settle(hue);
        }
    }

    /// Checks what a limit says of itself: how many are inside, how many wait, and whether it is closed.
    pub(crate) fn limit_says(&mut self, key: LimitKey, found: (usize, usize, bool)) {
        let limit = self.limit(key);
        let expected = (limit.inside, limit.line.len(), limit.closed);
        if found != expected {
            let what = format!("limit {} is {found:?}, not {expected:?}", key.slot);
            self.violated("limit", what);
        }
    }
}
