//! Where a worker of the laboratory looks for a lane.

use super::{Lab, Queue};
use crate::lane::ReadyLane;
use crate::sched::worker::Worker;

impl Worker {
    /// As `find`.
    #[cold]
    pub(in crate::sched) fn find_in_lab(&mut self) -> Option<ReadyLane> {
        // Out of the worker meanwhile, so that both can be borrowed.
        let lab = self.lab.take()?;
        let lane = self.find_by(&lab);
        self.lab = Some(lab);
        lane
    }

    fn find_by(&mut self, lab: &Lab) -> Option<ReadyLane> {
        let lane = match lab.queue {
            Queue::PerWorker => self.find_placed(lab),
            Queue::Shared => self.find_shared(|worker| worker.local.scheduler().injector.pop()),
            Queue::SharedTasks => self.find_shared(|_| lab.flats[0].take()),
            Queue::PerWorkerTasks => self.find_shared(|worker| {
                let own = &lab.flats[worker.index()];
                own.take().or_else(|| worker.steal_color(lab))
            }),
        }?;
        lab.settle(&lane, self.index());
        Some(lane)
    }

    /// What is pinned here takes turns with the rest.
    fn find_shared(
        &mut self,
        rest: impl FnOnce(&mut Self) -> Option<ReadyLane>,
    ) -> Option<ReadyLane> {
        let first = self.steps.is_multiple_of(2);
        let pinned = |worker: &Self| worker.local.remote().take_inbox();
        let urgent = if first { pinned(self) } else { None };
        urgent.or_else(|| rest(self)).or_else(|| pinned(self))
    }

    fn find_placed(&mut self, lab: &Lab) -> Option<ReadyLane> {
        let mut came = false;
        while let Some(lane) = lab.inboxes[self.index()].take() {
            self.local.deque.push(lane);
            came = true;
        }
        let scheduler = self.local.scheduler();
        // Who looked while they were between the queues has seen them in neither.
        let runnable = self.local.deque.len() + usize::from(self.local.remote().has_next());
        if came && lab.steals && !self.searching && runnable > 1 {
            scheduler.notify();
        }
        if let Some(lane) = self.find_here() {
            return Some(lane);
        }
        if !lab.steals {
            // A batch of them would be lost to the others.
            return self.local.scheduler().injector.pop();
        }
        self.find_elsewhere().or_else(|| {
            let lane = self.others().find_map(|victim| lab.inboxes[victim].take())?;
            self.local.remote().counters.steals.add(1);
            Some(lane)
        })
    }

    /// Takes a color from another worker's flat queue.
    fn steal_color(&mut self, lab: &Lab) -> Option<ReadyLane> {
        if !lab.steals {
            return None;
        }
        let own = self.index();
        let moves = |lane: &ReadyLane| lane.lane().set_home(own);
        let into = &lab.flats[own];
        let lane = self.others().find_map(|victim| lab.flats[victim].steal(into, moves))?;
        self.local.remote().counters.steals.add(1);
        Some(lane)
    }
}
