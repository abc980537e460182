//! [`Job`]: a closure for a thread of the pool, and where it comes from.

use std::panic::Location;
use std::time::Instant;

use crate::wall;

/// A job of a thread of the pool.
pub(crate) struct Job {
    site: &'static Location<'static>,
    run: Box<dyn FnOnce() + Send>,
}

impl Job {
    /// A job that the caller makes.
    #[track_caller]
    pub(crate) fn new(run: impl FnOnce() + Send + 'static) -> Self {
        Self { site: Location::caller(), run: Box::new(run) }
    }

    /// Another job that the same place has made.
    pub(crate) fn with(self, run: impl FnOnce(Job) + Send + 'static) -> Self {
        Self { site: self.site, run: Box::new(move || run(self)) }
    }

    pub(crate) fn run(self) {
        (self.run)();
    }

    /// The call that begins now.
    pub(super) fn call(&self) -> Call {
        Call { site: self.site, since: wall::now() }
    }
}

/// A job that a thread runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Where the job was made.
    pub(crate) site: &'static Location<'static>,
    pub(crate) since: Instant,
}
