//! [`Unstarted`]: a runtime that has no threads yet. The builder makes it.

use super::handle::Handle;
use crate::thread_settings::ThreadSettings;
use colored_core::Worker;

/// What runs the workers of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A thread each; a reactor thread checks them.
    Threaded,
    /// A loop of the program. There is no reactor thread: the worker looks for deadlocks, in its turns.
    Embedded,
    /// One thread, in the order that a simulation chooses; the clock moves when nothing is runnable.
    Simulated,
}

/// A runtime whose threads have not been started.
pub(super) struct Unstarted {
    pub(super) handle: Handle,
    /// The workers, then the spare ones.
    pub(super) workers: Vec<Worker>,
    pub(super) name: String,
    pub(super) thread_settings: ThreadSettings,
}
