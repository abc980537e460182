//! The world: regions in a square that has no edge, and the ticks of all.

use crate::region::{Region, Side, meet};
use colored::{Color, ColorCell, JoinError, JoinHandle, spawn_here, when, yield_now};
use std::collections::VecDeque;

/// How many ticks may be under way. More only take memory.
const AHEAD: usize = 4;

/// How large a world is, and how long it lives.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) ticks: usize,
    /// The square of this is the number of regions.
    pub(crate) side: usize,
    /// For each region, at first.
    pub(crate) creatures: usize,
}

/// What is in a world.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Census {
    pub(crate) creatures: usize,
    pub(crate) coins: u64,
    /// How often a creature went to another region.
    pub(crate) crossed: u64,
    /// Of every creature and its place, in their order.
    pub(crate) checksum: u64,
}

struct World {
    side: usize,
    regions: Vec<ColorCell<Region>>,
}

/// Makes a world, and lives in it to the last tick.
pub(crate) async fn live(plan: Plan) -> Result<Census, JoinError> {
    let Plan { ticks, side, creatures } = plan;
    let region = |n| ColorCell::new(Color::unique(), Region::new(n * creatures, creatures));
    let world = World { side, regions: (0..side * side).map(region).collect() };

    let mut under_way = VecDeque::new();
    for _ in 0..ticks {
        under_way.push_back(world.tick());
        // The borders have this color too, so they are scheduled now, before the steps of the next tick.
        yield_now().await;
        if under_way.len() == AHEAD {
            for border in under_way.pop_front().into_iter().flatten() {
                border.await?;
            }
        }
    }
    for border in under_way.into_iter().flatten() {
        border.await?;
    }
    Ok(world.census().await)
}

impl World {
    /// One step for each region, and then its borders.
    fn tick(&self) -> Vec<JoinHandle<()>> {
        for region in &self.regions {
            region.post(Region::step);
        }
        let border = |(a, b, side): (&ColorCell<Region>, &ColorCell<Region>, Side)| {
            let (a, b) = (a.clone(), b.clone());
            spawn_here(async move { when((&a, &b), move |a, b| meet(a, b, side)).await })
        };
        self.borders().map(border).collect()
    }

    /// The eastern and the southern border of each region, with the region beyond.
    fn borders(&self) -> impl Iterator<Item = (&ColorCell<Region>, &ColorCell<Region>, Side)> {
        let at = |x, y| &self.regions[y % self.side * self.side + x % self.side];
        let places = (0..self.side).flat_map(|y| (0..self.side).map(move |x| (x, y)));
        places.flat_map(move |(x, y)| {
            [(at(x, y), at(x + 1, y), Side::East), (at(x, y), at(x, y + 1), Side::South)]
        })
    }

    /// When nothing is scheduled any more.
    async fn census(&self) -> Census {
        let mut all = Census::default();
        for region in &self.regions {
            all = region.call(move |region| region.count(all)).await;
        }
        all
    }
}
