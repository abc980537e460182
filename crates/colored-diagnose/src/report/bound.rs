//! [`Bound`]: by how much the load can grow, and what the split of a color gives at most.

use super::digest::{ColorLoad, Digest, QUEUE};
use colored_core::Color;

/// What limits the program first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// A color: it runs one thing at a time.
    Color(Color),
    /// The workers, or the CPUs, if these are fewer.
    Cpus,
}

/// By how much a load can grow, and what is full then.
///
/// A color that was busy for the time `R` out of `T` is full after a growth by `T / R`; `P` workers that ran for the
/// time `W` together are full after a growth by `P * T / W`. The smaller one is the ceiling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// By which factor the load can grow, 1 or more.
    pub(super) ceiling: f64,
    /// What is full then. None without a load.
    pub(super) limit: Option<Limit>,
}

/// The color with the least room, and the share of the time in which it has none; but for these colors.
pub(super) fn fullest(digest: &Digest<'_>, split: &[Color]) -> Option<(Color, f64)> {
    let others = digest.colors.iter().filter(|load| !split.contains(&load.color));
    let fullest = others.map(|load| (load.color, taken(digest, load)));
    fullest.max_by(|(_, one), (_, other)| one.total_cmp(other)).filter(|(_, taken)| *taken > 0.0)
}

/// The share of the time in which the color has no room. What keeps a color for which nothing waits may itself wait, as a
/// `when` does that has one of its cells and waits for another: with more load it need not keep it for longer.
fn taken(digest: &Digest<'_>, load: &ColorLoad) -> f64 {
    if load.queue >= QUEUE { load.busy } else { digest.share(load.usage.run) }
}

impl Bound {
    /// The ceiling if these colors ran in any number of parts at a time. Without such colors, it is the ceiling of the
    /// program as it is; with a color, no schedule of the same work is shorter than the observation by a larger factor.
    pub(super) fn without(digest: &Digest<'_>, split: &[Color]) -> Self {
        let load = digest.demand();
        let cpus = if load > 0.0 { 1.0 / load } else { f64::INFINITY };
        match fullest(digest, split) {
            Some((color, taken)) if 1.0 / taken < cpus => {
                Self { ceiling: (1.0 / taken).max(1.0), limit: Some(Limit::Color(color)) }
            }
            _ if load > 0.0 => Self { ceiling: cpus, limit: Some(Limit::Cpus) },
            _ => Self { ceiling: f64::INFINITY, limit: None },
        }
    }
}
