//! The part of the scheduler that readers need.

/// The scheduler of lanes that readers read.
pub(crate) trait HasWorkers {
    /// How many lanes may run at once, if idle workers find the lanes that wait elsewhere; else any number.
    fn lanes_at_once(&self) -> usize;
}
