//! The world of a simulation: its hosts, and what they share.
//!
//! A [`Host`] is what outlives a crash of the runtime on it. The runtime's services point to it, as to any
//! [`Machine`](colored_machine::Machine).

mod disk;
mod faults;
mod files;
mod machine;
mod network;

pub use self::faults::Fault;
pub(crate) use self::faults::{Chance, Rates, Tell};

use crate::disk::Disk;
use crate::wall::{self, SystemTime};
use colored_core::WorkerMemory;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What the hosts of a run share.
pub(crate) struct World {
    origin: Instant,
    /// Nanoseconds since the origin.
    now: AtomicU64,
    chance: Chance,
    tell: Tell,
    pub(crate) rates: Rates,
    /// No more faults happen.
    is_quiet: AtomicBool,
    /// The names of the hosts, by number.
    names: Vec<String>,
    /// How far the times of day of the hosts are ahead, in nanoseconds.
    ahead: Vec<AtomicI64>,
    orders: Mutex<Vec<(usize, Order)>>,
    /// Whether there are orders.
    has_orders: AtomicBool,
    network: Mutex<network::State>,
    /// How many packets are under way.
    packets: AtomicUsize,
    /// Each is made when it is used first.
    disks: Vec<OnceLock<Mutex<Disk>>>,
    /// Of runtimes that have ended.
    memory: Mutex<WorkerMemory>,
}

/// What the program has asked for, and the simulation does after the present turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Drops the runtime of the host.
    Crash,
    /// Makes another one, unless there is one.
    Restart,
    /// Gives the host no turn.
    Pause,
    /// Ends a pause.
    Resume,
    /// Lets happen on all hosts what is due.
    Fire,
}

impl World {
    pub(crate) fn new(names: Vec<String>, chance: Chance, tell: Tell) -> World {
        World {
            origin: wall::now(),
            now: AtomicU64::new(0),
            chance,
            tell,
            rates: Rates::default(),
            is_quiet: AtomicBool::new(false),
            network: Mutex::new(network::State::new(names.len())),
            ahead: names.iter().map(|_| AtomicI64::new(0)).collect(),
            disks: names.iter().map(|_| OnceLock::new()).collect(),
            names,
            orders: Mutex::default(),
            has_orders: AtomicBool::new(false),
            packets: AtomicUsize::new(0),
            memory: Mutex::default(),
        }
    }

    /// The world as a new one, with the same hosts; none if somebody has a part of the old one.
    pub(crate) fn reset(mut this: Arc<World>) -> Option<Arc<World>> {
        let world = Arc::get_mut(&mut this)?;
        let new = World::new(mem::take(&mut world.names), world.chance, world.tell);
        let memory = mem::replace(world, new).memory;
        world.memory = memory;
        Some(this)
    }

    /// What runtimes that are made find, and those that have ended leave.
    pub(crate) fn memory(&self) -> MutexGuard<'_, WorkerMemory> {
        // A panic under this lock leaves a list that is whole.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the host of this name.
    pub(crate) fn number_of(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The present, in nanoseconds since the run began.
    pub(crate) fn now(&self) -> u64 {
        // Ordering: only the thread of the run writes.
        self.now.load(Ordering::Relaxed)
    }

    /// Time moves to `to`; the clocks of the runtimes are moved by the caller.
    pub(crate) fn set_now(&self, to: u64) {
        // Ordering: as in `now`.
        self.now.store(to, Ordering::Relaxed);
    }

    /// Whether no more faults happen.
    pub(crate) fn is_quiet(&self) -> bool {
        // Ordering: only the thread of the run writes.
        self.is_quiet.load(Ordering::Relaxed)
    }

    /// From now on no faults happen.
    pub(crate) fn set_quiet(&self) {
        // Ordering: as in `is_quiet`.
        self.is_quiet.store(true, Ordering::Relaxed);
    }

    pub(crate) fn order(&self, host: usize, order: Order) {
        self.orders().push((host, order));
        // Ordering: only the thread of the run writes and reads.
        self.has_orders.store(true, Ordering::Relaxed);
    }

    /// Whether something was asked for since the last take.
    pub(crate) fn has_orders(&self) -> bool {
        // Ordering: as in `order`.
        self.has_orders.load(Ordering::Relaxed)
    }

    /// Takes what has been asked for, in its order.
    pub(crate) fn take_orders(&self) -> Vec<(usize, Order)> {
        // Ordering: as in `order`.
        self.has_orders.store(false, Ordering::Relaxed);
        mem::take(&mut *self.orders())
    }

    /// Moves a host's time of day by so many nanoseconds, forward or back.
    pub(crate) fn step_clock(&self, host: usize, nanos: i64) {
        // Ordering: only the thread of the run writes.
        let ahead = self.ahead[host].load(Ordering::Relaxed);
        self.ahead[host].store(ahead.saturating_add(nanos), Ordering::Relaxed);
    }

    fn orders(&self) -> MutexGuard<'_, Vec<(usize, Order)>> {
        // A panic under this lock leaves the list whole.
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A simulated machine. It is the same one after a crash.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) world: Arc<World>,
    pub(crate) number: usize,
}

/// The time of day at which each run begins, in seconds since 1970: 2026-01-01.
const BEGIN: u64 = 1_767_225_600;

impl Host {
    pub(crate) fn new(world: &Arc<World>, number: usize) -> Arc<Host> {
        Arc::new(Host { world: Arc::clone(world), number })
    }

    /// Its time of day.
    fn time_of_day(&self) -> SystemTime {
        let begin = SystemTime::UNIX_EPOCH + Duration::from_secs(BEGIN);
        // Ordering: only the thread of the run writes.
        let ahead = self.world.ahead[self.number].load(Ordering::Relaxed);
        let exact = begin + Duration::from_nanos(self.world.now());
        let step = Duration::from_nanos(ahead.unsigned_abs());
        if ahead < 0 { exact - step } else { exact + step }
    }

    /// The runtime is about to be dropped by a crash. What was not synced is lost, and peers learn nothing.
    pub(crate) fn crash(&self) {
        self.world.network().crash(self.number);
        self.world.fail_power(self.number);
    }

    /// A runtime starts on the host.
    pub(crate) fn boot(&self) {
        self.world.network().boot(self.number);
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("name", &self.world.names[self.number]).finish_non_exhaustive()
    }
}
