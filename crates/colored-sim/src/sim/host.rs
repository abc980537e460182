//! [`Host`]: a host of the simulation, from the program that is simulated.

use super::run;
use crate::world::{Order, World};
use colored_core::yield_now;
use std::sync::Arc;
use std::time::Duration;

/// A host of the simulation, to crash, restart or pause it. Made by [`host`].
///
/// All functions take effect at the end of the turn that calls them, in the order of the calls.
#[derive(Clone)]
pub struct Host {
    pub(super) world: Arc<World>,
    pub(super) number: usize,
}

/// The host of this name: one of [`Builder::host`](super::Builder::host), or `"main"`, which runs the main future.
///
/// # Panics
///
/// If there is no such host, and outside of a simulation.
#[must_use]
#[track_caller]
pub fn host(name: &str) -> Host {
    let world = run::world().expect("`sim::host` outside of a simulation");
    match world.number_of(name) {
        Some(number) => Host { world, number },
        None => panic!("`sim::host({name:?})`: the hosts are {:?}", world.names()),
    }
}

impl Host {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.world.names()[self.number]
    }

    /// Lets the host lose its power: its tasks are dropped, each under its color, and no peer hears of it. Ready when that
    /// is done. Does nothing to a host that is down.
    ///
    /// The destructors of the tasks run, which those of a real machine would not: they reach no peer any more.
    ///
    /// Cancel safe: the crash happens as soon as the future has been polled.
    ///
    /// # Panics
    ///
    /// For the host of the main future, with which the run would end.
    pub async fn crash(&self) {
        assert!(self.number > 0, "the host of the main future cannot crash: the run ends with it");
        self.world.order(self.number, Order::Crash);
        yield_now().await;
    }

    /// Starts a host that is down: the closure that was given to [`Builder::host`](super::Builder::host) is called
    /// again. Does nothing to a host that runs.
    pub fn restart(&self) {
        self.world.order(self.number, Order::Restart);
    }

    /// Stops the host: it takes no turns until [`resume`](Self::resume), as a process that is stopped, or swapped out.
    /// Its peers see silence.
    ///
    /// # Panics
    ///
    /// For the host of the main future, without which the run cannot end.
    pub fn pause(&self) {
        assert!(self.number > 0, "the host of the main future cannot pause: the run ends with it");
        self.world.order(self.number, Order::Pause);
    }

    /// Ends a [`pause`](Self::pause). Timers that were due meanwhile fire at once.
    pub fn resume(&self) {
        self.world.order(self.number, Order::Resume);
    }

    /// Moves the host's time of day ahead. This concerns `colored::time::system_time` and the times of simulated files, and nothing else:
    /// timers and `Instant` are monotonic.
    pub fn step_clock(&self, by: Duration) {
        self.world.step_clock(self.number, i64::try_from(by.as_nanos()).unwrap_or(i64::MAX));
    }

    /// As [`step_clock`](Self::step_clock), back.
    pub fn step_clock_back(&self, by: Duration) {
        self.world.step_clock(self.number, -i64::try_from(by.as_nanos()).unwrap_or(i64::MAX));
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Host").field(&self.name()).finish()
    }
}

/// Begins the quiet phase of the run: what [`Faults`](super::Faults) have cut, stopped and crashed goes on, and no further
/// fault happens. What the program itself has cut, paused or crashed stays so. For a test that first lets faults happen,
/// and then asserts that the system recovers.
///
/// # Panics
///
/// Outside of a simulation.
#[track_caller]
pub fn begin_quiet_phase() {
    run::world().expect("`sim::begin_quiet_phase` outside of a simulation").set_quiet();
}
