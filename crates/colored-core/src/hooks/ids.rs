//! Numbers of ids and unique colors that are the same in a run and its replay.

#[cfg(feature = "record")]
static NAMER: std::sync::OnceLock<fn() -> Option<u64>> = std::sync::OnceLock::new();

/// Asks `namer` from now on: it answers with a number that follows from what this thread runs, and that no other thing has.
#[cfg(feature = "record")]
pub(crate) fn ask(namer: fn() -> Option<u64>) {
    NAMER.get_or_init(|| namer);
}

/// The number for the next id or color of this thread, if it runs something that is recorded or replayed.
#[inline]
pub(crate) fn next() -> Option<u64> {
    #[cfg(feature = "record")]
    return NAMER.get().and_then(|namer| namer());
    #[cfg(not(feature = "record"))]
    None
}
