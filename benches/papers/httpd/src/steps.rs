//! The steps of requests, printed with their colors: `--steps on`.

use colored::Color;
use std::sync::atomic::{AtomicBool, Ordering};

static ARE_SHOWN: AtomicBool = AtomicBool::new(false);

/// Prints all further steps.
pub(crate) fn show() {
    // Ordering: a hint; nothing else depends on it.
    ARE_SHOWN.store(true, Ordering::Relaxed);
}

/// A step begins, under the present color.
pub(crate) fn note(step: &str) {
    // Ordering: as above.
    if ARE_SHOWN.load(Ordering::Relaxed) {
        println!("step {step}: {:?}", Color::current());
    }
}
