//! What a thread that makes a run shows to `colored-sim-libc`: the time, and random numbers.
//!
//! It is read inside functions of the C library, which allocators call. So the thread-local is a constant at first, has no
//! destructor, and nothing here allocates or panics.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The clock and the random numbers of a run.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    nanos: u64,
    /// The state of a SplitMix64, by Steele, Lea and Flood.
    random: u64,
}

/// What a thread shows. Without a run it is all zeros: nothing of one is left.
#[derive(Clone, Copy)]
struct Shown {
    is_on: bool,
    source: Source,
}

impl Shown {
    const NOTHING: Self = Self { is_on: false, source: Source { nanos: 0, random: 0 } };

    fn source(self) -> Option<Source> {
        self.is_on.then_some(self.source)
    }
}

thread_local!(static SHOWN: Cell<Shown> = const { Cell::new(Shown::NOTHING) });

fn show(source: Source) {
    SHOWN.set(Shown { is_on: true, source });
}

/// This thread begins a run of that seed.
pub fn begin(seed: u64) {
    // Other numbers than those that the run draws itself.
    show(Source { nanos: 0, random: !seed });
}

/// This thread's run is over.
pub fn end() {
    SHOWN.set(Shown::NOTHING);
}

/// Takes what the thread shows, for another thread that goes on with the run.
#[must_use]
pub fn take() -> Option<Source> {
    SHOWN.replace(Shown::NOTHING).source()
}

/// This thread goes on with a run.
pub fn go_on(source: Option<Source>) {
    source.map_or_else(end, show);
}

/// The clock of the run shows this time, in nanoseconds since its begin.
pub fn set_time(nanos: u64) {
    if let Some(source) = SHOWN.get().source() {
        show(Source { nanos, ..source });
    }
}

/// The time of the run, in nanoseconds since its begin. None on a thread that makes no run.
#[must_use]
pub fn time() -> Option<u64> {
    SHOWN.get().source().map(|source| source.nanos)
}

/// Whether random numbers are this crate's, in some run of the process.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Whether a run has asked for a random byte: then `colored-sim-libc` is there.
#[must_use]
pub fn is_asked_for_bytes() -> bool {
    // Ordering: a run that has asked on this thread has stored it here.
    IS_ASKED.load(Ordering::Relaxed)
}

/// A random byte by the seed. None on a thread that makes no run.
#[must_use]
pub fn random_byte() -> Option<u8> {
    let source = SHOWN.get().source()?;
    // Ordering: as above.
    IS_ASKED.store(true, Ordering::Relaxed);
    let random = source.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    show(Source { random, ..source });
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
