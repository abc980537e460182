//! [`Parts`]: what the builder makes.

use super::handle::Handle;
use super::worker_hooks::WorkerHooks;
use crate::launch::Launch;
use colored_core::Worker;

/// Everything of a runtime but its threads.
pub(super) struct Parts {
    pub(super) handle: Handle,
    /// The workers, then the spare ones.
    pub(super) workers: Vec<Worker>,
    pub(super) name: String,
    pub(super) launch: Launch,
    pub(super) hooks: WorkerHooks,
}
