//! What is scheduled, and whose turn it is: exclusion, order, and how long it may wait (G1, G2, G7).

use super::{Entry, Hue, Queued, Ready};
use crate::oracle::Oracle;
use crate::oracle::classes::Urgency;
use crate::oracle::slices::{BEHIND, COUNTED, PER_LANE, Wait};
use crate::slab::Key;
use crate::world::Actor;

impl Oracle {
    /// Something is scheduled.
    pub(crate) fn push(&mut self, hue: Hue, entry: Entry, soft: bool) {
        self.push_urged(hue, entry, soft, self.urgency_of(entry));
    }

    /// Something is scheduled, which is or is not urgent.
    pub(in crate::oracle) fn push_urged(
        &mut self,
        hue: Hue,
        entry: Entry,
        soft: bool,
        urgency: Urgency,
    ) {
        let ready = self.ready_now();
        self.urge(hue, urgency);
        self.lanes.get_mut(hue).queue.push_back(Queued { entry, soft, urgency });
        self.lanes.queued += 1;
        self.lanes.most_queued = self.lanes.most_queued.max(self.lanes.queued);
        self.lanes.count(hue, ready);
    }

    /// The lane of a task that has been woken comes behind what is runnable there.
    pub(in crate::oracle) fn comes_behind(&mut self, hue: Hue) {
        let ready = &mut self.lanes.get_mut(hue).ready;
        ready.behind = true;
    }

    fn ready_now(&self) -> Ready {
        // What another thread leaves behind, by a push or after a turn of its own, goes that way.
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

    /// The turn of something that was scheduled. A task that the shutdown has aborted need not be
    /// in the queue.
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

    /// Takes it out of the queue: how urgent it is there.
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
        let Queued { soft: late, urgency, .. } = queue.remove(place).expect("found");
        self.lanes.queued -= 1;
        if let Some(ahead) = ahead.filter(|_| !late) {
            self.violated("G2", format!("{entry} of color {hue} runs before {ahead}"));
        }
        urgency
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
    fn keep_bounds(&mut self, hue: Hue, entry: Entry) {
        if self.closing {
            return;
        }
        let wait = self.wait_of(hue, entry);
        if let Err(what) = self.slices.turn(hue, self.now, wait) {
            self.violated("G7", what);
        }
    }

    /// How long a lane is ready, and for how many slices it may wait (`sched/round.rs`).
    ///
    /// Of the worker that comes to it, slices are counted if the lane can have been in no other worker's
    /// queues. Ahead of it are then the lanes in which something waits when it becomes ready; and if it is in a
    /// worker's queue and not in that for all, those too which come from outside before its round begins.
    fn wait_of(&self, hue: Hue, entry: Entry) -> Wait {
        let since = self.lanes.get(hue).ready;
        let (now, one) = (since.now, self.policy.workers == 1);
        let most_ahead =
            if self.policy.is_flat() { self.lanes.most_queued } else { self.lanes.most_lined_up };
        let behind = if since.behind { BEHIND } else { 0 };
        if let Some((slices, per_lane, few)) = self.class_bound(hue, since.slices) {
            let most = per_lane * (few.unwrap_or(u64::from(most_ahead)) + 1);
            let most = most + if few.is_some() { behind } else { 0 };
            return Wait { now, slices, here: one.then_some(most), most };
        }
        let per_lane = if self.tally.pinned > 0 { 2 * PER_LANE } else { PER_LANE };
        let most = per_lane * (u64::from(most_ahead) + 1) + behind;
        let local = matches!(entry, Entry::Task(key) if self.pin_of(key).is_some());
        let stays = self.policy.workers <= COUNTED && since.moved == self.moved;
        let here = if self.policy.is_flat() || since.behind || !stays || (local && !one) {
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

    /// A lane that is ready, and has waited for more slices than may come first, of every worker.
    pub(crate) fn starving(&self) -> Option<(Hue, u64)> {
        self.lanes.ready_lanes().find_map(|(hue, _)| {
            let wait = self.wait_of(hue, self.lanes.front(hue)?);
            let least = self.slices.of_each_since(wait.slices).min()?;
            wait.here.filter(|here| least > *here).map(|_| (hue, least))
        })
    }

    /// The turn is over.
    pub(crate) fn turn_ends(&mut self, hue: Hue) {
        self.lanes.get_mut(hue).holder = None;
        let urgency = std::mem::take(&mut self.lanes.get_mut(hue).class.runs);
        self.unurge(hue, urgency);
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
        self.hold(hue, entry, Urgency::None);
        self.tally.inline += 1;
    }

    /// A turn of a task that has kept its lane since the last one.
    pub(in crate::oracle) fn kept_turn(&mut self, hue: Hue) {
        if !self.closing
            && let Err(what) = self.slices.turn(hue, self.now, self.no_wait())
        {
            self.violated("G7", what);
        }
    }

    /// A claim has its turn: the lane is held, and nobody else runs there.
    pub(in crate::oracle) fn claim_begins(&mut self, hue: Hue, entry: Entry) {
        self.end_has_passed(hue);
        self.exclude(hue, entry);
        let urgency = self.keep_order(hue, entry, false);
        self.hold(hue, entry, urgency);
    }

    /// Somebody looks, at once or in his turn: beside others who do, and after all who change
    /// something.
    pub(in crate::oracle) fn look_begins(&mut self, hue: Hue, entry: Entry) {
        self.end_has_passed(hue);
        if let Some(holder) = self.lanes.get(hue).holder {
            self.violated("G1", format!("{entry} looks at color {hue} while {holder} runs there"));
        }
        self.leave_queue(hue, entry);
        self.lanes.get_mut(hue).readers += 1;
        self.count(hue);
    }

    /// Takes somebody who only looks out of the queue, if he is there.
    pub(in crate::oracle) fn leave_queue(&mut self, hue: Hue, entry: Entry) {
        let queue = &mut self.lanes.get_mut(hue).queue;
        let place = queue.iter().position(|queued| queued.entry == entry);
        let mut ahead = queue.iter().take(place.unwrap_or(queue.len()));
        let writer =
            ahead.find(|queued| !queued.soft && !matches!(queued.entry, Entry::Look(_))).copied();
        if let Some(queued) = place.and_then(|place| queue.remove(place)) {
            self.lanes.queued -= 1;
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

    /// Whether what a task asks for under the color that it holds is part of its turn: nothing is
    /// scheduled behind it, or it has a section. `None` if something may be scheduled that is not known
    /// here: by a shutdown.
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

    /// A task has had what it asked for under the color that it holds, at once or not.
    pub(in crate::oracle) fn check_own(&mut self, task: Key, hue: Hue, at_once: bool) {
        let free = self.is_free_here(task, hue);
        if free.is_some_and(|free| free != at_once) {
            let task = task.slot;
            let what =
                format!("task {task} under its color {hue}: free {free:?}, at once {at_once}");
            self.violated("G2", what);
        }
    }

    /// Whether nothing runs or waits there. A shutdown puts something of its own there.
    pub(crate) fn must_be_idle(&self, hue: Hue) -> bool {
        let lane = self.lanes.get(hue);
        !self.closing && lane.holder.is_none() && lane.readers == 0 && lane.queue.is_empty()
    }
}
