//! A reference queue per color: who is in it, who runs (G1, G2).

mod turns;

use super::classes::{Class, Urgency};
use super::{CallKey, CellKey};
use crate::slab::Key;
use colored_core::Color;
use std::collections::VecDeque;
use std::fmt;

/// A color, as the simulation numbers them.
pub(crate) type Hue = u32;

/// What waits in a lane, or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A task that is scheduled.
    Task(Key),
    /// A post, by its number.
    Post(u32),
    /// A call that found its color busy.
    Call(CallKey),
    /// A cell's value whose last owner has gone.
    LastOwner(CellKey),
    /// What wants the lane together with others, for itself alone.
    Claim(Key),
    /// What only looks, beside others who do.
    Look(Key),
    /// What ends the values of the color, if nothing refers to it then.
    Values,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Task(key) => write!(f, "task {}", key.slot),
            Entry::Post(number) => write!(f, "post {number}"),
            Entry::Call(key) => write!(f, "call {}", key.slot),
            Entry::LastOwner(key) => write!(f, "the end of cell {}", key.slot),
            Entry::Claim(key) => write!(f, "the claim of behavior {}", key.slot),
            Entry::Look(key) => write!(f, "reader {}", key.slot),
            Entry::Values => f.write_str("the end of its values"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Queued {
    entry: Entry,
    /// Its place is not known: a shutdown may have put it into the queue before.
    soft: bool,
    urgency: Urgency,
}

#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// If the program has looked.
    pub(crate) color: Option<Color>,
    unique: bool,
    /// It can be found by its color.
    pub(crate) published: bool,
    /// The program keeps its color, and may come back to it.
    pub(crate) named: bool,
    queue: VecDeque<Queued>,
    holder: Option<Entry>,
    /// Who look at it right now.
    readers: u32,
    /// Counted as ready.
    counted: bool,
    /// Counted as one that something waits in.
    lined_up: bool,
    pub(crate) tasks: u32,
    pub(crate) cells: u32,
    /// How often the color's own value was used, if it has one.
    pub(super) local: Option<u64>,
    pub(crate) ready: Ready,
    /// The worker that has run it last, if known, while something keeps it.
    home: Option<u32>,
    pub(super) class: Class,
}

/// Since when a lane could run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready {
    now: u64,
    pub(crate) fair: u64,
    slices: u64,
    /// It was made so by a thread that is no worker.
    injected: bool,
    behind: bool,
    /// Lanes in which something waited, and slices in progress.
    ahead: u64,
    /// Lanes that had come from outside before.
    came: u64,
    /// Lanes that had been moved from one worker to another.
    moved: u64,
}

impl Lane {
    /// Whether a worker must come to it. A claim, or a reader, may have had its turn and wait for
    /// something else, and the end of the values may have done nothing: that cannot be seen from
    /// outside.
    fn is_ready(&self) -> bool {
        let queued = self.queue.front().map(|queued| queued.entry);
        let runs = self.holder.is_some() || self.readers > 0;
        !runs && !matches!(queued, None | Some(Entry::Claim(_) | Entry::Look(_) | Entry::Values))
    }

    /// Whether something keeps it.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_referenced() || self.holder.is_some() || self.readers > 0
    }

    /// Whether something refers to it.
    pub(super) fn is_referenced(&self) -> bool {
        self.class.is_named() || self.tasks > 0 || self.cells > 0 || !self.queue.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    free: Vec<Hue>,
    palette: Hue,
    /// How many could run now.
    pub(crate) ready: u32,
    /// In how many something waits, claims and readers too.
    lined_up: u32,
    most_lined_up: u32,
    /// How many have become ready by threads that are no workers.
    came: u64,
    /// How much is scheduled.
    queued: u32,
    most_queued: u32,
}

impl Lanes {
    pub(crate) fn new(palette: Hue) -> Self {
        let lane =
            |hue| Lane { color: Some(plain(hue)), published: true, named: true, ..Lane::default() };
        let lanes = (0..palette).map(lane).collect();
        Self {
            lanes,
            free: Vec::new(),
            palette,
            ready: 0,
            lined_up: 0,
            most_lined_up: 0,
            came: 0,
            queued: 0,
            most_queued: 0,
        }
    }

    pub(super) fn len(&self) -> Hue {
        self.lanes.len() as Hue
    }

    pub(crate) fn get(&self, hue: Hue) -> &Lane {
        &self.lanes[hue as usize]
    }

    pub(crate) fn get_mut(&mut self, hue: Hue) -> &mut Lane {
        &mut self.lanes[hue as usize]
    }

    pub(crate) fn is_plain(&self, hue: Hue) -> bool {
        hue < self.palette
    }

    /// A color that equals no other.
    pub(crate) fn add_unique(&mut self) -> Hue {
        let hue = self.free.pop().unwrap_or_else(|| {
            self.lanes.push(Lane::default());
            Hue::try_from(self.lanes.len() - 1).expect("a small world")
        });
        let lane = self.get_mut(hue);
        let queue = std::mem::take(&mut lane.queue);
        *lane = Lane { unique: true, queue, ..Lane::default() };
        hue
    }

    /// The program has looked at the color of a unique task, which can be found from now on.
    pub(crate) fn name(&mut self, hue: Hue, color: Option<Color>, named: bool) {
        let lane = self.get_mut(hue);
        (lane.color, lane.published, lane.named) = (color, true, named);
    }

    /// Lets go of a color that nothing keeps.
    pub(crate) fn settle(&mut self, hue: Hue) {
        let lane = self.get_mut(hue);
        if lane.is_kept() {
            return;
        }
        lane.home = None;
        // The default color is never without an owner.
        if lane.local.is_some() && hue != 0 {
            lane.queue.push_back(Queued {
                entry: Entry::Values,
                soft: true,
                urgency: Urgency::None,
            });
            self.queued += 1;
            return self.count(hue, Ready::default());
        }
        if !lane.unique {
            return;
        }
        lane.published = false;
        if !lane.named {
            self.free.push(hue);
        }
    }

    /// Colors that are not of the normal class.
    pub(crate) fn classified(&self) -> impl Iterator<Item = Hue> {
        let lanes = self.lanes.iter().enumerate();
        lanes.filter(|(_, lane)| lane.class.is_named()).map(|(hue, _)| hue as Hue)
    }

    /// How many colors a table must have now.
    pub(crate) fn in_table(&self) -> usize {
        let kept = |lane: &&Lane| lane.published && lane.is_kept();
        let default = usize::from(!self.lanes[0].is_kept());
        self.lanes.iter().filter(kept).count() + default
    }

    /// Lanes that have been ready for long, and that any worker may run: color and since when.
    pub(crate) fn ready_lanes(&self) -> impl Iterator<Item = (Hue, &Lane)> {
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| lane.is_ready());
        lanes.map(|(hue, lane)| (hue as Hue, lane))
    }

    /// Takes out what ends the values.
    pub(super) fn take_end(&mut self, hue: Hue) -> bool {
        let queue = &mut self.get_mut(hue).queue;
        let place = queue.iter().position(|queued| queued.entry == Entry::Values);
        let found = place.and_then(|place| queue.remove(place)).is_some();
        self.queued -= u32::from(found);
        found
    }

    pub(super) fn holder(&self, hue: Hue) -> Option<Entry> {
        self.get(hue).holder
    }

    pub(crate) fn readers(&self, hue: Hue) -> u32 {
        self.get(hue).readers
    }

    pub(crate) fn front(&self, hue: Hue) -> Option<Entry> {
        self.get(hue).queue.front().map(|queued| queued.entry)
    }

    /// What waits there, in order.
    pub(super) fn entries(&self, hue: Hue) -> impl Iterator<Item = Entry> {
        self.get(hue).queue.iter().map(|queued| queued.entry)
    }

    pub(crate) fn some_queued(&self) -> Option<Entry> {
        self.lanes.iter().find_map(|lane| lane.queue.front()).map(|queued| queued.entry)
    }

    /// A lane may have become ready, or be so no more.
    fn count(&mut self, hue: Hue, now: Ready) {
        let lane = &mut self.lanes[hue as usize];
        let lined_up = !lane.queue.is_empty();
        let before = std::mem::replace(&mut lane.lined_up, lined_up);
        let ready = lane.is_ready();
        let counted = std::mem::replace(&mut lane.counted, ready);
        if ready && !counted {
            lane.ready = now;
            self.came += u64::from(now.injected);
        }
        self.ready = self.ready + u32::from(ready) - u32::from(counted);
        self.lined_up = self.lined_up + u32::from(lined_up) - u32::from(before);
        self.most_lined_up = self.most_lined_up.max(self.lined_up);
    }
}

/// The color of a number of the palette.
pub(crate) fn plain(hue: Hue) -> Color {
    Color::new(u64::from(hue) * 0x1_0001)
}
