//! The controller in virtual time, before servers that take work first-in first-out.

use super::control::Control;
use super::overloaded::Check;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000 * MICRO;
const SECOND: u64 = 1_000 * MILLI;

/// The average duration of a piece of work, and the time that it may wait.
const SERVICE: u64 = MILLI;
const TARGET: u64 = 20 * MILLI;
const INTERVAL: u64 = 10 * TARGET;

/// Random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    /// In (0, 1].
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponentially distributed.
    fn about(&mut self, mean: f64) -> u64 {
        (-self.unit().ln() * mean) as u64
    }
}

/// How long a piece of work takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Always,
    Exponential,
}

/// Several servers and one queue.
struct Sim {
    control: Control,
    dice: Dice,
    service: Service,
    now: u64,
    /// When the busy servers are done.
    busy: BinaryHeap<Reverse<u64>>,
    servers: usize,
    queue: VecDeque<u64>,
    sojourns: Vec<u64>,
    longest: usize,
}

impl Sim {
    fn new(seed: u64, servers: usize, service: Service) -> Self {
        Self {
            control: Control::new(TARGET, INTERVAL),
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            service,
            now: 0,
            busy: BinaryHeap::new(),
            servers,
            queue: VecDeque::new(),
            sojourns: Vec::new(),
            longest: 0,
        }
    }

    fn arrive(&mut self) -> bool {
        self.arrive_since(self.now)
    }

    fn arrive_since(&mut self, arrived: u64) -> bool {
        let admitted = self.control.arrive(arrived, self.now).is_ok();
        if admitted {
            self.queue.push_back(arrived);
            self.longest = self.longest.max(self.queue.len());
            self.serve();
        }
        admitted
    }

    /// Gives work to servers that are free.
    fn serve(&mut self) {
        while self.busy.len() < self.servers {
            let Some(arrived) = self.queue.pop_front() else { return };
            if self.control.turn(arrived, self.now) {
                self.sojourns.push(self.now - arrived);
                let mean = (SERVICE * self.servers as u64) as f64;
                let time = match self.service {
                    Service::Always => mean as u64,
                    Service::Exponential => self.dice.about(mean),
                };
                self.busy.push(Reverse(self.now + time));
            }
        }
    }

    /// Lets time pass with no arrivals.
    fn until(&mut self, time: u64) {
        while let Some(Reverse(done)) = self.busy.peek().copied().filter(|done| done.0 <= time) {
            self.now = done;
            self.busy.pop();
            self.serve();
        }
        self.now = time;
    }

    /// Arrivals at random, `load` times the capacity of the servers, for `time`.
    fn load(&mut self, load: f64, time: u64) {
        let end = self.now + time;
        loop {
            let next = self.now + self.dice.about(SERVICE as f64 / load);
            if next >= end {
                return self.until(end);
            }
            self.until(next);
            self.arrive();
        }
    }

    /// The work that has begun since the last call, as a share of the servers' capacity in `time`; and the sojourn time
    /// that 99 % of it did not exceed.
    fn take(&mut self, time: u64) -> (f64, u64) {
        let mut sojourns = std::mem::take(&mut self.sojourns);
        sojourns.sort_unstable();
        let p99 = sojourns.get((sojourns.len() * 99).div_ceil(100).saturating_sub(1)).copied();
        (sojourns.len() as f64 * SERVICE as f64 / time as f64, p99.unwrap_or(0))
    }

    fn refused(&self) -> u64 {
        self.control.counts.rejected + self.control.counts.shed
    }
}

fn worlds() -> impl Iterator<Item = (u64, usize, Service)> {
    (1..=12).flat_map(|seed| {
        [1, 4, 64].into_iter().flat_map(move |servers| {
            [Service::Always, Service::Exponential].map(|service| (seed, servers, service))
        })
    })
}

#[test]
fn overload_costs_no_goodput_and_late_work_never_begins() {
    for (seed, servers, service) in worlds() {
        for load in [1.1, 2.0, 10.0] {
            let mut sim = Sim::new(seed, servers, service);
            sim.load(load, 10 * SECOND);
            let (goodput, p99) = sim.take(10 * SECOND);
            let what = format!("seed {seed}, {servers} servers, {service:?}, load {load}");
            assert!(goodput >= 0.9, "{what}: goodput {goodput}");
            assert!(p99 <= 2 * TARGET, "{what}: p99 {p99}");
            // The work that arrives in two targets or begins in four, and by chance somewhat more.
            let bound = ((2.0 * load).max(4.0) * (TARGET / SERVICE) as f64 * 1.5) as usize;
            assert!(sim.longest <= bound, "{what}: {} waited", sim.longest);
        }
    }
}

/// Senders that ignore refusals: the delay still approaches the target, and little is admitted in vain.
#[test]
fn the_delay_comes_to_the_target() {
    // Sixty-four that all take 64 ms go in step, and nothing begins for most of that time.
    let in_step = |world: &(u64, usize, Service)| world.1 == 64 && world.2 == Service::Always;
    for (seed, servers, service) in worlds().filter(|world| !in_step(world)) {
        let mut sim = Sim::new(seed, servers, service);
        sim.load(2.0, 5 * SECOND);
        sim.take(1);
        let before = sim.control.counts;
        sim.load(2.0, 10 * SECOND);
        let counts = sim.control.counts;
        let mean = sim.sojourns.iter().sum::<u64>() / sim.sojourns.len() as u64;
        let what = format!("seed {seed}, {servers} servers, {service:?}");
        assert!((TARGET * 3 / 4..TARGET * 5 / 4).contains(&mean), "{what}: mean delay {mean}");
        let shed = (counts.shed - before.shed) as f64 / (counts.begun - before.begun) as f64;
        assert!(shed < 0.01, "{what}: {shed} shed for each that began");
    }
}

/// A receiver takes arrivals once in half a target, and once a second pauses for three targets; the time until then
/// counts.
#[test]
fn work_that_waits_before_its_offer_does_not_begin_late_either() {
    for (seed, servers, service) in worlds() {
        let mut sim = Sim::new(seed, servers, service);
        let (mut arrived, mut late) = (0, 0);
        for look in (1..=20 * SECOND / TARGET).filter(|look| look % 100 < 95) {
            sim.until(look * TARGET / 2);
            while arrived < sim.now {
                let is_late = sim.now - arrived > 2 * TARGET;
                late += usize::from(is_late);
                assert!(!(sim.arrive_since(arrived) && is_late), "seed {seed}");
                arrived += sim.dice.about(SERVICE as f64 / 2.0);
            }
        }
        let latest = sim.sojourns.iter().max().copied();
        let (goodput, _) = sim.take(sim.now);
        let what = format!("seed {seed}, {servers} servers, {service:?}");
        assert!(goodput >= 0.85 && late > 0, "{what}: goodput {goodput}, {late} came late");
        assert!(latest <= Some(2 * TARGET), "{what}: {latest:?}");
    }
}

#[test]
fn half_the_load_is_never_refused() {
    for (seed, servers, service) in worlds() {
        let mut sim = Sim::new(seed, servers, service);
        sim.load(0.5, 20 * SECOND);
        assert_eq!(sim.refused(), 0, "seed {seed}, {servers} servers, {service:?}");
    }
}

/// Nine tenths with random service have queues, but none that stands.
#[test]
fn a_high_load_is_hardly_refused() {
    for (seed, servers, service) in worlds() {
        let mut sim = Sim::new(seed, servers, service);
        sim.load(0.9, 20 * SECOND);
        let part = sim.refused() as f64 / (sim.refused() + sim.control.counts.begun) as f64;
        assert!(part < 0.02, "seed {seed}, {servers} servers, {service:?}: {part} refused");
    }
}

#[test]
fn after_overload_everything_comes_in_again() {
    for (seed, servers, service) in worlds() {
        let mut sim = Sim::new(seed, servers, service);
        sim.load(4.0, 10 * SECOND);
        // Until the queue of the overload is gone.
        sim.load(0.5, SECOND / 2);
        let refused = sim.refused();
        sim.take(1);
        sim.load(0.5, 10 * SECOND);
        let what = format!("seed {seed}, {servers} servers, {service:?}");
        assert_eq!(sim.refused(), refused, "{what}: refused at half the load");
        let (goodput, p99) = sim.take(10 * SECOND);
        assert!((0.45..0.55).contains(&goodput) && p99 < TARGET, "{what}: {goodput}, {p99}");
    }
}

#[test]
fn a_burst_that_fits_is_neither_refused_nor_shed() {
    for servers in [1, 4] {
        let mut sim = Sim::new(1, servers, Service::Always);
        for burst in 0..100 {
            for _ in 0..2 * TARGET / SERVICE {
                assert!(sim.arrive(), "burst {burst}");
            }
            // It is done after two targets; the next one comes after one more.
            sim.until(sim.now + 3 * TARGET);
        }
        assert_eq!(sim.refused(), 0, "{servers} servers");
        assert!(sim.queue.is_empty());
    }
}

/// The servers stop: no more is admitted than arrives in two targets.
#[test]
fn stopped_servers_bound_the_queue() {
    let mut sim = Sim::new(1, 0, Service::Always);
    sim.load(2.0, 60 * SECOND);
    let arrivals = (2.0 * (2 * TARGET / SERVICE) as f64) as usize;
    assert!(sim.longest <= arrivals * 3 / 2, "{} waited", sim.longest);
    assert_eq!(sim.control.delay(sim.now) / SECOND, 59, "the delay is seen");
    // They go on: work that has waited for a minute is shed, and work that arrives then is done.
    sim.servers = 1;
    sim.serve();
    assert_eq!(sim.control.counts.shed as usize, sim.longest);
    assert!(sim.arrive());
    assert_eq!(sim.sojourns, [0]);
}

#[test]
fn abandoned_work_does_not_count_as_waiting() {
    let mut control = Control::new(TARGET, INTERVAL);
    for now in 0..100 {
        assert_eq!(control.arrive(now, now), Ok(()));
        control.abandon();
    }
    assert_eq!(control.arrive(100, 100), Ok(()));
    assert!(control.turn(100, 100 + 2 * TARGET), "two targets are in time");
    assert_eq!(
        control.arrive(99, 100 + 2 * TARGET),
        Err(Check::AgeAtArrival),
        "it is late already"
    );
    assert_eq!(control.arrive(100, 100 + 2 * TARGET), Ok(()), "it is not yet");
    assert!(!control.turn(99, 100 + 2 * TARGET), "and no more");
    let counts = control.counts;
    assert_eq!((counts.admitted, counts.abandoned, counts.waiting), (102, 100, 0));
    assert_eq!((counts.begun, counts.shed, counts.rejected), (1, 1, 1));
}
