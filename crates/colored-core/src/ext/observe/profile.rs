//! A worker's samples of where its time goes, and the sums that retired lanes have left.
//!
//! While nothing is recorded, a worker charges its time, some 50 µs at once, to the color and the place of the spawn
//! that it runs at the end of that time. A poll that is longer is charged by itself.

use crate::ext::sketch::{Nothing, Sketch};
use crate::ext::usage::Usage;
use crate::kernel::color::Color;
use std::panic::Location;
use std::ptr;
use std::time::Duration;

/// Colors that a worker has sums for. An error is at most a 128th of the worker's time.
const COLORS: usize = 128;

/// Places of spawns that a worker has sums for.
const SITES: usize = 128;

/// Nanoseconds that are charged at once.
pub(crate) const CHARGED_NANOS: u64 = 50_000;

/// A place of a spawn, and whether the tasks ran under the default color. Places are equal if they are one place in
/// memory: a comparison of names would cost more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) spawned: Option<&'static Location<'static>>,
    pub(crate) is_default: bool,
}

impl PartialEq for Site {
    fn eq(&self, other: &Self) -> bool {
        let address = |site: &Self| site.spawned.map(ptr::from_ref);
        self.is_default == other.is_default && address(self) == address(other)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// By run time; beside it the usage without the run time.
    pub(crate) colors: Sketch<Color, Usage>,
    pub(crate) sites: Sketch<Site>,
    /// What colors that are gone have used while the scheduler recorded, and that are not among the others: unique ones,
    /// and those that have lost their places.
    pub(crate) retired: Usage,
}

impl Profile {
    pub(crate) const fn new() -> Self {
        Self { colors: Sketch::new(COLORS), sites: Sketch::new(SITES), retired: Usage::NONE }
    }
}

impl Profile {
    /// Adds what a lane has used.
    pub(crate) fn add(&mut self, color: Color, usage: Usage) {
        let usage = Usage { depth: 0, ..usage };
        if color.is_unique() {
            self.retired += usage;
            return;
        }
        let run = u64::try_from(usage.run.as_nanos()).unwrap_or(u64::MAX);
        let rest = Usage { run: Duration::ZERO, ..usage };
        if let Some(displaced) = self.colors.add(color, run, rest) {
            self.retired += displaced;
        }
    }

    /// A worker was so many nanoseconds in tasks of this color, spawned there.
    pub(crate) fn charge(&mut self, site: Site, color: Option<Color>, nanos: u64) {
        self.sites.add(site, nanos, Nothing);
        if let Some(color) = color {
            self.add(color, Usage { run: Duration::from_nanos(nanos), ..Usage::NONE });
        }
    }
}
