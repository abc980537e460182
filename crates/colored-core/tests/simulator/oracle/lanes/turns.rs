//! Schedules and turns: exclusion, order, and how long an entry may wait (G1, G2, G7).

use super::{Entry, Hue, Queued, Ready};
use crate::oracle::Oracle;
use crate::oracle::classes::Urgency;
use crate::oracle::slices::{BEHIND, COUNTED, PER_LANE, POLL, Wait};
use crate::slab::Key;
use crate::world::Actor;

impl Oracle {
    /// An entry is scheduled.
    pub(crate) fn push(&mut self, hue: Hue, entry: Entry, soft: bool) {
        self.push_urged(hue, entry, soft, self.urgency_of(entry));
    }

    /// An entry is scheduled, with this urgency.
    pub(in crate::oracle) fn push_urged(
        &mut self,
        hue: Hue,
        entry: Entry,
        soft: bool,
        urgency: Urgency,
    ) {
        let ready = self.ready_now();
        self.urge(hue, urgency);
        let lane = self.lanes.get_mut(hue);
        let ahead = lane.queue.len() as u64 + u64::from(lane.holder.is_some());
        let sections = lane.sections;
        lane.queue.push_back(Queued { entry, soft, urgency, ahead, sections });
        self.lanes.count(hue, ready);
    }

    /// The lane of a woken task comes behind the lanes that are runnable on its worker.
    pub(in crate::oracle) fn put_behind(&mut self, hue: Hue) {
        let ready = &mut self.lanes.get_mut(hue).ready;
        ready.behind = true;
    }

    fn ready_now(&self) -> Ready {
        // A lane that another thread makes ready, by a push or after a turn of its own, goes by the injector.
        let injected = !matches!(self.actor(), Actor::Worker(_));
        Ready {
            now: self.now,
            fair: self.fair,
            slices: self.slices.begun(),
            injected,
            behind: false,
            ahead: u64::from(self.lanes.lined_up) + self.slices.depth(),
            came: self.lanes.came,
            moved: self.moved,
        }
    }

    /// The turn of an entry begins. A task that the shutdown has aborted need not be in the queue.
    pub(crate) fn turn_begins(&mut self, hue: Hue, entry: Entry, aborted_by_end: bool) {
        self.end_has_passed(hue);
        self.exclude(hue, entry);
        let urgency = self.keep_order(hue, entry, aborted_by_end);
        self.keep_place(hue, entry);
        self.keep_bounds(hue, entry);
        self.hold(hue, entry, urgency);
        self.tally.deepest = self.tally.deepest.max(self.slices.depth());
    }

    pub(in crate::oracle) fn hold(&mut self, hue: Hue, entry: Entry, urgency: Urgency) {
        let lane = self.lanes.get_mut(hue);
        lane.class.runs = urgency;
        lane.holder = Some(entry);
        self.count(hue);
    }

    pub(in crate::oracle) fn count(&mut self, hue: Hue) {
        let ready = self.ready_now();
        self.lanes.count(hue, ready);
    }

    pub(in crate::oracle) fn exclude(&mut self, hue: Hue, entry: Entry) {
        if let Some(holder) = self.lanes.get(hue).holder {
            self.violated("G1", format!("{entry} of color {hue} begins while {holder} runs there"));
        }
        let readers = self.lanes.get(hue).readers;
        if readers > 0 {
            self.violated("G1", format!("{entry} of color {hue} begins beside {readers} readers"));
        }
    }

    /// Takes an entry out of the queue. Returns how urgent it was there.
    pub(in crate::oracle) fn keep_order(
        &mut self,
        hue: Hue,
        entry: Entry,
        aborted_by_end: bool,
    ) -> Urgency {
        let queue = &mut self.lanes.get_mut(hue).queue;
        let place = queue.iter().position(|queued| queued.entry == entry);
        let Some(place) = place else {
            if !aborted_by_end {
                self.violated("G2", format!("{entry} of color {hue} runs but is not scheduled"));
            }
            let urgency = self.urgency_of(entry);
            self.urge(hue, urgency);
            return urgency;
        };
        let ahead = queue.iter().take(place).find(|queued| !queued.soft).map(|queued| queued.entry);
        let queued = queue.remove(place).expect("found");
        let Queued { soft: late, urgency, .. } = queued;
        if let Some(ahead) = ahead.filter(|_| !late) {
            self.violated("G2", format!("{entry} of color {hue} runs before {ahead}"));
        }
        // G7: each that stood before it has had one turn, or one section.
        let begun = self.lanes.get(hue).sections - queued.sections;
        if begun > queued.ahead {
            let ahead = queued.ahead;
            let what =
                format!("{entry} of color {hue} had {ahead} before it, and {begun} sections");
            self.violated("G7", what);
        }
        urgency
    }

    /// A lane that has a worker for life runs there, unless it has followed a pinned task elsewhere.
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

    /// The only worker that may come to a lane as things are, if there is only one.
    pub(crate) fn place_of(&self, hue: Hue) -> Option<u32> {
        let lane = self.lanes.get(hue);
        let home = lane.home.filter(|_| self.policy.stays());
        self.policy.worker_of(lane.color).or(home)
    }

    /// G7: a slice has its length, and a ready lane waits for a limited number of slices.
    fn keep_bounds(&mut self, hue: Hue, entry: Entry) {
        if self.closing {
            return;
        }
        let wait = self.wait_of(hue, entry);
        let weight = match entry {
            Entry::Post(_) | Entry::Call(_) | Entry::LastOwner(_) | Entry::Values => 1,
            Entry::Task(_) | Entry::Claim(_) | Entry::Look(_) => POLL,
        };
        if let Err(what) = self.slices.turn(hue, weight, self.now, wait) {
            self.violated("G7", what);
        }
    }

    /// How long a lane is ready, and for how many slices it may wait (`sched/worker.rs`).
    ///
    /// The count is of the slices of the worker that comes to the lane, if the lane can have been in no other
    /// worker's queues. Ahead of it are the lanes with entries at the moment at which it becomes ready. If the lane is
    /// in a worker's own queue, and not in the queue for all, the lanes that arrive from outside before its round
    /// begins come before it too.
    fn wait_of(&self, hue: Hue, entry: Entry) -> Wait {
        let since = self.lanes.get(hue).ready;
        let (now, one) = (since.now, self.policy.seats() == 1);
        let most_ahead = self.lanes.most_lined_up;
        let behind = if since.behind { BEHIND } else { 0 };
        if let Some((slices, per_lane, few)) = self.class_bound(hue, since.slices) {
            let most = per_lane * (few.unwrap_or(u64::from(most_ahead)) + 1);
            let most = most + if few.is_some() { behind } else { 0 };
            return Wait { now, slices, here: one.then_some(most), most };
        }
        let per_lane = if self.tally.pinned > 0 { 2 * PER_LANE } else { PER_LANE };
        let most = per_lane * (u64::from(most_ahead) + 1) + behind;
        let local = matches!(entry, Entry::Task(key) if self.pin_of(key).is_some());
        // A spare worker that leaves moves its lanes to the end of the queue for all.
        let (seats, spares) = (self.policy.seats(), self.policy.options.spares);
        let stays = seats <= COUNTED && spares == 0 && since.moved == self.moved;
        let here = if since.behind || !stays || (local && !one) {
            one.then_some(most)
        } else {
            let waits_outside = since.injected && self.policy.shares_arrivals();
            let later = if waits_outside { 0 } else { self.lanes.came - since.came };
            Some(per_lane * (since.ahead + later + 1))
        };
        Wait { now, slices: since.slices, here, most }
    }

    fn no_wait(&self) -> Wait {
        Wait { now: self.now, slices: self.slices.begun(), here: None, most: 0 }
    }

    /// A ready lane for which every worker has begun more slices than may come before it.
    pub(crate) fn starving(&self) -> Option<(Hue, u64)> {
        self.lanes.ready_lanes().find_map(|(hue, _)| {
            let wait = self.wait_of(hue, self.lanes.front(hue)?);
            let least = self.slices.of_each_since(wait.slices).min()?;
            wait.here.filter(|here| least > *here).map(|_| (hue, least))
        })
    }

    /// A turn ends.
    pub(crate) fn turn_ends(&mut self, hue: Hue) {
        self.lanes.get_mut(hue).holder = None;
        let urgency = std::mem::take(&mut self.lanes.get_mut(hue).class.runs);
        self.unurge(hue, urgency);
        self.count(hue);
        self.lanes.settle(hue);
    }

    /// An entry runs under the color at once, on the thread that asks for it.
    pub(crate) fn inline_begins(&mut self, hue: Hue, entry: Entry) {
        self.end_has_passed(hue);
        self.exclude(hue, entry);
        let lane = self.lanes.get_mut(hue);
        if let Some(ahead) = lane.queue.front() {
            let ahead = ahead.entry;
            self.violated("G2", format!("{entry} runs at once although {ahead} waits"));
        }
        self.hold(hue, entry, Urgency::None);
        self.tally.inline += 1;
    }

    /// A turn of a task that has kept its lane since the last one.
    pub(in crate::oracle) fn kept_turn(&mut self, hue: Hue) {
        if !self.closing
            && let Err(what) = self.slices.turn(hue, POLL, self.now, self.no_wait())
        {
            self.violated("G7", what);
        }
    }

    /// A claim has its turn: it holds the lane, and nothing else runs there.
    pub(in crate::oracle) fn claim_begins(&mut self, hue: Hue, entry: Entry) {
        self.end_has_passed(hue);
        self.exclude(hue, entry);
        let urgency = self.keep_order(hue, entry, false);
        self.hold(hue, entry, urgency);
    }

    /// A reader looks, at once or in its turn: beside other readers, and after all entries that change something.
    pub(in crate::oracle) fn look_begins(&mut self, hue: Hue, entry: Entry) {
        self.end_has_passed(hue);
        if let Some(holder) = self.lanes.get(hue).holder {
            self.violated("G1", format!("{entry} looks at color {hue} while {holder} runs there"));
        }
        self.leave_queue(hue, entry);
        self.lanes.get_mut(hue).readers += 1;
        self.count(hue);
    }

    /// Takes a reader out of the queue, if it is there.
    pub(in crate::oracle) fn leave_queue(&mut self, hue: Hue, entry: Entry) {
        let queue = &mut self.lanes.get_mut(hue).queue;
        let place = queue.iter().position(|queued| queued.entry == entry);
        let mut ahead = queue.iter().take(place.unwrap_or(queue.len()));
        let writer =
            ahead.find(|queued| !queued.soft && !matches!(queued.entry, Entry::Look(_))).copied();
        if let Some(queued) = place.and_then(|place| queue.remove(place)) {
            self.unurge(hue, queued.urgency);
        }
        if let Some(writer) = writer.filter(|_| !self.closing) {
            let what = format!("{entry} of color {hue} looks before {}", writer.entry);
            self.violated("G2", what);
        }
        self.count(hue);
    }

    pub(in crate::oracle) fn look_ends(&mut self, hue: Hue) {
        self.lanes.get_mut(hue).readers -= 1;
        self.count(hue);
        self.lanes.settle(hue);
    }

    /// Whether the requests of a task under the color that it holds are part of its turn: nothing is scheduled
    /// behind it, or it has a section. `None` if a shutdown may have scheduled an entry of which the oracle does
    /// not know.
    pub(crate) fn is_free_here(&self, task: Key, hue: Hue) -> Option<bool> {
        if self.tasks.get(task).is_some_and(|task| task.section) {
            return Some(true);
        }
        let queue = &self.lanes.get(hue).queue;
        if queue.iter().any(|queued| !queued.soft) {
            return Some(false);
        }
        (queue.is_empty() && !self.closing).then_some(true)
    }

    /// A request of a task under the color that it holds is done, at once or not.
    pub(in crate::oracle) fn check_own(&mut self, task: Key, hue: Hue, at_once: bool) {
        let free = self.is_free_here(task, hue);
        if free.is_some_and(|free| free != at_once) {
            let task = task.slot;
            let what =
                format!("task {task} under its color {hue}: free {free:?}, at once {at_once}");
            self.violated("G2", what);
        }
    }

    /// Whether nothing runs or waits in the lane. A shutdown puts an entry of its own there.
    pub(crate) fn must_be_idle(&self, hue: Hue) -> bool {
        let lane = self.lanes.get(hue);
        !self.closing && lane.holder.is_none() && lane.readers == 0 && lane.queue.is_empty()
    }
}
