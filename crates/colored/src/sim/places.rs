//! The policy of a simulation: each color belongs to one worker.

use colored_core::{Color, Destination, Policy, Runnable, Scheduler};
use std::cell::RefCell;
use std::collections::HashMap;

thread_local! {
    /// By color, its number in the order in which colors became runnable first. A simulation has a thread of its own.
    static NUMBERS: RefCell<HashMap<Color, usize>> = RefCell::default();
}

#[derive(Debug)]
pub(super) struct Places;

impl Policy for Places {
    fn destination(&self, lane: Runnable, scheduler: &Scheduler) -> Destination {
        let number = NUMBERS.with_borrow_mut(|numbers| {
            let next = numbers.len();
            *numbers.entry(lane.color).or_insert(next)
        });
        Destination::Worker(number % scheduler.workers())
    }

    fn steals(&self) -> bool {
        false
    }
}
