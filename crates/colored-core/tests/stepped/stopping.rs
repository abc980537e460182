//! The end of a scheduler whose workers are stepped by hand.

use colored_core::{SchedulerHandle, Step, Worker};

/// Shuts the scheduler down, and steps its workers in turn until each has stopped.
pub(crate) fn stop(handle: &SchedulerHandle, workers: &mut [Worker]) {
    handle.scheduler().shut_down();
    let mut stopped = vec![false; workers.len()];
    while stopped.contains(&false) {
        for (worker, stopped) in workers.iter_mut().zip(&mut stopped) {
            *stopped = *stopped || worker.step() == Step::Stopped;
        }
    }
}
