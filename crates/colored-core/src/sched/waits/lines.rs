//! Who stands in several lines at once: each `when` that is scheduled, and what it keeps waiting.

use crate::color::Color;
use crate::lane::{Known, LanePtr};
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
    /// Whose it is, if that is known.
    pub(super) task: Option<Named>,
    pub(super) site: &'static Location<'static>,
    /// As the behavior wants them.
    pub(super) spots: Vec<(Spot, Color)>,
    /// Not before it is scheduled.
    pub(super) behavior: Option<Known>,
}

impl Stand {
    pub(super) fn color_of(&self, lane: LanePtr) -> Option<Color> {
        self.spots.iter().find(|(spot, _)| spot.lane == lane).map(|(_, color)| *color)
    }

    /// What it waits for: what it wants and does not have.
    pub(super) fn lacks(&self) -> impl Iterator<Item = (Spot, Color)> {
        let has = |place| self.behavior.is_some_and(|behavior| behavior.has(place));
        let lacks = self.spots.iter().enumerate().filter(move |(place, _)| !has(*place));
        lacks.map(|(_, spot)| *spot)
    }

    /// Others may enter one before it has been scheduled on all its lanes: who gets a lane for it, and who
    /// finds it in a line. Then it keeps others waiting where it has a lane, and nowhere else: when
    /// everything stands still, all that wait for a lane wait for who has it.
    fn knows_its_places(&self) -> bool {
        self.task.is_some()
    }

    /// What was before it is not known.
    fn came_late(&self) -> bool {
        self.spots.iter().any(|(spot, _)| spot.place == 0)
    }
}

/// Those that stand in the line of one lane.
#[derive(Default)]
struct Line {
    /// By their keys. Whether they want the lane together with other readers.
    stands: BTreeMap<u64, bool>,
    /// Those of them that have the lane, and lacked others when they got it: one that has it for itself
    /// alone, or readers.
    having: Vec<u64>,
    /// The latter hold the gate open, and the first behind it does not read.
    is_shut: bool,
}

/// All that stand in lines, by their keys, which grow.
#[derive(Default)]
pub(super) struct Lines {
    stands: HashMap<u64, Stand>,
    keys: HashMap<Known, u64>,
    lines: HashMap<LanePtr, Line>,
}

impl Lines {
    pub(super) fn enter(&mut self, key: u64, stand: Stand) {
        for (spot, _) in &stand.spots {
            self.lines.entry(spot.lane).or_default().stands.insert(key, spot.shared);
        }
        if let Some(behavior) = stand.behavior {
            self.keys.insert(behavior, key);
        }
        self.stands.insert(key, stand);
    }

    /// One that has been entered is about to be scheduled.
    pub(super) fn becomes(&mut self, key: u64, behavior: Known) {
        if let Some(stand) = self.stands.get_mut(&key) {
            stand.behavior = Some(behavior);
            self.keys.insert(behavior, key);
        }
    }

    pub(super) fn key_of(&self, behavior: Known) -> Option<u64> {
        self.keys.get(&behavior).copied()
    }

    /// The behavior of one that is scheduled, and has not begun.
    pub(super) fn behavior(&self, key: u64) -> Option<Known> {
        self.stands.get(&key)?.behavior
    }

    /// Notes which of its lanes it has by now.
    pub(super) fn note_lanes(&mut self, key: u64) {
        let Some(stand) = self.stands.get(&key) else { return };
        let Some(behavior) = stand.behavior else { return };
        for (place, (spot, _)) in stand.spots.iter().enumerate() {
            if behavior.has(place)
                && let Some(line) = self.lines.get_mut(&spot.lane)
                && !line.having.contains(&key)
            {
                line.having.push(key);
            }
        }
    }

    /// Those who have the lane let nobody in any more who only reads. Who they are.
    pub(super) fn shut(&mut self, lane: LanePtr) -> Vec<u64> {
        let Some(line) = self.lines.get_mut(&lane) else { return Vec::new() };
        line.is_shut = !line.having.is_empty();
        line.having.clone()
    }

    /// Whether somebody has the lane who lacked others when it got it.
    pub(super) fn is_had(&self, lane: LanePtr) -> bool {
        self.lines.get(&lane).is_some_and(|line| !line.having.is_empty())
    }

    pub(super) fn leave(&mut self, key: u64) {
        let Some(stand) = self.stands.remove(&key) else { return };
        if let Some(behavior) = stand.behavior {
            self.keys.remove(&behavior);
        }
        for (spot, _) in stand.spots {
            if let Some(line) = self.lines.get_mut(&spot.lane) {
                line.stands.remove(&key);
                line.having.retain(|other| *other != key);
                line.is_shut &= !line.having.is_empty();
                if line.stands.is_empty() {
                    self.lines.remove(&spot.lane);
                }
            }
        }
    }

    pub(super) fn get(&self, key: u64) -> Option<&Stand> {
        self.stands.get(&key)
    }

    /// Those that have to go before a spot: who has the lane, and who is known to be before it in the
    /// line. What is before the last of these that has the lane for itself alone has to go before that,
    /// and is left out.
    pub(super) fn before(&self, spot: Spot) -> Vec<u64> {
        let Some(line) = self.lines.get(&spot.lane) else { return Vec::new() };
        // Readers go in together, unless somebody stands before them who does not read.
        let keeps_out = |key: &u64| !spot.shared || line.is_shut || !line.stands[key];
        let mut before: Vec<u64> = line.having.iter().copied().filter(keeps_out).collect();
        for (key, shared) in line.stands.range(..spot.place).rev() {
            let is_known = self.get(*key).is_some_and(Stand::knows_its_places);
            if !is_known || (*shared && spot.shared) {
                continue;
            }
            if !before.contains(key) {
                before.push(*key);
            }
            if !shared && self.get(*key).is_some_and(|stand| !stand.came_late()) {
                break;
            }
        }
        before
    }
}
