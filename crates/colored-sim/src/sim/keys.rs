//! How many of std's hashers a thread has made with random keys: a `HashMap` with such a hasher has another order in each run.

use std::hash::RandomState;
use std::mem::{size_of, transmute_copy};

/// The keys of the next hasher of this thread. std draws them once a thread, and then adds one to one of the two for each
/// hasher, this one included.
pub(super) fn next() -> Option<[u64; 2]> {
    if size_of::<RandomState>() != size_of::<[u64; 2]>() {
        return None;
    }
    let state = RandomState::new();
    // SAFETY: the sizes are equal, so all that is read belongs to `state`. `RandomState` is two integers without padding, of
    // which every value is one of `u64`. It has no destructor, so the copy is not a second owner.
    Some(unsafe { transmute_copy::<RandomState, [u64; 2]>(&state) })
}

/// How many hashers were made between two calls of [`next`] on one thread. 0 if that cannot be known.
pub(super) fn made_between(first: Option<[u64; 2]>, second: Option<[u64; 2]>) -> u64 {
    let (Some(first), Some(second)) = (first, second) else { return 0 };
    let steps = [0, 1].map(|at| second[at].wrapping_sub(first[at]));
    match steps {
        [0, steps] | [steps, 0] if steps < u64::from(u32::MAX) => steps.saturating_sub(1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{made_between, next};
    use std::collections::{BTreeMap, HashMap};

    #[test]
    fn each_hasher_is_counted() {
        let first = next();
        let _tree: BTreeMap<u32, u32> = BTreeMap::new();
        let second = next();
        assert_eq!(made_between(first, second), 0);
        let maps: [HashMap<u32, u32>; 3] = Default::default();
        assert_eq!(made_between(second, next()), 3, "{maps:?}");
    }
}
