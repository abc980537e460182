//! How many workers a runtime has.

/// The numbers of workers.
///
/// A worker has a wheel, and perhaps a shard, of its own, and stays. Spare workers join and leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) workers: usize,
    /// For long polls.
    pub(crate) spares: usize,
}
