//! [`Unstarted`]: a runtime that has no threads yet. The builder makes it.

use super::handle::Handle;
use super::worker_hooks::WorkerHooks;
use crate::thread_settings::ThreadSettings;
use colored_core::Worker;

/// A runtime whose threads have not been started.
pub(super) struct Unstarted {
    pub(super) handle: Handle,
    /// The workers, then the spare ones.
    pub(super) workers: Vec<Worker>,
    pub(super) name: String,
    pub(super) thread_settings: ThreadSettings,
    pub(super) hooks: WorkerHooks,
}
