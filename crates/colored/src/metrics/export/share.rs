//! [`Share`]: what one runtime has added to the values of the recorder, which the runtimes of a process have in common.

use super::names;
use ::metrics::{Key, Label, counter, gauge};
use std::collections::HashMap;

/// The part of each value that is this runtime's. A recorder keeps the largest of the numbers that a counter is set to, and
/// the last of a gauge: so the runtimes add their differences.
#[derive(Debug, Default)]
pub(super) struct Share {
    counts: HashMap<&'static str, u64>,
    gauges: HashMap<Key, f64>,
}

impl Share {
    /// The runtime has counted up to `now`.
    pub(super) fn count(&mut self, name: &'static str, now: u64) {
        let before = self.counts.entry(name).or_default();
        counter!(name).increment(now.saturating_sub(*before));
        *before = now.max(*before);
    }

    /// The part of the runtime is `now`.
    pub(super) fn set(&mut self, name: &'static str, labels: Vec<Label>, now: f64) {
        let before = self.gauges.entry(Key::from_parts(name, labels.clone())).or_default();
        gauge!(name, labels).increment(now - *before);
        *before = now;
    }
}

/// The levels of a runtime that nobody publishes any more are no part of the values.
impl Drop for Share {
    fn drop(&mut self) {
        for (key, part) in self.gauges.drain() {
            if names::LEVELS.contains(&key.name()) {
                let labels: Vec<_> = key.labels().cloned().collect();
                gauge!(key.name().to_owned(), labels).decrement(part);
            }
        }
    }
}
