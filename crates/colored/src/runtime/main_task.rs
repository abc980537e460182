//! `Runtime::run`: the main future as an ordinary task, and a caller that sleeps.

use super::handle::Handle;
use crate::block_on;
use crate::driver::pause::Main;
use crate::task::JoinError;
use colored_core::Color;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;

#[track_caller]
pub(super) fn run<F>(
    handle: &Handle,
    site: &'static Location<'static>,
    main: F,
) -> Result<F::Output, JoinError>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    assert!(
        Color::current().is_none() && !handle.is_current_worker(),
        "`Runtime::run` inside a task would block its worker and its color: spawn the future instead"
    );
    let driver = Arc::clone(&handle.services.driver);
    let main = async move {
        // Dropped with the future, in its last poll.
        let _running = Main::begin(&driver);
        main.await
    };
    let task = pin!(handle.core.spawn_colored_from(site, Color::DEFAULT, main));
    block_on::block_until(task, None).expect("a wait without a deadline ends with the result")
}
