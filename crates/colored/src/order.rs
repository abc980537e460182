//! What a record has of this layer: the clock, timers, and what it does not cover.

use colored_core::port::order::{Mark, Value, answer, is_ordered, note, number, told};
pub(crate) use colored_core::port::refuse;
use std::task::Poll;

/// The nanoseconds of a clock: in a replay, the recorded ones. `None` where nothing is recorded or replayed.
pub(crate) fn clock(read: impl FnOnce() -> u64) -> Option<u64> {
    is_ordered().then(|| number(Value::Clock, read))
}

/// A number that `draw` draws: in a replay, the recorded one.
#[inline]
pub(crate) fn choice(draw: impl FnOnce() -> u32) -> u32 {
    if is_ordered() { number(Value::Random, || draw().into()) as u32 } else { draw() }
}

/// A poll of a timer: in a replay, no timer runs.
pub(crate) fn timer(poll: impl FnOnce() -> Poll<()>) -> Poll<()> {
    match told(Mark::Timer) {
        Some(true) => Poll::Ready(()),
        Some(false) => Poll::Pending,
        None => {
            let polled = poll();
            note(Mark::Timer, polled.is_ready());
            polled
        }
    }
}

/// Whether a timer has come.
pub(crate) fn has_come(ask: impl FnOnce() -> bool) -> bool {
    answer(Mark::Timer, ask)
}
