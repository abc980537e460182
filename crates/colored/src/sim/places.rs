//! The policy of a simulation: each color belongs to one worker.

use super::evidence;
use colored_core::{Color, Destination, Policy, Runnable, Scheduler};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

thread_local! {
    /// By color, its number in the order in which colors became runnable first. A simulation has a thread of its own.
    static NUMBERS: RefCell<HashMap<Color, usize, BuildHasherDefault<DefaultHasher>>> = RefCell::default();
}

#[derive(Debug)]
pub(super) struct Places;

impl Policy for Places {
    fn destination(&self, lane: Runnable, scheduler: &Scheduler) -> Destination {
        // A thread whose thread-locals are gone, which is no simulation's, may still wake a task.
        evidence::note_wake();
        let number = NUMBERS.try_with(|numbers| {
            let mut numbers = numbers.borrow_mut();
            let next = numbers.len();
            *numbers.entry(lane.color).or_insert(next)
        });
        Destination::Worker(number.unwrap_or(0) % scheduler.workers())
    }

    fn steals(&self) -> bool {
        false
    }
}
