//! The settings of one scheduler.

use super::scheduler::Policy;
use crate::kernel::lane::POLL_WEIGHT;
use std::fmt;

/// The settings of one scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Polls in a slice, 1 to 1,000,000. The closure of a post or a call counts a 64th of a poll.
    pub slice_polls: u32,
    /// A slice is one turn: a poll, or a closure. For simulations; the number of polls does not matter then.
    pub single_turns: bool,
    /// Nanoseconds after which a slice ends, 1 µs to 1 s. The worker reads the clock after 8 polls,
    /// and after every poll while polls are slow.
    pub slice_nanos: u64,
    /// Whether workers keep the memory of tasks, callbacks and lanes for reuse.
    pub reuse: bool,
    /// The policy that decides where runnable lanes go, in place of the scheduler.
    pub policy: Option<&'static dyn Policy>,
    /// Spare workers, which take the lanes of workers that stay in one poll for long
    /// ([`Scheduler::want_spares`](super::Scheduler::want_spares)).
    pub spares: usize,
    /// Bytes of each ring of the flight recorder, 4,096 to 2³⁰; used are the largest power of two in it. A ring has no
    /// memory before the scheduler records.
    pub trace_bytes: usize,
}

/// Polls in a slice.
///
/// `benches/ratio.rs`, `yield_many`: 39 ns with 8, 37 ns with 64 and with 256; the wait behind a
/// saturated color grows with it.
const SLICE_POLLS: u32 = 64;

/// Nanoseconds after which a slice ends even with polls left.
///
/// `benches/ratio.rs`, `makespan`: 50, 200 and 1000 µs do not differ beyond the noise.
const SLICE_NANOS: u64 = 200_000;

/// Bytes of a ring: 32,768 records. An interpreter takes minutes to make so large a one.
const TRACE_BYTES: usize = if cfg!(miri) { 4 << 10 } else { 1 << 20 };

impl Default for Options {
    fn default() -> Self {
        let (slice_polls, slice_nanos) = (SLICE_POLLS, SLICE_NANOS);
        let trace_bytes = TRACE_BYTES;
        Self {
            slice_polls,
            single_turns: false,
            slice_nanos,
            reuse: true,
            policy: None,
            spares: 0,
            trace_bytes,
        }
    }
}

/// A setting that is out of range: the given value, and the allowed ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsuitable(String);

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsuitable {}

const MAX_POLLS: u32 = 1_000_000;
const RING_BYTES: std::ops::RangeInclusive<usize> = 1 << 12..=1 << 30;
const NANOS: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;

impl Options {
    /// How much the turns of a slice weigh together.
    pub(super) fn slice_weight(&self) -> i64 {
        if self.single_turns { 1 } else { i64::from(self.slice_polls) * POLL_WEIGHT }
    }

    /// Checks that all settings are in range.
    ///
    /// # Errors
    ///
    /// If a setting is out of range. The error names the given value and the allowed ones.
    pub fn check(&self) -> Result<(), Unsuitable> {
        let Self { slice_polls, slice_nanos, trace_bytes, .. } = *self;
        if !(1..=MAX_POLLS).contains(&slice_polls) {
            let text = format!("slice({slice_polls}, ..): allowed are 1 to {MAX_POLLS} polls");
            return Err(Unsuitable(text));
        }
        if !NANOS.contains(&slice_nanos) {
            let text = format!("slice(.., {slice_nanos} ns): allowed are 1 µs to 1 s");
            return Err(Unsuitable(text));
        }
        if !RING_BYTES.contains(&trace_bytes) {
            let (least, most) = RING_BYTES.into_inner();
            let text = format!(
                "trace_bytes({trace_bytes}): allowed are {least} to {most}; leave it out for {TRACE_BYTES}"
            );
            return Err(Unsuitable(text));
        }
        Ok(())
    }
}
