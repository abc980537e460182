//! The default color beside the color of the number 0, stepped by hand.

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{Color, Scheduler, Step, exclusive, spawn_here};
use std::future::pending;
use std::sync::{Arc, Mutex};

/// A section holds one of the two colors: a task of that color waits, and a task of the other color runs.
///
/// Shows G5.
#[test]
fn a_section_under_one_of_them_does_not_hold_the_other() {
    let colors = [Color::DEFAULT, Color::new(0)];
    for (held, free) in [(colors[0], colors[1]), (colors[1], colors[0])] {
        let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
        let holder = handle.spawn_colored(held, exclusive(pending::<()>()));
        assert_eq!(workers[0].step(), Step::Ran);
        let ran = Arc::new(Mutex::new(Vec::new()));
        for color in colors {
            let ran = Arc::clone(&ran);
            drop(handle.spawn_colored(color, async move {
                ran.lock().unwrap().push(Color::current());
                drop(spawn_here(async move { ran.lock().unwrap().push(Color::current()) }));
            }));
        }
        while workers[0].step() == Step::Ran {}
        assert_eq!(*ran.lock().unwrap(), [Some(free), Some(free)]);
        holder.abort();
        while workers[0].step() == Step::Ran {}
        assert_eq!(*ran.lock().unwrap(), [Some(free), Some(free), Some(held), Some(held)]);
        stop(&handle, &mut workers);
    }
}
