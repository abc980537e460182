//! Choices that the runtime makes by chance: a simulation makes them by its seed.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    /// The state of a SplitMix64; 0 before the first draw.
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// A number below `bound`, which is not zero.
#[inline]
pub(crate) fn below(bound: u32) -> u32 {
    #[cfg(feature = "sim")]
    if let Some(drawn) = colored_sim::sim::drawn_below(bound) {
        return drawn;
    }
    draw(bound)
}

/// The bias is below `bound / 2³²`.
fn draw(bound: u32) -> u32 {
    let last = match STATE.get() {
        0 => RandomState::new().hash_one(0) | 1,
        state => state,
    };
    let state = last.wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    let high = mix(state) >> 32;
    ((high * u64::from(bound)) >> 32) as u32
}

/// The output of a SplitMix64 in that state, by Steele, Lea and Flood.
fn mix(state: u64) -> u64 {
    let mut mixed = state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A wait that tokio ends, with others, in an order that it draws: in a simulation, one that the simulation draws.
pub(crate) fn in_order<F: Future>(future: F) -> impl Future<Output = F::Output> {
    #[cfg(feature = "sim")]
    let future = colored_sim::wakes::in_order(future);
    future
}

/// Runs `f`, which may end such waits.
#[inline]
pub(crate) fn releasing<R>(f: impl FnOnce() -> R) -> R {
    let result = f();
    drop(Releases);
    result
}

/// Such waits may end before this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Releases;

impl Drop for Releases {
    #[inline]
    fn drop(&mut self) {
        #[cfg(feature = "sim")]
        colored_sim::wakes::release();
    }
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn each_number_is_drawn_about_as_often() {
        let mut counts = [0; 5];
        for _ in 0..10_000 {
            counts[below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (1700..2300).contains(count)), "{counts:?}");
        assert_eq!(below(1), 0);
    }
}
