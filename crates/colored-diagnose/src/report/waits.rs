//! [`WaitDigest`]: what the tasks waited for, over all looks of an observation.

use super::text;
use crate::json::Object;
use crate::usage::{KeptColor, WaitGroup, Waits, Window};
use colored_core::Color;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// Fewer looks do not show what is so nearly all the time.
const FEWEST: usize = 4;

/// The lines of a report: the most frequent waits, and the oldest one of the others.
const LINES: usize = 4;

/// Waits of tasks from one place, for the same kind of thing at one place, over an observation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Waiting {
    /// A word for what they waited for, as [`WaitGroup::what`].
    pub what: &'static str,
    /// The words of a text.
    how: &'static str,
    /// The color that they waited for, if it was one that has a name, or the default color.
    pub color: Option<Color>,
    /// Where the program waits, if that is known.
    pub site: Option<&'static Location<'static>>,
    /// Where the tasks were spawned.
    pub spawned: &'static Location<'static>,
    /// How many there were on average.
    pub tasks: f64,
    /// The part of the looks in which there was at least one.
    pub part: f64,
    /// The longest time that one of them had lasted, if that is known.
    pub oldest: Option<Duration>,
    /// Which lock it is.
    pub(super) lock: u32,
    /// Whether the same tasks waited in all looks.
    pub(super) is_same: bool,
}

/// A color that a task kept while others were scheduled under it.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// As it was seen last.
    pub(super) last: KeptColor,
    /// The part of the looks in which this was so.
    pub(super) part: f64,
    /// How many were scheduled, on average.
    pub(super) queued: f64,
    /// Whether one task has kept it all the time, in one section or `when`.
    pub(super) is_same: bool,
    /// The part of these looks in which the keeper waited for a lock.
    pub(super) for_lock: f64,
    /// The place of that lock, as it was seen last.
    pub(super) lock: Option<&'static Location<'static>>,
}

/// The sums over all looks.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitDigest {
    /// How often the tasks were looked at.
    pub(super) looks: usize,
    /// Waits that are alike, the most frequent first.
    pub(super) waiting: Vec<Waiting>,
    /// The waits for locks, by lock.
    pub(super) locks: Vec<Waiting>,
    /// The colors that were kept, the most often first.
    pub(super) kept: Vec<Kept>,
    /// By lock, the part of the looks in which some task waited for it.
    parts: HashMap<u32, f64>,
    /// Where a task of a unique color was spawned.
    unique: HashMap<Color, &'static Location<'static>>,
}

/// Fewer tasks on average have just begun to wait, or are about to stop.
const FEW: f64 = 0.05;

/// What the waits of an entry have in common.
type Key = (
    &'static str,
    &'static str,
    Option<Color>,
    Option<&'static Location<'static>>,
    &'static Location<'static>,
    u32,
);

impl WaitDigest {
    pub(super) fn of(windows: &[Window]) -> Self {
        let looks: Vec<&Waits> = windows.iter().flat_map(|window| &window.waits).collect();
        let unique = looks.iter().flat_map(|look| look.unique.iter().copied()).collect();
        let waiting = |of: fn(&Waits) -> &Vec<WaitGroup>| waiting(&looks, of);
        Self {
            looks: looks.len(),
            waiting: waiting(|look| &look.groups),
            locks: waiting(|look| &look.locks),
            kept: kept(&looks),
            parts: parts(&looks),
            unique,
        }
    }

    /// Whether there were enough looks to say what is so nearly all the time.
    pub(super) fn is_enough(&self) -> bool {
        self.looks >= FEWEST
    }

    /// A color as the subject of a sentence: a unique one by the place of a spawn.
    pub(super) fn name(&self, color: Color) -> String {
        match self.unique.get(&color) {
            Some(spawned) => format!("{} (of a task spawned at {spawned})", text::color(color)),
            None => text::color(color),
        }
    }

    /// The part of the looks in which some task waited for this lock.
    pub(super) fn part_of_lock(&self, lock: u32) -> f64 {
        self.parts.get(&lock).copied().unwrap_or(0.0)
    }

    /// How the color was kept.
    pub(super) fn kept(&self, color: Color) -> Option<&Kept> {
        self.kept.iter().find(|kept| kept.last.color == color)
    }

    /// The waits that a report shows: the most frequent ones, and the oldest one.
    pub(super) fn shown(&self) -> Vec<Waiting> {
        let waiting = || self.waiting.iter().filter(|waiting| waiting.tasks >= FEW);
        let mut shown: Vec<_> = waiting().take(LINES - 1).cloned().collect();
        let rest = waiting().skip(LINES - 1);
        shown.extend(rest.max_by_key(|waiting| waiting.oldest).cloned());
        shown
    }
}

fn waiting(looks: &[&Waits], of: fn(&Waits) -> &Vec<WaitGroup>) -> Vec<Waiting> {
    let mut sums: BTreeMap<Key, Vec<&WaitGroup>> = BTreeMap::new();
    for group in looks.iter().flat_map(|look| of(look)) {
        let key = (group.what, group.how, group.color, group.site, group.spawned, group.lock);
        sums.entry(key).or_default().push(group);
    }
    let count = looks.len() as f64;
    let sum = |((what, how, color, site, spawned, lock), groups): (Key, Vec<&WaitGroup>)| Waiting {
        what,
        how,
        color,
        site,
        spawned,
        tasks: groups.iter().map(|group| group.tasks).sum::<u64>() as f64 / count,
        part: groups.len() as f64 / count,
        oldest: groups.iter().filter_map(|group| group.oldest).max(),
        lock,
        is_same: groups.len() == looks.len()
            && groups.windows(2).all(|two| two[0].members == two[1].members),
    };
    let mut all: Vec<Waiting> = sums.into_iter().map(sum).collect();
    all.sort_by(|a, b| b.tasks.total_cmp(&a.tasks).then(b.oldest.cmp(&a.oldest)));
    all
}

fn parts(looks: &[&Waits]) -> HashMap<u32, f64> {
    let mut parts = HashMap::new();
    for look in looks {
        let locks: HashSet<u32> = look.locks.iter().map(|group| group.lock).collect();
        for lock in locks {
            *parts.entry(lock).or_insert(0.0) += 1.0 / looks.len() as f64;
        }
    }
    parts
}

fn kept(looks: &[&Waits]) -> Vec<Kept> {
    let mut sums: BTreeMap<Color, Vec<&KeptColor>> = BTreeMap::new();
    for kept in looks.iter().flat_map(|look| &look.kept) {
        sums.entry(kept.color).or_default().push(kept);
    }
    let count = looks.len() as f64;
    let mut all = Vec::new();
    for seen in sums.into_values() {
        let (first, last) = (seen[0], seen[seen.len() - 1]);
        let is_one = |kept: &&KeptColor| (kept.task, kept.site) == (first.task, first.site);
        let for_lock = seen.iter().filter_map(|kept| kept.waits_for.as_ref());
        let for_lock: Vec<_> = for_lock.filter(|wait| wait.what == "lock").collect();
        all.push(Kept {
            last: last.clone(),
            part: seen.len() as f64 / count,
            queued: seen.iter().map(|kept| kept.queued).sum::<u64>() as f64 / count,
            // A section that began anew would be younger.
            is_same: seen.iter().all(is_one)
                && seen.windows(2).all(|two| two[0].time <= two[1].time),
            for_lock: for_lock.len() as f64 / seen.len() as f64,
            lock: for_lock.last().and_then(|wait| wait.site),
        });
    }
    all.sort_by_key(|kept| (Reverse((kept.part * 1e6) as u64), kept.last.color));
    all
}

impl Waiting {
    pub(super) fn write(&self, object: &mut Object<'_>) {
        object.field("for", self.what);
        object.field("color", self.color.map(|color| color.to_string()).as_ref());
        object.field("site", self.site.map(ToString::to_string).as_ref());
        object.field("spawned", format_args!("{}", self.spawned));
        object.field("tasks", self.tasks);
        object.field("part", self.part);
        object.field("oldest", self.oldest);
    }
}

impl fmt::Display for Waiting {
    /// How many tasks of which place wait for what, and for how long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { how, spawned, tasks, .. } = self;
        let tasks = text::count(*tasks);
        write!(f, "{tasks} spawned at {spawned}: each {how}")?;
        match self.color {
            Some(color) => write!(f, " {color}")?,
            None if matches!(self.what, "colors" | "turn") => f.write_str(" a color")?,
            None => {}
        }
        if let Some(site) = self.site {
            write!(f, ", at {site}")?;
        }
        match self.oldest {
            Some(oldest) => write!(f, "; the longest for {}", text::time(oldest)),
            None => Ok(()),
        }
    }
}
