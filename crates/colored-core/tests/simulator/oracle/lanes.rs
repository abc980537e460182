//! A reference queue per color: the entries in it, and the one that runs (G1, G2).

mod turns;

use super::classes::{Class, Urgency};
use super::{CallKey, CellKey};
use crate::slab::Key;
use colored_core::Color;
use std::collections::VecDeque;
use std::fmt;

/// A color, as the simulation numbers them.
pub(crate) type Hue = u32;

/// An entry that waits in a lane, or runs.
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
    /// The claim of a closure that wants the lane together with others, for itself alone.
    Claim(Key),
    /// A reader, which only looks, beside other readers.
    Look(Key),
    /// The end of the color's values, if nothing refers to the color then.
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
    /// Whether the entry's place is unknown: a shutdown may have put it into the queue before.
    soft: bool,
    urgency: Urgency,
    /// How many others came first, and how many sections had begun.
    ahead: u64,
    sections: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// The color, if the program has looked at it.
    pub(crate) color: Option<Color>,
    unique: bool,
    /// Whether the lane is in the table.
    pub(crate) published: bool,
    /// Whether the program keeps the color, and may come back to it.
    pub(crate) named: bool,
    queue: VecDeque<Queued>,
    holder: Option<Entry>,
    /// How many readers look at it right now.
    readers: u32,
    /// Whether `Lanes::ready` counts this lane.
    counted: bool,
    /// Whether `Lanes::lined_up` counts this lane.
    lined_up: bool,
    pub(crate) tasks: u32,
    pub(crate) cells: u32,
    /// How many sections have begun here.
    pub(super) sections: u64,
    /// When the last task came that waited here up to the shutdown and has been dropped.
    ended: u64,
    /// How often a callback or a task has used the color's own value, if the color has one.
    pub(super) local: Option<u64>,
    pub(crate) ready: Ready,
    /// The worker that has run the lane last, if that is known, while the lane is kept.
    home: Option<u32>,
    pub(super) class: Class,
    /// How many entries waited since the last change, and whether something ran or looked meanwhile.
    waiting: (u64, bool),
    since: u64,
}

/// The moment since which a lane can run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready {
    now: u64,
    pub(crate) fair: u64,
    slices: u64,
    /// Whether a thread that is no worker made the lane ready.
    injected: bool,
    behind: bool,
    /// How many lanes had entries then, and how many slices were in progress.
    ahead: u64,
    /// How many lanes had come from outside before.
    came: u64,
    /// How many lanes had moved from one worker to another.
    moved: u64,
}

impl Lane {
    /// Whether a worker must come to the lane. A claim, or a reader, may have had its turn and wait for something
    /// else, and the end of the values may have done nothing: the oracle does not see that.
    fn is_ready(&self) -> bool {
        let queued = self.queue.front().map(|queued| queued.entry);
        let runs = self.holder.is_some() || self.readers > 0;
        !runs && !matches!(queued, None | Some(Entry::Claim(_) | Entry::Look(_) | Entry::Values))
    }

    /// Whether an entry or an owner keeps the lane.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_referenced() || self.holder.is_some() || self.readers > 0
    }

    /// Whether an owner, a priority or a queued entry refers to the lane.
    pub(super) fn is_referenced(&self) -> bool {
        self.class.is_named() || self.tasks > 0 || self.cells > 0 || !self.queue.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    free: Vec<Hue>,
    palette: Hue,
    /// How many lanes could run now.
    pub(crate) ready: u32,
    /// How many lanes have entries, claims and readers too.
    lined_up: u32,
    most_lined_up: u32,
    /// How many lanes have become ready by threads that are no workers.
    came: u64,
    pub(crate) waits: Waits,
    /// The time of the last change of any lane.
    time: u64,
}

/// The sums of all waits so far, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// While the color ran others.
    pub(crate) color: u64,
    /// While it ran nothing.
    pub(crate) cpu: u64,
    /// How many waits have ended.
    pub(crate) turns: u64,
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
            waits: Waits::default(),
            time: 0,
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
        // The default color always has an owner.
        if lane.local.is_some() && hue != 0 {
            lane.queue.push_back(Queued {
                entry: Entry::Values,
                soft: true,
                urgency: Urgency::None,
                ahead: 0,
                sections: 0,
            });
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

    /// The colors that are not of the normal class.
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

    /// Lanes that are ready, and their colors.
    pub(crate) fn ready_lanes(&self) -> impl Iterator<Item = (Hue, &Lane)> {
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| lane.is_ready());
        lanes.map(|(hue, lane)| (hue as Hue, lane))
    }

    /// Takes the end of the values out of the queue.
    pub(super) fn take_end(&mut self, hue: Hue) -> bool {
        let queue = &mut self.get_mut(hue).queue;
        let place = queue.iter().position(|queued| queued.entry == Entry::Values);
        place.and_then(|place| queue.remove(place)).is_some()
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

    /// An entry that waits in a lane, unless only a shutdown knows.
    pub(super) fn surely_waits(&self, hue: Hue) -> Option<Entry> {
        let queued = self.get(hue).queue.iter().find(|queued| !queued.soft);
        queued.map(|queued| queued.entry)
    }

    /// A task is dropped that came then, and has waited up to the shutdown; true if one that came later has gone before.
    pub(super) fn note_end(&mut self, hue: Hue, came: u64) -> bool {
        let ended = &mut self.get_mut(hue).ended;
        let is_late = *ended > came;
        *ended = (*ended).max(came);
        is_late
    }

    /// The entries of a lane, in order.
    pub(super) fn entries(&self, hue: Hue) -> impl Iterator<Item = Entry> {
        self.get(hue).queue.iter().map(|queued| queued.entry)
    }

    pub(crate) fn some_queued(&self) -> Option<Entry> {
        self.lanes.iter().find_map(|lane| lane.queue.front()).map(|queued| queued.entry)
    }

    /// Counts a lane again that may have become ready, or is so no more.
    fn count(&mut self, hue: Hue, now: Ready) {
        self.time = self.time.max(now.now);
        let lane = &mut self.lanes[hue as usize];
        let waits = lane.queue.len() as u64;
        self.waits.turns += lane.waiting.0.saturating_sub(waits);
        let waited = lane.waiting.0 * (self.time - lane.since);
        *(if lane.waiting.1 { &mut self.waits.color } else { &mut self.waits.cpu }) += waited;
        lane.waiting = (waits, lane.holder.is_some() || lane.readers > 0);
        lane.since = self.time;
        let lined_up = !lane.queue.is_empty();
        // Where tasks wait and nothing is queued, a shutdown finds the lane in the table.
        let waits = lane.tasks > 0 && !lined_up && lane.holder.is_none() && lane.readers == 0;
        lane.published |= waits;
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
