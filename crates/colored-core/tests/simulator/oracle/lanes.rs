//! A reference queue per color: who is in it, who runs (G1, G2).

use super::classes::Class;
use super::slices::{PER_INJECTED, PER_LANE};
use super::{CallKey, CellKey, Oracle};
use crate::slab::Key;
use crate::world::Actor;
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
    injected: bool,
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
            queued: 0,
            most_queued: 0,
        }
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
            lane.queue.push_back(Queued { entry: Entry::Values, soft: true });
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

    pub(crate) fn some_queued(&self) -> Option<Entry> {
        self.lanes.iter().find_map(|lane| lane.queue.front()).map(|queued| queued.entry)
    }

    /// A lane may have become ready, or be so no more.
    fn count(&mut self, hue: Hue, now: Ready) {
        let lane = self.get_mut(hue);
        let lined_up = !lane.queue.is_empty();
        let before = std::mem::replace(&mut lane.lined_up, lined_up);
        let ready = lane.is_ready();
        let counted = std::mem::replace(&mut lane.counted, ready);
        if ready && !counted {
            lane.ready = now;
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

impl Oracle {
    /// Something is scheduled.
    pub(crate) fn push(&mut self, hue: Hue, entry: Entry, soft: bool) {
        let ready = self.ready_now();
        self.inherit(hue, entry);
        self.lanes.get_mut(hue).queue.push_back(Queued { entry, soft });
        self.lanes.queued += 1;
        self.lanes.most_queued = self.lanes.most_queued.max(self.lanes.queued);
        self.lanes.count(hue, ready);
    }

    fn ready_now(&self) -> Ready {
        // What another thread leaves behind, by a push or after a turn of its own, goes that way.
        let injected = !matches!(self.actor(), Actor::Worker(_));
        Ready { now: self.now, fair: self.fair, slices: self.slices.begun(), injected }
    }

    /// The turn of something that was scheduled. A task that the shutdown has aborted need not be
    /// in the queue.
    pub(crate) fn turn_begins(&mut self, hue: Hue, entry: Entry, aborted_by_end: bool) {
        self.end_has_passed(hue);
        self.exclude(hue, entry);
        self.keep_order(hue, entry, aborted_by_end);
        self.keep_place(hue, entry);
        self.keep_bounds(hue);
        self.hold(hue, entry);
        self.tally.deepest = self.tally.deepest.max(self.slices.depth());
    }

    pub(super) fn hold(&mut self, hue: Hue, entry: Entry) {
        self.inherited_begins(hue, entry);
        self.lanes.get_mut(hue).holder = Some(entry);
        self.count(hue);
    }

    pub(super) fn count(&mut self, hue: Hue) {
        let ready = self.ready_now();
        self.lanes.count(hue, ready);
    }

    pub(super) fn exclude(&mut self, hue: Hue, entry: Entry) {
        if let Some(holder) = self.lanes.get(hue).holder {
            self.violated("G1", format!("{entry} of color {hue} begins while {holder} runs there"));
        }
        let readers = self.lanes.get(hue).readers;
        if readers > 0 {
            self.violated("G1", format!("{entry} of color {hue} begins beside {readers} readers"));
        }
    }

    pub(super) fn keep_order(&mut self, hue: Hue, entry: Entry, aborted_by_end: bool) {
        let queue = &mut self.lanes.get_mut(hue).queue;
        let place = queue.iter().position(|queued| queued.entry == entry);
        let Some(place) = place else {
            if !aborted_by_end {
                self.violated("G2", format!("{entry} of color {hue} runs but is not scheduled"));
            }
            return;
        };
        let ahead = queue.iter().take(place).find(|queued| !queued.soft).map(|queued| queued.entry);
        let late = queue.remove(place).is_some_and(|queued| queued.soft);
        self.lanes.queued -= 1;
        if let Some(ahead) = ahead.filter(|_| !late) {
            self.violated("G2", format!("{entry} of color {hue} runs before {ahead}"));
        }
    }

    /// A lane that has a worker for life runs there, unless it has followed what is pinned elsewhere.
    fn keep_place(&mut self, hue: Hue, entry: Entry) {
        let Some(worker) = self.slices.fresh_slice() else { return };
        let local = matches!(entry, Entry::Task(key) if self.pin_of(key).is_some());
        let lane = self.lanes.get_mut(hue);
        lane.home = (!local).then_some(worker);
        let place = self.policy.worker_of(lane.color).filter(|_| !self.closing);
        if let Some(place) = place.filter(|place| *place != worker && !local) {
            let what = format!("{entry} of color {hue} runs on worker {worker}, not on {place}");
            self.violated("placement", what);
        }
    }

    /// The only worker that may come to a lane as things are, if there is but one.
    pub(crate) fn place_of(&self, hue: Hue) -> Option<u32> {
        let lane = self.lanes.get(hue);
        // Where there are priorities an older ticket may lead somebody else to it.
        let home = lane.home.filter(|_| self.policy.stays() && !self.has_classes());
        self.policy.worker_of(lane.color).or(home)
    }

    /// G7: a slice has its length, and a ready lane waits for so many slices at most.
    fn keep_bounds(&mut self, hue: Hue) {
        if self.closing {
            return;
        }
        let lane = self.lanes.get(hue);
        let since = lane.ready;
        let bound = self.class_bound(hue, since.slices);
        let (start, per_lane, few) = bound.unwrap_or((since.slices, PER_LANE, None));
        let waited = (self.slices.begun() - start, self.now - since.now);
        let flat = self.policy.is_flat();
        let ahead = u64::from(if flat { self.lanes.most_queued } else { self.lanes.most_lined_up });
        // The classes have no injector.
        let per_injected = if since.injected && few.is_none() { PER_INJECTED } else { 0 };
        let slices = (per_lane + per_injected) * (few.unwrap_or(ahead) + 1);
        let verdict = self.slices.turn(hue, self.now, waited, slices);
        if let Err(what) = verdict {
            self.violated("G7", what);
        }
    }

    /// The turn is over.
    pub(crate) fn turn_ends(&mut self, hue: Hue) {
        self.lanes.get_mut(hue).holder = None;
        self.inherited_ends(hue);
        self.count(hue);
        self.lanes.settle(hue);
    }

    /// Something runs under the color at once, on the thread that asks for it.
    pub(crate) fn inline_begins(&mut self, hue: Hue, entry: Entry) {
        self.end_has_passed(hue);
        self.exclude(hue, entry);
        let lane = self.lanes.get_mut(hue);
        if let Some(ahead) = lane.queue.front() {
            let ahead = ahead.entry;
            self.violated("G2", format!("{entry} runs at once although {ahead} waits"));
        }
        self.hold(hue, entry);
        self.tally.inline += 1;
    }

    /// A turn of a task that has kept its lane since the last one.
    pub(super) fn kept_turn(&mut self, hue: Hue) {
        if !self.closing
            && let Err(what) = self.slices.turn(hue, self.now, (0, 0), 0)
        {
            self.violated("G7", what);
        }
    }

    /// A claim has its turn: the lane is held, and nobody else runs there.
    pub(super) fn claim_begins(&mut self, hue: Hue, entry: Entry) {
        self.end_has_passed(hue);
        self.exclude(hue, entry);
        self.keep_order(hue, entry, false);
        self.hold(hue, entry);
    }

    /// Somebody looks, at once or in his turn: beside others who do, and after all who change
    /// something.
    pub(super) fn look_begins(&mut self, hue: Hue, entry: Entry) {
        self.end_has_passed(hue);
        if let Some(holder) = self.lanes.get(hue).holder {
            self.violated("G1", format!("{entry} looks at color {hue} while {holder} runs there"));
        }
        self.leave_queue(hue, entry);
        self.lanes.get_mut(hue).readers += 1;
        self.count(hue);
    }

    /// Takes somebody who only looks out of the queue, if he is there.
    pub(super) fn leave_queue(&mut self, hue: Hue, entry: Entry) {
        let queue = &mut self.lanes.get_mut(hue).queue;
        let place = queue.iter().position(|queued| queued.entry == entry);
        let mut ahead = queue.iter().take(place.unwrap_or(queue.len()));
        let writer =
            ahead.find(|queued| !queued.soft && !matches!(queued.entry, Entry::Look(_))).copied();
        if let Some(place) = place {
            queue.remove(place);
            self.lanes.queued -= 1;
        }
        if let Some(writer) = writer.filter(|_| !self.closing) {
            let what = format!("{entry} of color {hue} looks before {}", writer.entry);
            self.violated("G2", what);
        }
        self.count(hue);
    }

    pub(super) fn look_ends(&mut self, hue: Hue) {
        self.lanes.get_mut(hue).readers -= 1;
        self.count(hue);
        self.lanes.settle(hue);
    }

    /// Whether nothing runs or waits there. A shutdown puts something of its own there.
    pub(crate) fn must_be_idle(&self, hue: Hue) -> bool {
        let lane = self.lanes.get(hue);
        !self.closing && lane.holder.is_none() && lane.readers == 0 && lane.queue.is_empty()
    }
}
