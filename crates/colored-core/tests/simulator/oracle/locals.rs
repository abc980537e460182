//! The colors' own values: each is made once, moves with its color, and is dropped with it.

use super::classes::Urgency;
use super::{Entry, Hue, Oracle};

impl Oracle {
    /// A color makes its value.
    pub(crate) fn local_made(&mut self, hue: Hue) {
        if self.lanes.get_mut(hue).local.replace(0).is_some() {
            self.violated("local", format!("color {hue} makes a second value"));
        }
        self.tally.locals += 1;
    }

    /// A color uses its value. The value names `of` as its color, and `found` as the number of its uses.
    pub(crate) fn local_used(&mut self, hue: Hue, of: Hue, found: u64) {
        let before = self.lanes.get_mut(hue).local.replace(found + 1);
        if of != hue || before != Some(found) {
            let what = format!(
                "color {hue} has a value of color {of} that was used {found} times, not {before:?}"
            );
            self.violated("local", what);
        }
    }

    /// A color uses its second value. By the first value this is the `n`th time, by the second the `other`th.
    pub(crate) fn charm_used(&mut self, hue: Hue, n: u64, other: u64) {
        if n != other {
            let what = format!("color {hue} has a charm that was used {n} times, not {other}");
            self.violated("local", what);
        }
    }

    /// The value of a color is dropped: nothing refers to the color, or the scheduler ends.
    pub(crate) fn local_drops(&mut self, hue: Hue, found: u64) {
        self.end_has_passed(hue);
        self.exclude(hue, Entry::Values);
        let lane = self.lanes.get(hue);
        let (local, in_use) = (lane.local, lane.is_referenced());
        if local != Some(found) {
            let what = format!("color {hue} drops a value used {found} times, not {local:?}");
            self.violated("local", what);
        }
        if in_use && !self.closing {
            self.violated("local", format!("color {hue} is in use, and drops its value"));
        }
        self.hold(hue, Entry::Values, Urgency::None);
    }

    pub(crate) fn local_dropped(&mut self, hue: Hue) {
        self.lanes.get_mut(hue).local = None;
        self.tally.locals_dropped += 1;
        self.turn_ends(hue);
    }

    /// The end of a color's values has had its turn. It may have found the color in use again.
    pub(super) fn end_has_passed(&mut self, hue: Hue) {
        if self.lanes.take_end(hue) {
            self.count(hue);
        }
    }
}
