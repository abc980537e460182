//! Who stands in several lines at once: each `when` that is scheduled, and what it keeps waiting.

use crate::color::Color;
use crate::lane::LanePtr;
use crate::task::Named;
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;

/// The line of a lane, as somebody wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    pub(super) lane: LanePtr,
    /// Together with other readers.
    pub(super) shared: bool,
    /// What is entered later is not before it. 0 if that is not known of anything.
    pub(super) place: u64,
}

/// A closure that stands in the lines of some lanes, and has not begun.
pub(super) struct Stand {
    pub(super) task: Named,
    pub(super) site: &'static Location<'static>,
    pub(super) spots: Vec<(Spot, Color)>,
}

impl Stand {
    pub(super) fn color_of(&self, lane: LanePtr) -> Option<Color> {
        self.spots.iter().find(|(spot, _)| spot.lane == lane).map(|(_, color)| *color)
    }

    /// What was before it is not known.
    fn came_late(&self) -> bool {
        self.spots.iter().any(|(spot, _)| spot.place == 0)
    }
}

/// All that stand in lines, by their keys, which grow.
#[derive(Default)]
pub(super) struct Lines {
    stands: HashMap<u64, Stand>,
    /// Whether it wants that lane together with other readers.
    lines: HashMap<LanePtr, BTreeMap<u64, bool>>,
}

impl Lines {
    pub(super) fn enter(&mut self, key: u64, stand: Stand) {
        for (spot, _) in &stand.spots {
            self.lines.entry(spot.lane).or_default().insert(key, spot.shared);
        }
        self.stands.insert(key, stand);
    }

    pub(super) fn leave(&mut self, key: u64) {
        let Some(stand) = self.stands.remove(&key) else { return };
        for (spot, _) in stand.spots {
            if let Some(line) = self.lines.get_mut(&spot.lane) {
                line.remove(&key);
                if line.is_empty() {
                    self.lines.remove(&spot.lane);
                }
            }
        }
    }

    pub(super) fn get(&self, key: u64) -> Option<&Stand> {
        self.stands.get(&key)
    }

    /// Those before a spot that have to go first. What is before the last of them that has the lane
    /// for itself alone has to go before that, and is left out.
    pub(super) fn before(&self, spot: Spot) -> Vec<u64> {
        let mut before = Vec::new();
        let line = self.lines.get(&spot.lane);
        for (key, shared) in line.into_iter().flat_map(|line| line.range(..spot.place).rev()) {
            // Readers go in together.
            if *shared && spot.shared {
                continue;
            }
            before.push(*key);
            if !shared && self.get(*key).is_some_and(|stand| !stand.came_late()) {
                break;
            }
        }
        before
    }
}
