//! The wheel against a sorted map, by random operations from a seed.

use std::{collections::BTreeMap, task::Waker};

use super::{
    super::{Inserted, Key, Reset, slab::MAX_TICK},
    Timers,
};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Mostly near, often beside the border of a level, sometimes beyond all.
    fn distance(&mut self) -> u64 {
        let level = 1 << (6 * self.below(8));
        match self.below(8) {
            0 | 1 => self.below(4),
            2 | 3 => self.below(200),
            4 => level - 1 + self.below(3),
            5 | 6 => self.below(level.min(1 << 18)),
            _ => u64::MAX - self.below(2),
        }
    }
}

struct Live {
    key: Key,
    tick: u64,
    /// Its rank among all inserts and resets.
    rank: usize,
    /// Filed for a tick that had come; its order among others is not promised.
    late: bool,
}

struct Model {
    timers: Timers,
    live: BTreeMap<usize, Live>,
    dead: Vec<Key>,
    now: u64,
    ranks: usize,
    /// The tick and rank of the last timer that fired in time.
    last: (u64, usize),
}

impl Model {
    fn new() -> Model {
        Model {
            timers: Timers::new(),
            live: BTreeMap::new(),
            dead: Vec::new(),
            now: 0,
            ranks: 0,
            last: (0, 0),
        }
    }

    fn some_live(&self, random: &mut Random) -> Option<usize> {
        let at = random.below(self.live.len().max(1) as u64) as usize;
        self.live.keys().nth(at).copied()
    }

    fn insert(&mut self, distance: u64) {
        self.ranks += 1;
        let (rank, name) = (self.ranks, self.ranks);
        let tick = self.now.saturating_add(distance);
        let before = self.timers.wheel.next_deadline();
        let Inserted { key, earliest } = self.timers.insert(self.now, tick, name);
        assert_eq!(earliest, self.timers.wheel.next_deadline() < before);
        self.live.insert(name, Live { key, tick, rank, late: distance == 0 });
    }

    fn reset(&mut self, name: usize, distance: u64) {
        self.ranks += 1;
        let live = self.live.get_mut(&name).unwrap();
        live.tick = self.now.saturating_add(distance);
        live.rank = self.ranks;
        live.late = distance == 0;
        assert_ne!(self.timers.wheel.reset(live.key, live.tick), Reset::Gone);
    }

    fn cancel(&mut self, name: usize) {
        let live = self.live.remove(&name).unwrap();
        assert!(self.timers.wheel.cancel(live.key));
        self.dead.push(live.key);
    }

    fn advance(&mut self, steps: usize) {
        let more = self.timers.step(self.now, steps);
        for name in std::mem::take(&mut *self.timers.fired.lock().unwrap()) {
            let live = self.live.remove(&name).expect("a timer fires once and not when cancelled");
            assert!(live.tick <= self.now, "early: {} at {}", live.tick, self.now);
            if !live.late {
                assert!((live.tick, live.rank) > self.last, "out of order");
                self.last = (live.tick, live.rank);
            }
            self.dead.push(live.key);
        }
        let first = self.live.values().map(|live| live.tick).min();
        if more {
            assert!(self.timers.wheel.next_deadline() <= self.now);
        } else {
            assert!(first.is_none_or(|tick| tick > self.now), "a due timer was left");
            assert!(self.timers.wheel.next_deadline() > self.now);
            assert_eq!(first.is_none(), self.timers.wheel.next_deadline() == u64::MAX);
            assert_eq!(first.map(|tick| tick.min(MAX_TICK)), self.timers.wheel.first());
        }
    }

    fn check(&self) {
        let first = self.live.values().map(|live| live.tick).min().unwrap_or(u64::MAX);
        assert!(self.timers.wheel.next_deadline() <= first);
        assert_eq!(self.timers.wheel.len(), self.live.len());
    }
}

fn run_model(seed: u64, operations: usize) {
    let mut random = Random(seed);
    let mut model = Model::new();
    for _ in 0..operations {
        match random.below(16) {
            0..=6 => model.insert(random.distance()),
            7 | 8 => {
                if let Some(name) = model.some_live(&mut random) {
                    model.cancel(name);
                }
            }
            9 => {
                if let Some(name) = model.some_live(&mut random) {
                    model.reset(name, random.distance());
                }
            }
            10 => {
                let at = random.below(model.dead.len().max(1) as u64) as usize;
                if let Some(&key) = model.dead.get(at) {
                    assert!(!model.timers.wheel.cancel(key));
                    assert!(!model.timers.wheel.update_waker(key, Waker::noop()));
                    assert_eq!(model.timers.wheel.reset(key, 1), Reset::Gone);
                }
            }
            // Time moves to the next event, by a little, or far.
            11 => model.now = model.now.max(model.timers.wheel.next_deadline().min(1 << 40)),
            12 => model.now += random.below(100),
            13 if random.below(20) == 0 => model.now += random.below(1 << 26),
            _ => model.advance(1 + random.below(12) as usize),
        }
        if model.live.len() > 400 {
            model.advance(usize::MAX);
            let names: Vec<_> = model.live.keys().copied().skip(100).collect();
            names.into_iter().for_each(|name| model.cancel(name));
        }
        model.check();
    }
    assert!(model.dead.len() > operations / 8);
}

#[test]
fn it_behaves_like_a_sorted_map() {
    let operations = if cfg!(miri) { 2_000 } else { 30_000 };
    let seeds = if std::env::var_os("COLORED_LONG_TESTS").is_some() { 8 } else { 2 };
    for seed in 1..=seeds {
        run_model(0x9e37_79b9_7f4a_7c15 ^ seed, operations);
    }
}
