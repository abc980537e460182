//! The laboratory: the queues, the balancing and the placement that the papers compare, and what the
//! plain scheduler of the files beside this one does not do.
//!
//! A plain scheduler has none of this: where a lane is dispatched, put back or looked for, the worker
//! asks one flag of its own, and comes here if it is set ([`Options::are_plain`]).
//!
//! # Where a lane is, and who can find it
//!
//! | queue | a runnable lane is in | found by |
//! |---|---|---|
//! | [`Queue::PerWorker`] | the `next` slot and deque of the worker that it was placed on, or its *migration inbox* if another thread placed it there | that worker; with stealing everybody |
//! | the same, from outside, with no place | the injector | everybody |
//! | [`Queue::Shared`] | the injector | everybody |
//! | [`Queue::SharedTasks`] | the flat queue, by tickets | everybody |
//! | [`Queue::PerWorkerTasks`] | the flat queue of its home, by tickets | the home; with stealing everybody |
//!
//! # Who must be woken
//!
//! Whoever makes a lane findable by one worker only *calls* that worker: it leaves the parked ones and
//! looks again ([`Idle::call`](super::idle::Idle::call)). Whoever makes it findable by everybody
//! notifies, as in the plain scheduler. A lane that is handed over to a worker which is busy, and which others may rob, is both: so it
//! waits for that worker only if nobody else is idle. A worker that goes to sleep looks at
//! exactly the queues from which it may take (`has_lab_work_for`), and the injector is for all. So the
//! argument of `idle.rs` holds with "the queues" read as "the queues in which this worker would
//! find it".

mod find;
mod flat;
mod options;

pub use self::options::{Balance, Options, Placement, Queue, Unsuitable};

use self::flat::Flat;
use super::Scheduler;
use super::local::Local;
use super::remote::Inbox;
use crate::lane::{Counted, FlatQueues, Lane, LaneRef, ReadyLane, Ticket};
use crossbeam_utils::CachePadded;

/// What a scheduler with other than the plain options has beside the plain parts.
pub(super) struct Lab {
    queue: Queue,
    placement: Placement,
    threshold: Option<usize>,
    /// Whether workers rob each other.
    steals: bool,
    workers: usize,
    /// None, one, or one for each worker.
    flats: Box<[CachePadded<Flat>]>,
    /// Lanes that others have placed on a worker.
    inboxes: Box<[CachePadded<Inbox>]>,
    _announcements: Option<FlatQueues>,
}

impl Lab {
    /// None if the plain scheduler does what the options say.
    pub(super) fn new(options: &Options, workers: usize) -> Option<Self> {
        if options.are_plain() {
            return None;
        }
        let flats = match options.queue {
            Queue::PerWorker | Queue::Shared => 0,
            Queue::SharedTasks => 1,
            Queue::PerWorkerTasks => workers,
        };
        let inboxes = if options.queue == Queue::PerWorker { workers } else { 0 };
        Some(Self {
            queue: options.queue,
            placement: options.placement,
            threshold: options.balance.threshold(),
            steals: options.balance.steals() && options.placement != Placement::Pinned,
            workers,
            flats: (0..flats).map(|_| CachePadded::new(Flat::new())).collect(),
            inboxes: (0..inboxes).map(|_| CachePadded::new(Inbox::new())).collect(),
            _announcements: (flats > 0).then(FlatQueues::new),
        })
    }

    /// Polls in a slice: a flat queue has an entry for each.
    pub(super) fn slice_polls(&self, polls: u32) -> u32 {
        if self.flats.is_empty() { polls } else { 1 }
    }

    /// Whether there are flat queues, which know no priorities.
    pub(super) fn is_flat(&self) -> bool {
        !self.flats.is_empty()
    }

    /// The worker in whose queues a lane belongs, if one; `own` is the one that has it.
    pub(super) fn rank_place(&self, lane: &Lane, own: Option<usize>) -> Option<usize> {
        if self.queue == Queue::Shared { None } else { self.place_of(lane).or(own) }
    }

    /// A worker is about to run a lane.
    pub(super) fn settle(&self, lane: &ReadyLane, worker: usize) {
        if self.queue == Queue::PerWorker && self.placement == Placement::Home {
            lane.lane().set_home(worker);
        }
    }

    /// Whether a worker may take what waits on another one.
    pub(super) fn steals(&self) -> bool {
        self.steals
    }

    /// The worker that a lane's color is bound to, or is given first.
    fn worker_of(&self, lane: &Lane) -> usize {
        // Less than the number of workers, so it fits.
        (lane.color().number() % self.workers as u64) as usize
    }

    /// The worker that a lane must go to, if the placement names one.
    fn place_of(&self, lane: &Lane) -> Option<usize> {
        match self.placement {
            Placement::Waker => None,
            Placement::Home => lane.home(),
            Placement::Pinned => Some(self.worker_of(lane)),
        }
    }

    /// Where the entries of a lane are. `from` is the worker that schedules it, if one does.
    fn flat_of(&self, lane: &Lane, from: Option<usize>) -> usize {
        if self.queue == Queue::SharedTasks {
            return 0;
        }
        lane.home().unwrap_or_else(|| {
            let pinned = self.placement == Placement::Pinned;
            let first = from.filter(|_| !pinned).unwrap_or_else(|| self.worker_of(lane));
            lane.set_home(first);
            first
        })
    }

    /// Whether a lane waits in a queue that is not of the plain scheduler.
    fn has_any(&self) -> bool {
        self.inboxes.iter().any(|inbox| inbox.has_some())
            || self.flats.iter().any(|flat| flat.has_live())
    }

    /// A lane that waits in such a queue. None is also the end of the entries of lanes that have become
    /// idle, which own the scheduler: whoever ran the last task of one asks again after it.
    pub(super) fn any_ready(&self) -> Option<ReadyLane> {
        let inbox = self.inboxes.iter().find_map(|inbox| inbox.take());
        inbox.or_else(|| self.flats.iter().find_map(|flat| flat.take()))
    }

    /// Takes out the entries of lanes that have become idle.
    pub(super) fn sweep(&self) {
        self.flats.iter().for_each(|flat| flat.sweep());
    }
}

/// The moment at which a worker parts with a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// It has become runnable.
    Scheduled,
    /// Its slice is over.
    Ran,
}

impl Lab {
    /// Takes a lane that worker `own` has made runnable, or has run; gives it back if it goes where
    /// the plain scheduler puts it.
    #[cold]
    pub(super) fn route(
        &self,
        scheduler: &Scheduler,
        own: usize,
        lane: ReadyLane,
        since: Since,
    ) -> Option<ReadyLane> {
        match self.queue {
            Queue::PerWorker => match self.place_of(lane.lane()) {
                Some(place) if place != own => self.hand_over(scheduler, place, lane),
                _ => return Some(lane),
            },
            Queue::Shared => {
                scheduler.injector.push(lane);
                // What this worker has just run it can run next itself.
                if since == Since::Scheduled || scheduler.injector.len() > 1 {
                    scheduler.notify();
                }
            }
            Queue::SharedTasks | Queue::PerWorkerTasks => {
                self.leave(scheduler, Some(own), lane, since);
            }
        }
        None
    }

    /// Takes a lane from a thread that is no worker.
    pub(super) fn inject(&self, scheduler: &Scheduler, lane: ReadyLane) {
        match (self.queue, self.place_of(lane.lane())) {
            (Queue::PerWorker, Some(place)) => self.hand_over(scheduler, place, lane),
            (Queue::PerWorker | Queue::Shared, _) => {
                scheduler.injector.push(lane);
                scheduler.notify();
            }
            _ => self.leave(scheduler, None, lane, Since::Scheduled),
        }
    }

    fn hand_over(&self, scheduler: &Scheduler, place: usize, lane: ReadyLane) {
        self.inboxes[place].put(lane);
        if !scheduler.call(place) && self.steals {
            scheduler.notify();
        }
    }

    /// Leaves the right to run a lane where its entries in a flat queue lead to. After a slice it has
    /// one less than things to run, or none.
    fn leave(&self, scheduler: &Scheduler, own: Option<usize>, lane: ReadyLane, since: Since) {
        let place = self.flat_of(lane.lane(), own);
        let missing = since == Since::Scheduled || !lane.has_ticket();
        let ticket = missing.then(|| Counted::new(lane.ticket()));
        lane.leave_flat();
        let flat = &self.flats[place];
        if let Some(ticket) = ticket {
            flat.push(ticket);
        }
        // What this worker has just run it can run next itself, if that has stayed here.
        let stays = since == Since::Ran && (own == Some(place) || self.queue == Queue::SharedTasks);
        if !stays || flat.len() > 1 {
            self.wake_for(scheduler, own, place);
        }
    }

    /// A task came behind others of its color.
    pub(super) fn announce(&self, scheduler: &Scheduler, own: Option<usize>, lane: &LaneRef) {
        let mut place = match self.queue {
            Queue::SharedTasks => 0,
            // Whoever has just claimed the lane, and makes an entry of its own, has yet to say where.
            Queue::PerWorkerTasks => match lane.home() {
                Some(home) => home,
                None => return,
            },
            Queue::PerWorker | Queue::Shared => return,
        };
        let mut ticket = Counted::new(Ticket::new(lane.clone()));
        while let Some(back) = self.flats[place].push_if(ticket, || match self.queue {
            Queue::PerWorkerTasks => lane.home() == Some(place),
            _ => true,
        }) {
            // It has just been stolen.
            (ticket, place) = (back, lane.home().unwrap_or(place));
        }
        self.wake_for(scheduler, own, place);
    }

    /// After a flat queue has got an entry, or one of its lanes its right.
    fn wake_for(&self, scheduler: &Scheduler, own: Option<usize>, place: usize) {
        if self.queue == Queue::SharedTasks || self.steals {
            scheduler.notify();
        } else if own != Some(place) {
            scheduler.call(place);
        }
    }

    /// A worker has more than it can run next.
    pub(super) fn offer(&self, local: &Local) {
        if let Some(threshold) = self.threshold {
            self.push_surplus(local, threshold);
        }
        if self.steals {
            local.scheduler().notify();
        }
    }

    fn push_surplus(&self, local: &Local, threshold: usize) {
        let scheduler = local.scheduler();
        let load =
            |worker: usize| scheduler.remotes[worker].stealer.len() + self.inboxes[worker].len();
        let others = (0..self.workers).filter(|worker| *worker != local.index());
        let Some((least, place)) = others.map(|worker| (load(worker), worker)).min() else {
            return;
        };
        let own = local.deque.len();
        if own < least + threshold {
            return;
        }
        let surplus = (own - least).div_ceil(2);
        let mut moved = 0;
        while moved < surplus
            && let Some(lane) = local.deque.pop()
        {
            self.inboxes[place].put(lane);
            moved += 1;
        }
        local.remote().counters.pushes.add(moved as u64);
        scheduler.call(place);
    }
}

impl Scheduler {
    /// Makes one worker look again, for something that it alone may have been given; false if it
    /// was not parked: then it will look before it parks.
    pub(super) fn call(&self, worker: usize) -> bool {
        let called = self.idle.call(worker);
        if called {
            self.park.unpark(worker);
        }
        called
    }

    /// As `has_work_for`, in the laboratory.
    pub(super) fn has_lab_work_for(&self, lab: &Lab, worker: usize) -> bool {
        let of_all = |worker: usize| {
            lab.inboxes.get(worker).is_some_and(|inbox| inbox.has_some())
                || lab.flats.get(worker).is_some_and(|flat| flat.has_live())
                || !self.remotes[worker].mail.is_empty()
                || !self.remotes[worker].stealer.is_empty()
        };
        self.remotes[worker].has_inbox()
            || !self.injector.is_empty()
            || (lab.queue == Queue::SharedTasks && of_all(0))
            || of_all(worker)
            || (lab.steals && (0..lab.workers).any(of_all))
    }

    /// Whether something waits that a parked worker would find, for `rescue`.
    pub(super) fn is_lab_stranded(&self, lab: &Lab) -> bool {
        let any_stealable = || self.remotes.iter().any(|remote| remote.has_stealable());
        let shared = lab.steals || lab.queue == Queue::SharedTasks;
        !self.injector.is_empty() || (shared && (lab.has_any() || any_stealable()))
    }

    /// Whether nothing waits in the laboratory's own queues.
    pub(super) fn is_lab_empty(&self) -> bool {
        self.lab.as_ref().is_none_or(|lab| !lab.has_any())
    }
}
