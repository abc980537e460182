//! Priorities between colors: a queue for each class, once anybody has named one.
//!
//! Until then there is nothing of this but a flag in each worker's own line. From then on every
//! lane that becomes runnable *leaves* its right in itself (`lane/priority.rs`), and a ticket for it goes
//! into one of three queues of the worker that the plain scheduler would have given it to, or into one of
//! three that are for all. What was queued before is taken as normal until it has run.
//!
//! # Which lane is next
//!
//! A worker takes the highest class that its own queues and those for all have; before it takes
//! something that is not [`Priority::High`], it looks for that in everybody's. Within a class it is
//! first come, first served in each queue, but that whoever has waited in a line comes behind the others
//! (`home_queue.rs`), and the queues take turns. Priority is between lanes only: a lane is one queue (G2). Every
//! `LOWER_STEPS`th time it looks for one of the lower classes first, by turns, so that neither
//! starves (G7).
//!
//! # No lane is left behind (G6)
//!
//! Every ticket is put into its queue after the right was left (or, for a lane that is raised, when
//! it was found left), and followed by a look for sleepers. A right that is left has a ticket that is
//! yet to be taken out, of its own class or a higher one: whoever takes one out takes the right with it,
//! or finds that another has, and drops it. A lane has one of each class at most: one that stays behind
//! keeps the lane's place there. So the argument of `idle.rs` holds with "publishes the lane" read as "puts a ticket".
//! A lone lane that is not high, on a worker that runs, causes no wake-up, as in the `next` slot; whoever
//! is awake may take it, and `rescue` finds it.
//!
//! The flag is set before the first ticket is made. A worker that parks looks at the queues whether
//! it has seen the flag or not, and the fences that it shares with whoever put a ticket there show it
//! both.

mod find;
mod set;

use super::policy::{Destination, Since};
use super::{Scheduler, local};
use crate::color::Color;
use crate::lane::{Lane, LaneRef, Priority, ReadyLane, Ticket};
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering};
use crossbeam_utils::CachePadded;
use std::collections::{BTreeMap, VecDeque};

const CLASSES: usize = 3;

/// From the highest on.
const DOWN: [Priority; CLASSES] = [Priority::High, Priority::Normal, Priority::Low];

pub(super) struct Classes {
    used: AtomicBool,
    /// One for each worker, and one for all.
    queues: Box<[CachePadded<RankQueue>]>,
    /// Tickets of the highest class, anywhere.
    high: AtomicUsize,
    /// Colors with a priority of their own.
    bases: Mutex<BTreeMap<Color, (Priority, LaneRef)>>,
}

/// How a ticket goes into the queue of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queued {
    /// To the end.
    Last,
    /// Behind all that is there and comes, until the worker [looks](Classes::let_up).
    Behind,
}

/// Tickets of one class.
#[derive(Default)]
struct Class {
    tickets: VecDeque<Ticket>,
    behind: VecDeque<Ticket>,
}

impl Class {
    fn push(&mut self, how: Queued, ticket: Ticket) {
        match how {
            Queued::Last => self.tickets.push_back(ticket),
            Queued::Behind => self.behind.push_back(ticket),
        }
    }

    fn pop(&mut self) -> Option<Ticket> {
        if self.tickets.is_empty() {
            self.let_up();
        }
        self.tickets.pop_front()
    }

    /// What is behind comes to the end.
    fn let_up(&mut self) {
        self.tickets.append(&mut self.behind);
    }

    fn len(&self) -> usize {
        self.tickets.len() + self.behind.len()
    }
}

/// Tickets by class.
struct RankQueue {
    tickets: Mutex<[Class; CLASSES]>,
    /// How many there are, by class.
    lens: [AtomicUsize; CLASSES],
}

impl RankQueue {
    fn new() -> Self {
        let tickets = Mutex::new([(); CLASSES].map(|()| Class::default()));
        Self { tickets, lens: [0; CLASSES].map(AtomicUsize::new) }
    }

    fn push(&self, class: Priority, how: Queued, ticket: Ticket) {
        let mut tickets = self.tickets.lock();
        let of_class = &mut tickets[class as usize];
        of_class.push(how, ticket);
        // Ordering: under the lock; the look for sleepers that follows makes it seen.
        self.lens[class as usize].store(of_class.len(), Ordering::Relaxed);
    }

    fn pop(&self, class: Priority) -> Option<Ticket> {
        if self.len(class) == 0 {
            return None;
        }
        let mut tickets = self.tickets.lock();
        let of_class = &mut tickets[class as usize];
        let ticket = of_class.pop();
        // Ordering: as in `push`.
        self.lens[class as usize].store(of_class.len(), Ordering::Relaxed);
        ticket
    }

    fn len(&self, class: Priority) -> usize {
        // Ordering: as in `push`.
        self.lens[class as usize].load(Ordering::Relaxed)
    }

    fn total(&self) -> usize {
        DOWN.into_iter().map(|class| self.len(class)).sum()
    }
}

impl Classes {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            used: AtomicBool::new(false),
            queues: (0..=workers).map(|_| CachePadded::new(RankQueue::new())).collect(),
            high: AtomicUsize::new(0),
            bases: Mutex::new(BTreeMap::new()),
        }
    }

    pub(super) fn are_used(&self) -> bool {
        // Ordering: see the module; a thread that has yet to see it does as before.
        self.used.load(Ordering::Relaxed)
    }

    /// The place of the queues for all.
    fn for_all(&self) -> usize {
        self.queues.len() - 1
    }

    fn put(&self, queue: usize, class: Priority, how: Queued, ticket: Ticket) {
        if class == Priority::High {
            // Ordering: a hint: who misses it looks everywhere before it parks.
            self.high.fetch_add(1, Ordering::Relaxed);
        }
        self.queues[queue].push(class, how, ticket);
    }

    /// Now and then, a worker lets what is behind in its queue, and in that for all, come to the end.
    pub(super) fn let_up(&self, worker: usize) {
        for queue in [worker, self.for_all()].map(|place| &self.queues[place]) {
            if queue.total() > 0 {
                queue.tickets.lock().iter_mut().for_each(Class::let_up);
            }
        }
    }

    /// The oldest lane of a class that nobody has taken by another ticket.
    fn take(&self, place: usize, class: Priority) -> Option<ReadyLane> {
        while let Some(ticket) = self.queues[place].pop(class) {
            if class == Priority::High {
                // Ordering: as in `put`.
                self.high.fetch_sub(1, Ordering::Relaxed);
            }
            if let Some(lane) = ticket.redeem(class) {
                return Some(lane);
            }
        }
        None
    }

    /// Whether anything is queued that a worker may take: from its own queues and those for all, or
    /// from everybody's. A ticket that leads nowhere counts as something.
    pub(super) fn has_work_for(&self, worker: usize, steals: bool) -> bool {
        let mut places = self
            .queues
            .iter()
            .enumerate()
            .filter(|(place, _)| steals || *place == worker || *place == self.for_all());
        places.any(|(_, queue)| queue.total() > 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queues.iter().all(|queue| queue.total() == 0)
    }

    /// A lane that is queued.
    pub(super) fn any_ready(&self) -> Option<ReadyLane> {
        let mut places = 0..self.queues.len();
        places.find_map(|place| DOWN.into_iter().find_map(|class| self.take(place, class)))
    }
}

impl Scheduler {
    /// Takes a lane that has become runnable, or has had its slice, by its class. `own` is the worker
    /// that has it, if one has.
    pub(super) fn rank(&self, own: Option<usize>, lane: ReadyLane, since: Since, how: Queued) {
        let place = self.rank_place(own, lane.lane());
        let ticket = lane.ticket();
        let class = lane.leave();
        if let Some(class) = class {
            self.classes.put(place, class, how, ticket);
        }
        // A ticket that is there already may be in any queue.
        let urgent = class == Some(Priority::High) && since == Since::Scheduled;
        let one_of_many = || self.classes.queues[place].total() > 1 || self.has_left_over(place);
        let more = urgent || class.is_none() || one_of_many();
        self.wake_for_rank(own, place, more);
    }

    /// Puts a lane that is queued into the queue of a higher class as well.
    pub(super) fn rise(&self, lane: &LaneRef, to: Priority) {
        // Also in a shutdown: the lane's word says already that this ticket is on its way.
        let own = local::index_in(self);
        let place = self.rank_place(own, lane);
        self.classes.put(place, to, Queued::Last, Ticket::new(lane.clone()));
        self.wake_for_rank(own, place, true);
        self.drain_if_stopped();
    }

    /// Whether there is something at that worker that was queued before anybody named a priority.
    fn has_left_over(&self, place: usize) -> bool {
        let remote = self.remotes.get(place);
        remote.is_some_and(|remote| remote.has_next() || !remote.stealer.is_empty())
    }

    fn rank_place(&self, own: Option<usize>, lane: &Lane) -> usize {
        let for_all = self.classes.for_all();
        match self.destination(own, lane) {
            Destination::Usual => own.unwrap_or(for_all),
            Destination::Worker(place) => place,
            Destination::Everybody => for_all,
        }
    }

    /// After a ticket was put. `more`: there is more than the worker there runs next.
    fn wake_for_rank(&self, own: Option<usize>, place: usize, more: bool) {
        if place == self.classes.for_all() {
            self.notify();
        } else if own == Some(place) {
            if more && self.steals {
                self.notify();
            }
        } else {
            self.call_or_notify(place);
        }
    }
}
