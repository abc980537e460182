//! The corners of the wheel by name; the model is in its own file.

mod model;

use std::{
    sync::{Arc, Mutex},
    task::{Wake, Waker},
};

use super::{Inserted, Reset, Wheel};

/// Writes down which timer fired.
struct Named(usize, Arc<Mutex<Vec<usize>>>);

impl Wake for Named {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

/// A wheel whose timers have names.
struct Timers {
    wheel: Wheel,
    fired: Arc<Mutex<Vec<usize>>>,
}

impl Timers {
    fn new() -> Timers {
        Timers { wheel: Wheel::new(), fired: Arc::default() }
    }

    fn waker(&self, name: usize) -> Waker {
        Waker::from(Arc::new(Named(name, self.fired.clone())))
    }

    fn insert(&self, now: u64, tick: u64, name: usize) -> Inserted {
        self.wheel.present.store(now, std::sync::atomic::Ordering::Relaxed);
        self.wheel.insert(tick, &self.waker(name)).expect("the wheel is open")
    }

    /// One call of `advance`; true if there is more to do.
    fn step(&self, now: u64, steps: usize) -> bool {
        let mut wakers = Vec::new();
        let more = self.wheel.advance_by(now, &mut wakers, steps);
        assert!(wakers.len() <= steps);
        wakers.into_iter().for_each(Waker::wake);
        more
    }

    /// Advances all the way and says what fired, in order.
    fn advance(&self, now: u64) -> Vec<usize> {
        let mut wakers = Vec::new();
        while self.wheel.advance(now, &mut wakers) {}
        wakers.into_iter().for_each(Waker::wake);
        std::mem::take(&mut self.fired.lock().unwrap())
    }
}

#[test]
fn every_border_of_a_level_fires_on_its_tick() {
    for start in [0, 1, 63, 64, 4_095, 4_096, 1 << 36, (1 << 42) - 1, (1 << 48) - 1] {
        for border in (0..9).map(|level| 1_u64 << (6 * level)) {
            for tick in [border - 1, border, border + 1].map(|distance| start + distance) {
                let timers = Timers::new();
                timers.insert(0, start, 0);
                assert_eq!(timers.advance(start), [0]);
                timers.insert(start, tick, 1);
                if tick > start {
                    assert_eq!(timers.advance(tick - 1), [], "{tick} from {start} is early");
                }
                assert_eq!(timers.advance(tick), [1], "{tick} from {start} is late");
            }
        }
    }
}

#[test]
fn timers_of_one_tick_fire_in_order_also_across_a_cascade() {
    let timers = Timers::new();
    timers.insert(0, 5_000, 0);
    timers.insert(0, 5_000, 1);
    assert_eq!(timers.advance(4_100), []);
    timers.insert(4_100, 5_000, 2);
    assert_eq!(timers.advance(4_992), []);
    timers.insert(4_992, 5_000, 3);
    timers.insert(4_992, 4_999, 4);
    assert_eq!(timers.advance(9_000), [4, 0, 1, 2, 3]);
}

#[test]
fn a_timer_inserted_amid_a_cascade_keeps_its_turn() {
    let timers = Timers::new();
    for name in 0..10 {
        timers.insert(0, 100, name);
    }
    assert!(timers.step(64, 3), "three of ten are registered anew");
    timers.insert(64, 100, 10);
    timers.insert(64, 20, 11);
    assert_eq!(timers.advance(100), [11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn one_call_moves_a_bounded_number() {
    let timers = Timers::new();
    for name in 0..1_000 {
        timers.insert(0, 10, name);
    }
    let mut wakers = Vec::new();
    let mut calls = 1;
    while timers.wheel.advance(10, &mut wakers) {
        assert!(wakers.len() <= calls * super::BATCH);
        assert!(timers.wheel.next_deadline() <= 10, "the caller sees that more is due");
        calls += 1;
    }
    assert_eq!(calls, 4);
    assert_eq!(wakers.len(), 1_000);
}

#[test]
fn an_insert_tells_whether_it_is_the_earliest() {
    let timers = Timers::new();
    assert_eq!(timers.wheel.next_deadline(), u64::MAX);
    assert!(timers.insert(0, 50, 0).earliest);
    assert!(!timers.insert(0, 50, 1).earliest);
    assert!(!timers.insert(0, 51, 2).earliest);
    let late = timers.insert(0, 60, 3);
    assert!(!late.earliest);
    assert_eq!(timers.wheel.reset(late.key, 49), Reset::Moved { earliest: true });
    assert_eq!(timers.wheel.next_deadline(), 49);
    assert_eq!(timers.advance(49), [3]);
    assert_eq!(timers.wheel.next_deadline(), 50);
}

#[test]
fn a_cancelled_timer_costs_one_look_at_most() {
    let timers = Timers::new();
    let key = timers.insert(0, 50, 0).key;
    assert!(timers.wheel.cancel(key));
    assert!(!timers.insert(0, 50, 1).earliest, "the next deadline is kept");
    assert_eq!(timers.advance(50), [1]);
    assert_eq!(timers.wheel.next_deadline(), u64::MAX);
}

#[test]
fn a_deadline_in_the_past_fires_at_the_next_advance() {
    let timers = Timers::new();
    timers.insert(0, 100, 0);
    assert_eq!(timers.advance(100), [0]);
    timers.insert(100, 7, 1);
    assert!(timers.wheel.next_deadline() <= 100);
    assert_eq!(timers.advance(100), [1]);
}

#[test]
fn the_last_waker_is_the_one_that_is_woken() {
    let timers = Timers::new();
    let key = timers.insert(0, 5, 0).key;
    let held = timers.waker(1);
    assert!(timers.wheel.update_waker(key, &held));
    assert_eq!(timers.advance(5), [1]);
    assert!(!timers.wheel.update_waker(key, &held));
}

#[test]
fn every_waker_is_dropped() {
    let timers = Timers::new();
    let keys: Vec<_> = (0..100).map(|name| timers.insert(0, name as u64, name).key).collect();
    keys[50..].iter().for_each(|key| assert!(timers.wheel.cancel(*key)));
    timers.wheel.update_waker(keys[0], &timers.waker(0));
    assert_eq!(timers.advance(100).len(), 50);
    assert_eq!(Arc::strong_count(&timers.fired), 1);
}

#[test]
fn the_memory_of_many_timers_is_given_back() {
    let timers = Timers::new();
    let keys: Vec<_> = (0..100_000).map(|i| timers.insert(0, i, 0).key).collect();
    assert!(timers.wheel.lock().levels.capacity() >= 100_000);
    keys[..90_000].iter().for_each(|key| assert!(timers.wheel.cancel(*key)));
    assert_eq!(timers.advance(100_000).len(), 10_000);
    assert!(timers.wheel.lock().levels.capacity() <= 1_024);
}

/// How often a worker wakes up until the timers of an empty wheel have fired.
fn looks(ticks: &[u64]) -> usize {
    let timers = Timers::new();
    for &tick in ticks {
        timers.insert(0, tick, 0);
    }
    let mut looks = 0;
    while timers.wheel.next_deadline() != u64::MAX {
        timers.advance(timers.wheel.next_deadline());
        looks += 1;
    }
    looks
}

#[test]
fn a_few_timers_wake_their_worker_once_each() {
    for tick in [1, 63, 64, 100, 1_000, 4_095] {
        assert_eq!(looks(&[tick]), 1, "{tick}");
        assert_eq!(looks(&[tick, 4_000]), 2, "{tick} and another");
    }
    for tick in [4_097, 100_000, 10_000_000, (1 << 40) + 5] {
        assert_eq!(looks(&[tick]), 2, "{tick}: once to file it anew, and once to fire it");
    }
    let slot: Vec<_> = (64..80).collect();
    assert_eq!(looks(&slot), 16, "as many as are searched");
}

#[test]
fn a_timer_filed_while_a_slot_waits_for_its_first_keeps_the_order() {
    let timers = Timers::new();
    timers.insert(0, 100, 0);
    // The slot begins at 64, and the wheel has not looked at it.
    timers.insert(90, 95, 1);
    timers.insert(90, 100, 2);
    timers.insert(90, 300, 3);
    assert_eq!(timers.wheel.next_deadline(), 95);
    assert_eq!(timers.advance(95), [1]);
    assert_eq!(timers.wheel.next_deadline(), 100);
    assert_eq!(timers.advance(299), [0, 2]);
    assert_eq!(timers.advance(300), [3]);
}

#[test]
fn a_closed_wheel_gives_up_its_timers_and_takes_no_more() {
    let timers = Timers::new();
    let key = timers.insert(0, 10, 0).key;
    timers.insert(0, u64::MAX, 1);
    timers.wheel.close().into_iter().for_each(Waker::wake);
    assert_eq!(*timers.fired.lock().unwrap(), [0, 1]);
    assert!(timers.wheel.insert(10, Waker::noop()).is_err());
    assert!(!timers.wheel.cancel(key));
    assert_eq!(timers.wheel.next_deadline(), u64::MAX);
}

#[test]
fn threads_share_a_wheel() {
    let timers = Timers::new();
    let rounds: u64 = if cfg!(miri) { 20 } else { 2_000 };
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let timers = &timers;
            scope.spawn(move || {
                for round in 0..rounds {
                    let kept = timers.insert(round, round + 70, thread).key;
                    let other = timers.insert(round, round + 5, 9).key;
                    timers.wheel.cancel(other);
                    timers.wheel.update_waker(kept, &timers.waker(thread));
                    timers.step(round, 4);
                }
            });
        }
    });
    while timers.step(rounds + 70, 64) {}
    let fired = timers.fired.lock().unwrap();
    let kept = fired.iter().filter(|name| **name < 3).count() as u64;
    assert_eq!(kept, 3 * rounds);
    assert_eq!(timers.wheel.len(), 0);
}
