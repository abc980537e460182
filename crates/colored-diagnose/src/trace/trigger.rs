//! [`Trigger`]: why a runtime keeps its records.

/// An event at which a runtime keeps a copy of its records: see `Builder::freeze_on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trigger {
    /// A task has panicked. The copy is made by the thread of the panic, and its last records are those before the poll
    /// that panicked.
    Panic,
    /// A poll is long (`Builder::long_poll`), and goes on.
    LongPoll,
    /// A wait in a section could never end, and is about to become an error.
    Deadlock,
    /// An `Admission` (feature `stage`) has refused or shed work, on a thread that works for the runtime.
    Overload,
}
