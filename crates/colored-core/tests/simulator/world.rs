//! The world: virtual time, workers that are stepped on one thread, and threads that are no workers.
//!
//! # Overlap on one thread
//!
//! A poll that takes time ([`World::spend`]) may let the rest of the world go on: inside it, on the same stack,
//! other workers take steps up to the moment at which the poll ends. So polls of different colors really are in
//! progress at the same time, and a second one of the same color would be a violation of G1. That is sound because
//! a worker's step puts back all that it keeps in the thread: the worker, the task that it polls, its free lists
//! and its budget are saved and restored in the manner of a stack (`Local::enter`, `Hold`, `Cache::enter`,
//! `budget::fresh`), and no lock is held during a poll. One mark is not restored: the mark of a thread that is inside
//! the future of an `exclusive`. It does no harm, for nothing else happens while one is polled ([`World::alone`]). Such
//! a stack cannot show a poll that ends before one that began inside it.
//!
//! A thread that is no worker is a task of another scheduler: its worker is entered and left like
//! the others, and it holds no color of ours.

mod outsiders;
mod records;
mod rules;
mod seats;

use self::outsiders::Outsider;
use self::seats::Seat;
use crate::agenda::{Agenda, Event};
use crate::chance::Chance;
use crate::fault::Fault;
use crate::oracle::{COUNTED, Oracle, Violation, Waits};
use crate::profile::Profile;
use crate::program::Stock;
use crate::run::Plan;
use crate::trace::{Trace, What};
use colored_core::{Level, Park, Scheduler, SchedulerHandle};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

/// Nanoseconds between two looks of the backstop.
pub(crate) const RESCUE_NANOS: u64 = 5_000_000;

/// Events that may happen inside one poll: with many workers, and long polls inside long polls, the outermost one
/// would never end.
const EXCURSION: u64 = 5000;

/// The thread that acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    /// The thread that simulates: a thread that is no worker.
    World,
    Worker(u32),
    /// A thread that is no worker, beside all steps that are in progress.
    Outside(u32),
}

impl Actor {
    pub(crate) fn number(self) -> u64 {
        match self {
            Actor::World => 0,
            Actor::Worker(worker) => 1 + 2 * u64::from(worker),
            Actor::Outside(which) => 2 + 2 * u64::from(which),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::World => f.pad("world"),
            Actor::Worker(worker) => f.pad(&format!("worker {worker}")),
            Actor::Outside(which) => f.pad(&format!("outside {which}")),
        }
    }
}

/// The phase of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The program does random acts.
    Active,
    /// The next thread that comes by shuts the scheduler down.
    EndIsDue,
    /// All tasks end.
    Winding,
    /// The scheduler has been shut down.
    Closing,
}

thread_local! {
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
    static CLOCK: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn now() -> u64 {
    CLOCK.get()
}

/// The scheduler's access to this thread's world.
struct Port;

impl Park for Port {
    fn unpark(&self, worker: usize) {
        World::with(|world| world.unpark(worker as u32));
    }

    fn now(&self) -> u64 {
        now()
    }
}

pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) profile: Profile,
    pub(crate) fault: Fault,
    pub(crate) handle: SchedulerHandle,
    pub(crate) stock: Stock,
    pub(crate) phase: Cell<Phase>,
    oracle: RefCell<Oracle>,
    trace: RefCell<Trace>,
    agenda: RefCell<Agenda>,
    seats: Vec<Seat>,
    outsiders: Vec<Outsider>,
    /// Workers that sleep, and have not been told to wake up.
    parked: Cell<u32>,
    /// Workers that are awake and between two steps.
    awake: Cell<u32>,
    depth: Cell<u32>,
    /// Whether nothing else happens meanwhile, however long that takes.
    alone: Cell<bool>,
    /// The number of events by which the outermost poll in progress must end.
    excursion: Cell<u64>,
    /// The time of polls during which nothing else could happen.
    unfair: Cell<u64>,
    failed: Cell<bool>,
    /// What was measured, and what the scheduler says, when all tasks had ended.
    waits: Cell<Option<(Waits, Waits)>>,
}

impl World {
    /// Makes a world of this thread.
    pub(crate) fn begin(seed: u64, plan: &Plan) -> Rc<Self> {
        let chance = Chance::new(seed);
        let mut profile = Profile::new(&chance, plan.events, plan.kind);
        if plan.records {
            profile.simplify();
        }
        CLOCK.set(0);
        let workers = profile.workers as usize;
        let (handle, workers) =
            Scheduler::with_options(workers, chance.draw(), Box::new(Port), profile.policy.options);
        if plan.records {
            handle.scheduler().set_level(Level::Tasks);
        }
        let world = Rc::new(Self {
            oracle: RefCell::new(Oracle::new(&profile)),
            trace: RefCell::new(Trace::new(plan.lines)),
            agenda: RefCell::default(),
            seats: workers.into_iter().map(Seat::new).collect(),
            outsiders: (0..outsiders::COUNT).map(|_| Outsider::new()).collect(),
            stock: Stock::default(),
            phase: Cell::new(Phase::Active),
            parked: Cell::new(0),
            awake: Cell::new(profile.policy.seats()),
            depth: Cell::new(0),
            alone: Cell::new(false),
            excursion: Cell::new(0),
            unfair: Cell::new(0),
            failed: Cell::new(false),
            waits: Cell::new(None),
            chance,
            profile,
            fault: plan.fault,
            handle,
        });
        WORLD.set(Some(Rc::clone(&world)));
        world.set_the_scene();
        world
    }

    /// Takes the world from this thread.
    pub(crate) fn end() {
        WORLD.take();
    }

    /// Calls `f` with this thread's world.
    pub(crate) fn with<R>(f: impl FnOnce(&World) -> R) -> R {
        let world = WORLD.with_borrow(Clone::clone).expect("hooks run while there is a world");
        f(&world)
    }

    fn set_the_scene(&self) {
        for worker in 0..self.profile.policy.seats() {
            self.put(u64::from(self.chance.below(1000)), Event::Step(worker));
        }
        self.put(0, Event::Outside);
        self.put(RESCUE_NANOS, Event::Rescue);
        self.put(u64::from(self.chance.below(1 << 20)), Event::Spurious);
        if self.profile.policy.options.spares > 0 {
            self.put(0, Event::Spares);
        }
    }

    /// Asks the oracle, or tells it something.
    pub(crate) fn oracle<R>(&self, f: impl FnOnce(&mut Oracle) -> R) -> R {
        let mut oracle = self.oracle.borrow_mut();
        oracle.at(now(), self.fair(), self.moved());
        let result = f(&mut oracle);
        self.failed.set(oracle.violation().is_some());
        result
    }

    /// How many lanes have moved from one worker to another, if the oracle wants that.
    fn moved(&self) -> u64 {
        let seats = self.profile.policy.seats();
        if seats > COUNTED {
            return 0;
        }
        let metrics = |worker| self.handle.scheduler().worker_metrics(worker as usize);
        let moved = (0..seats).map(metrics).map(|of| of.steals);
        moved.sum()
    }

    pub(crate) fn note(&self, what: What, first: u32, second: u32) {
        let actor = self.oracle.borrow().actor();
        self.trace.borrow_mut().note(now(), actor, what, first, second);
    }

    /// Whether a guarantee was not kept. From then on the run means nothing.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    pub(crate) fn violation(&self) -> Option<Violation> {
        self.oracle.borrow().violation().cloned()
    }

    pub(crate) fn trace<R>(&self, f: impl FnOnce(&Trace) -> R) -> R {
        f(&self.trace.borrow())
    }

    pub(crate) fn put(&self, after: u64, event: Event) {
        self.agenda.borrow_mut().put(now() + after, event);
    }

    /// Lets time go by in a poll, a callback or a destructor. Now and then the rest of the world goes on meanwhile.
    pub(crate) fn spend(&self, nanos: u64) {
        let until = now() + nanos;
        let depth = self.depth.get();
        let fits = depth < self.profile.depth && !self.alone.get();
        if fits && self.chance.permille(self.profile.overlap) {
            if depth == 0 {
                self.excursion.set(self.events() + EXCURSION);
            }
            self.depth.set(depth + 1);
            while self.events() < self.excursion.get() && self.happens_until(until) {}
            self.depth.set(depth);
            if self.events() < self.excursion.get() {
                // The poll kept nothing waiting.
                CLOCK.set(now().max(until));
            }
        }
        self.unfair.set(self.unfair.get() + until.saturating_sub(now()));
        CLOCK.set(now().max(until));
    }

    /// Runs `f` while nothing else happens.
    pub(crate) fn alone<R>(&self, f: impl FnOnce() -> R) -> R {
        let before = self.alone.replace(true);
        let result = f();
        self.alone.set(before);
        result
    }

    /// The time without the polls during which the other workers had to wait for the one real thread.
    fn fair(&self) -> u64 {
        now() - self.unfair.get()
    }

    /// How many events have happened.
    pub(crate) fn events(&self) -> u64 {
        self.trace.borrow().count()
    }

    /// Lets the next event happen, if it is due by then.
    pub(crate) fn happens_until(&self, until: u64) -> bool {
        if self.has_failed() {
            return false;
        }
        let next = self.agenda.borrow_mut().next_until(until);
        let Some((time, event)) = next else { return false };
        CLOCK.set(now().max(time));
        match event {
            Event::Step(worker) => self.step(worker),
            Event::Limit(worker, park) => self.limit(worker, park),
            Event::Ready(timer) => self.deliver(timer),
            Event::Outside => self.visit(),
            Event::Rescue => self.rescue(),
            Event::Spares => self.want_spares(),
            Event::Spurious => self.wake_for_no_reason(),
        }
        self.check_rules();
        true
    }

    /// Whether nothing is in progress on the stack.
    pub(crate) fn is_top(&self) -> bool {
        self.depth.get() == 0
    }

    pub(crate) fn shut_down(&self) {
        self.phase.set(Phase::Closing);
        self.note(What::ShutDown, 0, 0);
        self.oracle(Oracle::close);
        self.handle.scheduler().shut_down();
    }
}
