//! The workers: awake, asleep or stopped.

use super::{Actor, World, now};
use crate::agenda::Event;
use crate::fault::Fault;
use crate::program;
use crate::slab::Key;
use crate::trace::What;
use colored_core::{Step, Worker};
use std::cell::{Cell, RefCell};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seated {
    /// The worker's next step is on the agenda.
    Awake,
    /// The worker is on the stack.
    InStep,
    /// The worker sleeps since this time.
    Parked(u64),
    /// A spare worker that has not joined.
    Absent,
    Stopped,
}

/// A worker, and its state.
pub(super) struct Seat {
    worker: RefCell<Worker>,
    seated: Cell<Seated>,
    /// Whether the worker's next park returns at once.
    token: Cell<bool>,
    /// How often the worker has parked. A time limit belongs to one park.
    parks: Cell<u32>,
    /// Whether its sleep is a pause. For the scheduler it is not parked then.
    pauses: Cell<bool>,
}

impl Seat {
    pub(super) fn new(worker: Worker) -> Self {
        Self {
            worker: RefCell::new(worker),
            seated: Cell::new(Seated::Awake),
            token: Cell::new(false),
            parks: Cell::new(0),
            pauses: Cell::new(false),
        }
    }
}

impl World {
    fn set_seated(&self, worker: u32, seated: Seated) {
        let before = self.seats[worker as usize].seated.replace(seated);
        let change = |count: &Cell<u32>, of: fn(Seated) -> bool| {
            count.set(count.get() + u32::from(of(seated)) - u32::from(of(before)));
        };
        change(&self.awake, |seated| seated == Seated::Awake);
        change(&self.parked, |seated| matches!(seated, Seated::Parked(_)));
    }

    /// How long a worker takes from its wake-up to its first step.
    fn latency(&self) -> u64 {
        100 + u64::from(self.chance.skewed(self.profile.wake_nanos))
    }

    pub(super) fn step(&self, worker: u32) {
        let seat = &self.seats[worker as usize];
        self.set_seated(worker, Seated::InStep);
        self.oracle(|oracle| oracle.slices.enter(Actor::Worker(worker), now()));
        self.note(What::Step, worker, 0);
        let mut step = seat.worker.borrow_mut().step();
        if step == Step::Ran && self.fault.is_due(Fault::EndlessSlice, self) {
            while step == Step::Ran && !self.has_failed() {
                step = seat.worker.borrow_mut().step();
            }
        }
        self.oracle(|oracle| oracle.slices.leave(now()));
        self.set_seated(worker, Seated::Awake);
        match step {
            Step::Ran => self.put(50 + u64::from(self.chance.below(200)), Event::Step(worker)),
            Step::Park(_) if seat.worker.borrow().is_absent() => self.leave(worker),
            Step::Park(limit) => self.park(worker, limit),
            Step::Stopped => {
                self.note(What::Stops, worker, 0);
                self.set_seated(worker, Seated::Stopped);
            }
        }
    }

    fn park(&self, worker: u32, limit: Option<u64>) {
        let seat = &self.seats[worker as usize];
        self.note(What::Parks, worker, limit.unwrap_or(0) as u32 / 1000);
        self.oracle(|oracle| oracle.slices.begin_sleep(worker));
        seat.parks.set(seat.parks.get() + 1);
        seat.pauses.set(!self.handle.scheduler().is_parked(worker as usize));
        if seat.token.take() {
            self.put(100, Event::Step(worker));
            return;
        }
        self.set_seated(worker, Seated::Parked(self.fair()));
        if let Some(limit) = limit {
            self.put(limit, Event::Limit(worker, seat.parks.get()));
        }
    }

    fn leave(&self, worker: u32) {
        let seat = &self.seats[worker as usize];
        self.oracle(|oracle| oracle.slices.begin_sleep(worker));
        if seat.token.take() {
            self.put(100, Event::Step(worker));
        } else {
            self.set_seated(worker, Seated::Absent);
        }
    }

    /// The backstop wants another number of spare workers.
    pub(super) fn want_spares(&self) {
        let spares = self.chance.below(self.profile.policy.options.spares as u32 + 1);
        self.note(What::Spares, spares, 0);
        self.handle.scheduler().want_spares(spares as usize);
        self.put(u64::from(self.chance.below(1 << 24)), Event::Spares);
    }

    pub(super) fn unpark(&self, worker: u32) {
        self.note(What::Unpark, worker, 0);
        if self.fault.is_due(Fault::LostUnpark, self) {
            return;
        }
        let seat = &self.seats[worker as usize];
        match seat.seated.get() {
            Seated::Parked(_) | Seated::Absent => self.wake_up(worker),
            Seated::Awake | Seated::InStep => seat.token.set(true),
            Seated::Stopped => {}
        }
    }

    fn wake_up(&self, worker: u32) {
        self.note(What::Wakes, worker, 0);
        self.set_seated(worker, Seated::Awake);
        self.put(self.latency(), Event::Step(worker));
    }

    pub(super) fn limit(&self, worker: u32, park: u32) {
        let seat = &self.seats[worker as usize];
        if seat.parks.get() == park && matches!(seat.seated.get(), Seated::Parked(_)) {
            self.wake_up(worker);
        }
    }

    pub(super) fn wake_for_no_reason(&self) {
        let worker = self.chance.below(self.profile.policy.seats());
        if matches!(self.seats[worker as usize].seated.get(), Seated::Parked(_) | Seated::Absent) {
            self.wake_up(worker);
        }
        self.put(u64::from(self.chance.below(1 << 22)), Event::Spurious);
    }

    /// A worker, or the backstop, hands out a timer that is due, and perhaps other events.
    pub(super) fn deliver(&self, timer: Key) {
        let more = self.chance.skewed(8) as usize;
        let mut due = self.stock.take_signals(&self.chance, more);
        due.extend(self.stock.take_timer(timer));
        self.stock.due.borrow_mut().extend(due);
        let worker = self.chance.below(self.profile.policy.seats());
        let seat = &self.seats[worker as usize];
        match seat.seated.get() {
            Seated::Awake | Seated::Parked(_) if !seat.worker.borrow().is_absent() => {
                if let Seated::Parked(_) = seat.seated.get() {
                    self.wake_up(worker);
                }
                self.oracle(|oracle| oracle.slices.enter_events(Actor::Worker(worker), now()));
                self.note(What::Events, worker, more as u32);
                // Now and then the batch counts as a large one, and so sends lanes home.
                let events = self.chance.below(2) as usize * 1_000;
                seat.worker.borrow_mut().batch(events, || program::wake_due(self));
                self.oracle(|oracle| oracle.slices.leave(now()));
            }
            _ => self.as_outsider(program::wake_due),
        }
    }

    pub(crate) fn all_stopped(&self) -> bool {
        self.seats.iter().all(|seat| seat.seated.get() == Seated::Stopped)
    }

    pub(crate) fn all_parked(&self) -> bool {
        let sleeps = |seat: &Seat| matches!(seat.seated.get(), Seated::Parked(_) | Seated::Absent);
        self.seats.iter().all(sleeps)
    }

    pub(super) fn is_parked(&self, worker: u32) -> bool {
        matches!(self.seats[worker as usize].seated.get(), Seated::Parked(_))
    }

    /// Whether a worker sleeps that will look for work by itself.
    pub(super) fn some_rest(&self) -> bool {
        self.seats
            .iter()
            .any(|seat| matches!(seat.seated.get(), Seated::Parked(_)) && seat.pauses.get())
    }

    /// Whether a worker has slept since before `then`.
    pub(super) fn some_sleep_since(&self, then: u64) -> bool {
        let sleeps = |seat: &Seat| match seat.seated.get() {
            Seated::Parked(since) => since < then,
            Seated::Awake | Seated::InStep | Seated::Absent | Seated::Stopped => false,
        };
        self.seats.iter().any(sleeps)
    }

    /// How often all workers together have parked.
    pub(super) fn parks(&self) -> u64 {
        self.seats.iter().map(|seat| u64::from(seat.parks.get())).sum()
    }
}
