//! How a runtime ends.
//!
//! 1. Stages are closed and drained, the last one built first, while all other work goes on.
//! 2. The scheduler cancels every task, each under its color, and the workers stop.
//! 3. Sockets and timers that are still held somewhere fail from now on.
//! 4. The reactor thread ends.
//! 5. The blocking pool takes no more calls, cancels the waiting calls, and its threads end.
//! 6. The tokio runtime that was made for libraries ends, if there is one.
//! 7. The diagnosis ends, if one is attached: until now it can tell what the shutdown waits for.
//!
//! Step 2 comes before step 3 so that a destructor can still use sockets and timers. A shutdown that
//! does not wait skips step 1: one without any time, and a drop that must not take long (see
//! [`Runtime`](super::Runtime)).

mod timeout;

pub use self::timeout::{ShutdownTimeout, StuckCall};

use super::handle::Handle;
use super::threads::Threads;
use crate::wall;
use std::time::Duration;

impl Threads {
    /// Ends the runtime; a second call does nothing. Without a timeout, waits for as long as it
    /// takes. Stages are drained if `drains`, and there is any time.
    pub(super) fn shut_down(
        &mut self,
        handle: &Handle,
        timeout: Option<Duration>,
        drains: bool,
    ) -> Result<(), ShutdownTimeout> {
        let Some(reactor) = self.reactor.take() else { return Ok(()) };
        let workers = std::mem::take(&mut self.workers);
        let deadline = timeout.and_then(|timeout| wall::now().checked_add(timeout));
        let finishers = &handle.services.finishers;
        let drains = drains && timeout != Some(Duration::ZERO);
        let events = if drains { finishers.finish(deadline) } else { finishers.left() };
        let scheduler = handle.core.scheduler();
        scheduler.shut_down();
        let stopped = self.gate.wait_for_workers(deadline);
        handle.services.driver.shut_down();
        handle.services.driver.check_timer.stop();
        let pool = handle.services.pool.shutdown(deadline);
        handle.services.tokio.shut_down(deadline);
        let waits = timeout != Some(Duration::ZERO);
        handle.services.observer.on_shutdown(scheduler, waits);
        if stopped {
            // They have left the gate: a join returns at once.
            workers.into_iter().for_each(|worker| drop(worker.join()));
            drop(reactor.join());
        }
        if stopped && pool && events == 0 {
            return Ok(());
        }
        let timeout = timeout.unwrap_or_default();
        Err(ShutdownTimeout::now(timeout, events, scheduler, &handle.services.pool))
    }
}
