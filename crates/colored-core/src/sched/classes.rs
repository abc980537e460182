//! Priorities between colors: a queue for each class, once the program has set a priority.
//!
//! Until then the only cost is a flag in each worker's own cache line. From then on every lane that becomes runnable
//! *leaves* its right to run in itself (`lane/priority.rs`). A ticket for it goes into one of three queues of the
//! worker that the plain scheduler would have chosen, or into one of three shared queues. Lanes that were queued
//! before count as normal until they have run.
//!
//! # Which lane is next
//!
//! A worker takes the highest class that its own queues and the shared queues have. Before it takes a lane that is not
//! [`Priority::High`], it looks for a high one in all workers' queues. Within a class each queue is first come, first
//! served, except that lanes that waited in a line run behind the others (`home_queue.rs`), and the queues take turns.
//! Priority is between lanes only: a lane is one queue (G2). Every `LOWER_STEPS`th time the worker looks for one of
//! the lower classes first, in turn, so that neither starves (G7).
//!
//! # No lane is left behind (G6)
//!
//! A thread puts a ticket into its queue after the right was left (or, for a lane that is raised, when it was found
//! left), and then looks for sleepers. A right that is left has a ticket in a queue, of its own class or a higher one.
//! The worker that takes a ticket out takes the right with it, or finds that another worker has taken the right, and
//! drops the ticket. A lane has at most one ticket of each class: a ticket that stays behind keeps the lane's place
//! there. So the argument of `idle.rs` holds with "publishes the lane" read as "puts a ticket". A single lane that is
//! not high, on a worker that runs, causes no wake-up, as in the `next` slot; any worker that is awake may take it,
//! and `rescue` finds it.
//!
//! The flag is set before the first ticket is made. A worker that parks looks at the queues whether it has seen the
//! flag or not. Its fence, and the fence of the thread that put a ticket there, show it both the flag and the ticket.

mod set;

use super::Scheduler;
use super::policy::{Destination, Since, TicketPlace};
use crate::color::Color;
use crate::lane::{Lane, LaneRef, Priority, ReadyLane, Ticket};
use crate::sync::{AtomicUsize, Mutex, Ordering};
use crossbeam_utils::CachePadded;
use std::collections::{BTreeMap, VecDeque};

const CLASSES: usize = 3;

/// The classes, highest first.
pub(super) const DOWN: [Priority; CLASSES] = [Priority::High, Priority::Normal, Priority::Low];

pub(super) struct Classes {
    /// One for each worker, and one that all workers share.
    queues: Box<[CachePadded<RankQueue>]>,
    /// Tickets of the highest class, anywhere.
    high: AtomicUsize,
    /// Colors with a priority of their own.
    bases: Mutex<BTreeMap<Color, (Priority, LaneRef)>>,
}

/// Tickets of one class.
#[derive(Default)]
struct Class {
    tickets: VecDeque<Ticket>,
    behind: VecDeque<Ticket>,
}

impl Class {
    fn push(&mut self, how: TicketPlace, ticket: Ticket) {
        match how {
            TicketPlace::Last => self.tickets.push_back(ticket),
            TicketPlace::Behind => self.behind.push_back(ticket),
        }
    }

    fn pop(&mut self) -> Option<Ticket> {
        if self.tickets.is_empty() {
            self.let_up();
        }
        self.tickets.pop_front()
    }

    /// Moves the tickets that are behind to the end of the queue.
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
    /// How many tickets there are, by class.
    lens: [AtomicUsize; CLASSES],
}

impl RankQueue {
    fn new() -> Self {
        let tickets = Mutex::new([(); CLASSES].map(|()| Class::default()));
        Self { tickets, lens: [0; CLASSES].map(AtomicUsize::new) }
    }

    fn push(&self, class: Priority, how: TicketPlace, ticket: Ticket) {
        let mut tickets = self.tickets.lock();
        let of_class = &mut tickets[class as usize];
        of_class.push(how, ticket);
        // Ordering: the write is under the lock; the look for sleepers that follows makes it visible.
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
            queues: (0..=workers).map(|_| CachePadded::new(RankQueue::new())).collect(),
            high: AtomicUsize::new(0),
            bases: Mutex::new(BTreeMap::new()),
        }
    }

    /// The place of the shared queues.
    pub(super) fn for_all(&self) -> usize {
        self.queues.len() - 1
    }

    /// Whether a lane of the highest class may be queued anywhere. A hint.
    pub(super) fn has_high(&self) -> bool {
        // Ordering: a hint, see `put`.
        self.high.load(Ordering::Relaxed) > 0
    }

    fn put(&self, queue: usize, class: Priority, how: TicketPlace, ticket: Ticket) {
        if class == Priority::High {
            // Ordering: a hint: a worker that misses it looks everywhere before it parks.
            self.high.fetch_add(1, Ordering::Relaxed);
        }
        self.queues[queue].push(class, how, ticket);
    }

    /// Now and then, moves the tickets that are behind to the end, in the worker's queue and in the shared one.
    pub(super) fn let_up(&self, worker: usize) {
        for queue in [worker, self.for_all()].map(|place| &self.queues[place]) {
            if queue.total() > 0 {
                queue.tickets.lock().iter_mut().for_each(Class::let_up);
            }
        }
    }

    /// Takes the oldest lane of a class that no worker has taken by another ticket.
    pub(super) fn take(&self, place: usize, class: Priority) -> Option<ReadyLane> {
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

    /// Moves the tickets of a worker's queue to the shared one. Returns whether there were any.
    pub(super) fn hand_over(&self, worker: usize) -> bool {
        let mut any = false;
        for class in DOWN {
            while let Some(ticket) = self.queues[worker].pop(class) {
                self.queues[self.for_all()].push(class, TicketPlace::Last, ticket);
                any = true;
            }
        }
        any
    }

    /// Whether a ticket is queued that a worker may take: from its own and the shared queues, or from all workers'
    /// queues. A ticket whose lane is taken counts too.
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

    /// Takes any queued lane.
    pub(super) fn any_ready(&self) -> Option<ReadyLane> {
        let mut places = 0..self.queues.len();
        places.find_map(|place| DOWN.into_iter().find_map(|class| self.take(place, class)))
    }
}

impl Scheduler {
    /// Queues a lane that has become runnable, or has had its slice, by its class. `own` is the worker that has it, if
    /// one has.
    pub(super) fn rank(&self, own: Option<usize>, lane: ReadyLane, since: Since, how: TicketPlace) {
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
    pub(super) fn rise(&self, own: Option<usize>, lane: LaneRef, to: Priority) {
        // This also holds in a shutdown: the lane's word already says that this ticket is coming.
        let place = self.rank_place(own, &lane);
        self.classes.put(place, to, TicketPlace::Last, Ticket::new(lane));
        self.wake_for_rank(own, place, true);
        self.drain_if_stopped();
    }

    /// Whether that worker still has a lane that was queued before the first priority was set.
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

    /// To be called after a ticket was put. `more`: the worker there has more lanes than the one that it runs next.
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
