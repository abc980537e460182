//! The fencing token of an owner.
//!
//! Neither of Kafka's own counts is one. The generation of a group begins near 1 again when the group is deleted or expires, or
//! changes its protocol while it has no members, and its offsets may stay. A counter beside the offsets goes with a group that
//! is deleted, and there is no place for it: the metadata of a commit is full of the map, whose format is not ours alone. So
//! the time decides, and it needs clocks: those of two owners must differ by less than the time that the first one has had the
//! partition. Within a process the token rises whatever the clock does.

use crate::context::Client;
use crate::sys;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// So many bits have the generation. They order what two owners get in one millisecond.
const BITS: u32 = 20;

/// The highest token of this process.
static LAST: AtomicU64 = AtomicU64::new(0);

/// The token of partitions that the group assigns now.
pub(crate) fn fencing_token(client: &Client) -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    next(&LAST, token(time.as_millis() as u64, sys::generation(client).unwrap_or(0)))
}

/// Milliseconds since 1970, and below them the low bits of the generation.
fn token(millis: u64, generation: u32) -> u64 {
    millis << BITS | u64::from(generation) & ((1 << BITS) - 1)
}

/// The token, or what follows the last one if that is higher.
fn next(last: &AtomicU64, token: u64) -> u64 {
    // Ordering: a count of its own.
    let before = last.fetch_max(token, Ordering::Relaxed);
    if before < token {
        return token;
    }
    // Ordering: as above.
    last.fetch_add(1, Ordering::Relaxed) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_rises_with_time_and_within_a_millisecond_with_the_generation() {
        let now = 1_790_000_000_000;
        assert!(token(now, 7) < token(now, 8));
        assert!(token(now, u32::MAX) < token(now + 1, 1), "a count that begins again");
        assert!(token(now, u32::MAX) < i64::MAX as u64, "it fits into a column of 64 bits");
        assert!(token(now, 1) > 1 << 60, "above what earlier versions gave");
    }

    #[test]
    fn a_clock_that_goes_back_lowers_no_token_of_a_process() {
        let last = AtomicU64::new(0);
        let tokens = [5, 9, 3, 9, 10, 20].map(|token| next(&last, token));
        assert_eq!(tokens, [5, 9, 10, 11, 12, 20]);
    }
}
