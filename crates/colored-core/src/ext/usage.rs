//! [`Usage`]: what a color, or several, have used of the workers, and how long their work has waited.

use std::ops::{Add, AddAssign};
use std::time::Duration;

/// What a color, or several, have used of the workers, and how long their work has waited.
///
/// Without a recording ([`Options`](crate::Options)) the times are samples: a worker charges the time between two looks
/// at its clock, some microseconds, to the color that runs at the second one. The sums over many polls are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The time in which a worker ran polls and callbacks of the color. A closure of a [`when`](crate::when()) counts for
    /// each of its colors, and a call that runs at once inside a task of another color for the cell's color, but for the
    /// caller's in samples.
    pub run: Duration,
    /// The time in which a task that waited, or a [`when`](crate::when()) that waited for others of its colors, kept the
    /// color: nothing else of it could run. Measured while the runtime records.
    pub kept: Duration,
    /// The time that tasks and callbacks waited while the color ran others, or was kept: the sum over all of them.
    /// Measured while the runtime records.
    pub wait_color: Duration,
    /// The time that tasks and callbacks waited for a worker while the color did nothing: the sum over all of them.
    /// Measured while the runtime records.
    pub wait_cpu: Duration,
    /// Turns whose waits are in the two sums.
    pub waits: u64,
    /// Turns: polls of tasks and runs of callbacks.
    pub turns: u64,
    /// Slices: the times that a worker took the color and ran some turns.
    pub slices: u64,
    /// Slices on another worker than the one before.
    pub moves: u64,
    /// Tasks and callbacks that are scheduled and have been scheduled while the runtime recorded.
    pub depth: u64,
    /// The largest depth that the begin of a slice has found.
    pub max_depth: u64,
}

impl Usage {
    pub(crate) const NONE: Self = Self {
        run: Duration::ZERO,
        kept: Duration::ZERO,
        wait_color: Duration::ZERO,
        wait_cpu: Duration::ZERO,
        waits: 0,
        turns: 0,
        slices: 0,
        moves: 0,
        depth: 0,
        max_depth: 0,
    };

    /// What has been added since `earlier`. The depth is that of `self`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            run: self.run.saturating_sub(earlier.run),
            kept: self.kept.saturating_sub(earlier.kept),
            wait_color: self.wait_color.saturating_sub(earlier.wait_color),
            wait_cpu: self.wait_cpu.saturating_sub(earlier.wait_cpu),
            waits: self.waits.saturating_sub(earlier.waits),
            turns: self.turns.saturating_sub(earlier.turns),
            slices: self.slices.saturating_sub(earlier.slices),
            moves: self.moves.saturating_sub(earlier.moves),
            depth: self.depth,
            max_depth: self.max_depth,
        }
    }

    /// The time in which nothing else of the color could run.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.run + self.kept
    }
}

impl Add for Usage {
    type Output = Self;

    /// The sums, and the larger of the largest depths.
    fn add(self, other: Self) -> Self {
        Self {
            run: self.run + other.run,
            kept: self.kept + other.kept,
            wait_color: self.wait_color + other.wait_color,
            wait_cpu: self.wait_cpu + other.wait_cpu,
            waits: self.waits + other.waits,
            turns: self.turns + other.turns,
            slices: self.slices + other.slices,
            moves: self.moves + other.moves,
            depth: self.depth + other.depth,
            max_depth: self.max_depth.max(other.max_depth),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
