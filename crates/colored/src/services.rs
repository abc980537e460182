//! The services of a runtime: what its threads share. This is its [`Driver`], and what the driver need not know.
//!
//! A thread finds the services of its runtime in its [`Context`](current::Context). A socket keeps only the driver, and a
//! timer or a file the context of the thread that made it.

pub(crate) mod current;
pub(crate) mod entered;
pub(crate) mod observer;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(feature = "tokio-context")]
pub(crate) mod tokio_place;
#[cfg(not(feature = "tokio-context"))]
#[path = "services/tokio_place/absent.rs"]
pub(crate) mod tokio_place;
pub(crate) mod wheel_timer;

use self::observer::Observer;
use self::tokio_place::TokioPlace;
use crate::device::Devices;
use crate::drain::Finishers;
use crate::driver::Driver;
use crate::driver::simulated::Machine;
use crate::long_poll::LongPolls;
use crate::pool::Pool;
use colored_core::Scheduler;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// How many workers a runtime has. A worker has a wheel, and perhaps a shard, of its own, and stays; spare workers join and leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) workers: usize,
    /// For long polls.
    pub(crate) spares: usize,
}

/// What the threads of a runtime share.
pub(crate) struct Services {
    pub(crate) driver: Arc<Driver>,
    pub(crate) size: Size,
    /// How long a wait in a section lasts before it is looked at.
    pub(crate) deadlock_after: Duration,
    pub(crate) long_polls: LongPolls,
    pub(crate) observer: Box<dyn Observer>,
    pub(crate) finishers: Finishers,
    pub(crate) pool: Pool,
    pub(crate) devices: Devices,
    pub(crate) tokio: TokioPlace,
    /// The machine that a simulated runtime is on: all workers are on one thread, and the clock is not the system's.
    pub(crate) machine: Option<Machine>,
}

// As of the driver.
impl UnwindSafe for Services {}
impl RefUnwindSafe for Services {}

/// The waits of a worker. Each first cancels the timer that the worker's tasks have released last.
impl Services {
    /// See [`Driver::park`].
    pub(crate) fn park(&self, worker: usize, limit: Option<Duration>, wakers: &mut Vec<Waker>) {
        wheel_timer::drop_last();
        self.driver.park(worker, limit, wakers);
    }

    /// See [`Driver::park_paused`].
    pub(crate) fn park_paused(
        &self,
        scheduler: &Scheduler,
        worker: usize,
        limit: Option<Duration>,
        wakers: &mut Vec<Waker>,
    ) {
        wheel_timer::drop_last();
        self.driver.park_paused(scheduler, || self.pool.has_work(), worker, limit, wakers);
    }

    /// See [`Driver::move_paused`].
    pub(crate) fn move_paused(
        &self,
        scheduler: &Scheduler,
        worker: usize,
        wakers: &mut Vec<Waker>,
    ) -> bool {
        self.driver.move_paused(scheduler, || self.pool.has_work(), worker, wakers)
    }

    /// See [`Driver::sleep`].
    pub(crate) fn sleep(&self, worker: usize) {
        wheel_timer::drop_last();
        self.driver.sleep(worker);
    }

    /// See [`Driver::poll_events`].
    pub(crate) fn poll_events(&self, worker: usize, wakers: &mut Vec<Waker>) {
        wheel_timer::drop_last();
        self.driver.poll_events(worker, wakers);
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").field("driver", &self.driver).finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Services {
    /// The services of a runtime with this driver and so many workers.
    pub(crate) fn of(driver: Driver, workers: usize) -> Arc<Services> {
        Arc::new(Services {
            driver: Arc::new(driver),
            size: Size { workers, spares: 0 },
            deadlock_after: Duration::ZERO,
            long_polls: LongPolls::new(Duration::MAX),
            observer: Box::new(observer::Unobserved),
            finishers: Finishers::default(),
            pool: Pool::new(&crate::pool::Limits::default()),
            devices: Devices::new(true),
            tokio: TokioPlace::default(),
            machine: None,
        })
    }
}
