//! What a thread that makes a run shows to `colored-sim-libc`: the time, and random numbers.
//!
//! It is read inside functions of the C library, which allocators call. So the thread-local is a constant at first, has no
//! destructor, and nothing here allocates or panics.

use std::cell::Cell;

/// The clock and the random numbers of a run.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    nanos: u64,
    /// The state of a SplitMix64, by Steele, Lea and Flood.
    random: u64,
}

thread_local!(static SOURCE: Cell<Option<Source>> = const { Cell::new(None) });

/// This thread begins a run of that seed.
pub fn begin(seed: u64) {
    // Other numbers than those that the run draws itself.
    SOURCE.set(Some(Source { nanos: 0, random: !seed }));
}

/// This thread's run is over.
pub fn end() {
    SOURCE.set(None);
}

/// Takes what the thread shows, for another thread that goes on with the run.
#[must_use]
pub fn take() -> Option<Source> {
    SOURCE.replace(None)
}

/// This thread goes on with a run.
pub fn go_on(source: Option<Source>) {
    SOURCE.set(source);
}

/// The clock of the run shows this time, in nanoseconds since its begin.
pub fn set_time(nanos: u64) {
    SOURCE.set(SOURCE.get().map(|source| Source { nanos, ..source }));
}

/// The time of the run, in nanoseconds since its begin. None on a thread that makes no run.
#[must_use]
pub fn time() -> Option<u64> {
    SOURCE.get().map(|source| source.nanos)
}

/// A random byte by the seed. None on a thread that makes no run.
#[must_use]
pub fn random_byte() -> Option<u8> {
    let source = SOURCE.get()?;
    let random = source.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    SOURCE.set(Some(Source { random, ..source }));
    Some((mix(random) >> 56) as u8)
}

/// The output of a SplitMix64 in that state.
pub(crate) fn mix(state: u64) -> u64 {
    let mut mixed = state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::{begin, end, random_byte, set_time, time};

    #[test]
    fn a_thread_without_a_run_has_neither() {
        assert_eq!((time(), random_byte()), (None, None));
        set_time(4);
        assert_eq!(time(), None);
    }

    #[test]
    fn a_seed_gives_the_same_bytes_again() {
        let bytes = |seed| {
            begin(seed);
            let bytes: Vec<_> = (0..40).map(|_| random_byte().unwrap()).collect();
            set_time(7);
            assert_eq!(time(), Some(7));
            end();
            bytes
        };
        assert_eq!(bytes(3), bytes(3));
        assert_ne!(bytes(3), bytes(4));
        assert_eq!(time(), None);
    }
}
