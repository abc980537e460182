//! [`Levels`]: who has raised the level of the recording for a while.

use colored_core::{Level, Scheduler};
use std::sync::{Mutex, PoisonError};

/// The observations in progress, and the level before the first of them.
#[derive(Debug, Default)]
pub(crate) struct Levels(Mutex<(usize, Level)>);

impl Levels {
    /// Raises the level to that of the waits, if it is lower.
    pub(crate) fn raise(&self, scheduler: &Scheduler) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 == 0 {
            state.1 = scheduler.level();
            if state.1 < Level::Slices {
                scheduler.set_level(Level::Slices);
            }
        }
        state.0 += 1;
    }

    /// Returns to the level before, with the end of the last observation, unless the program has set another level.
    pub(crate) fn restore(&self, scheduler: &Scheduler) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 -= 1;
        if state.0 == 0 && scheduler.level() == Level::Slices {
            scheduler.set_level(state.1);
        }
    }
}
