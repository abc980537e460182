//! Stopping the clock of a runtime, for tests.

use super::later;
use crate::driver::pause::Advance;
use crate::services::current;
use std::sync::Arc;
use std::time::Duration;

/// Stops the clock of the current runtime: for tests.
///
/// From then on time moves only while nothing else happens, and then at once to the next timer; see
/// [the module](super#paused-time). A clock that is stopped at the start, by `#[colored::test(paused)]` or
/// [`Builder::start_paused`](crate::Builder::start_paused), shows the same times in every run, relative to its start.
///
/// Code that runs on other threads at the time of the call may yet see the clock move for a moment.
///
/// # Panics
///
/// Outside of a runtime, and if the clock is stopped already.
#[track_caller]
pub fn pause() {
    let paused = current::with(|context| context.driver.pause());
    assert!(paused, "`time::pause` while the clock of this runtime is paused already");
}

/// Lets the clock of the current runtime go on from where it stands.
///
/// # Panics
///
/// Outside of a runtime, and if the clock is not paused.
#[track_caller]
pub fn resume() {
    let resumed = current::with(|context| context.driver.resume());
    assert!(
        resumed,
        "`time::resume` while the clock of this runtime is not paused: call `time::pause` first"
    );
}

/// Moves the paused clock of the current runtime by `duration`, from timer to timer.
///
/// It stops at each timer on the way: the timers fire in the order of their deadlines, and all tasks that they wake run
/// until they wait, before time moves on. In the end all timers up to that moment have fired, their tasks have run, and
/// the clock has moved by exactly `duration`. Two tasks may do this at the same time; time moves once for both.
///
/// Unlike otherwise in [paused time](super#paused-time), blocking calls do not keep time from moving meanwhile. A task that
/// never waits keeps this from ending. If [`resume`] is called meanwhile, this returns.
///
/// # Cancel safety
///
/// Cancel safe: the clock stays where it is then.
///
/// # Panics
///
/// When it is polled, outside of a runtime, and if the clock is not paused.
///
/// # Examples
///
/// ```
/// use colored::time::{Duration, advance, sleep};
///
/// # #[colored::main(paused)]
/// # async fn main() {
/// let task = colored::spawn_unique(sleep(Duration::from_millis(10)));
/// advance(Duration::from_millis(9)).await;
/// assert!(!task.is_finished());
/// advance(Duration::from_millis(1)).await;
/// assert!(task.is_finished());
/// # }
/// ```
pub async fn advance(duration: Duration) {
    let driver = current::with(|context| Arc::clone(&context.driver));
    let clock = &driver.clock;
    assert!(
        clock.is_paused(),
        "`time::advance` while the clock of this runtime is not paused: call `time::pause` first, or use \
         `#[colored::test(paused)]`"
    );
    let until = clock.nanos(later(clock.now(), duration));
    Advance::new(driver, until).await;
}
