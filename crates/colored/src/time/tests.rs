//! Timers on a clock that is moved by hand, and one test on the real one.

mod interval;
mod taken_over;
mod timeout;

use std::{
    future::pending,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use super::*;
use crate::driver::{
    Driver,
    clock::{Clock, TICK},
};
use crate::services::{Services, current, entered};

#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A driver with two wheels, whose time the test moves.
struct World {
    driver: Arc<Driver>,
    services: Arc<Services>,
    wakes: Arc<Counter>,
    waker: Waker,
}

impl World {
    fn new() -> World {
        let wakes = Arc::new(Counter::default());
        let waker = Waker::from(wakes.clone());
        let services = Services::of(Driver::with_clock(Clock::manual(), 2), 2);
        World { driver: Arc::clone(&services.driver), services, wakes, waker }
    }

    /// Runs `f` as the given worker would.
    fn on<R>(&self, worker: Option<usize>, f: impl FnOnce() -> R) -> R {
        let _guard = entered::enter(current::Context::new(self.services.clone(), worker));
        f()
    }

    /// Polls `future` once on the first worker.
    fn poll<F: Future + Unpin>(&self, future: &mut F) -> Poll<F::Output> {
        self.poll_on(Some(0), future)
    }

    fn poll_on<F: Future + Unpin>(&self, worker: Option<usize>, future: &mut F) -> Poll<F::Output> {
        self.on(worker, || Pin::new(future).poll(&mut Context::from_waker(&self.waker)))
    }

    /// Polls the tick of an interval.
    fn tick(&self, interval: &mut Interval) -> Poll<Instant> {
        self.on(Some(0), || interval.poll_tick(&mut Context::from_waker(&self.waker)))
    }

    /// Moves time, advances every wheel, and says how often the waker was woken.
    fn forward(&self, by: Duration) -> usize {
        self.driver.clock.forward(by);
        let before = self.wakes.0.load(SeqCst);
        for wheel in (0..self.driver.timers.wheels()).map(|index| self.driver.timers.wheel(index)) {
            let mut wakers = Vec::new();
            while wheel.advance(self.driver.clock.now_tick(), &mut wakers) {}
            wakers.into_iter().for_each(Waker::wake);
        }
        self.wakes.0.load(SeqCst) - before
    }

    fn timers(&self) -> [usize; 2] {
        [self.driver.timers.wheel(0).len(), self.driver.timers.wheel(1).len()]
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn the_futures_are_send_sync_and_unpin() {
    fn check<T: Send + Sync + Unpin>() {}
    check::<Sleep>();
    check::<Interval>();
    check::<Timeout<std::future::Ready<()>>>();
}

#[test]
fn a_sleep_is_ready_at_its_deadline_and_not_before() {
    let world = World::new();
    let mut sleep = world.on(Some(0), || sleep(ms(10)));
    assert_eq!(world.timers(), [0, 0], "nothing is registered before the first poll");
    assert!(world.poll(&mut sleep).is_pending());
    assert_eq!(world.timers(), [1, 0]);
    assert_eq!(world.forward(Duration::from_micros(9_999)), 0);
    assert!(!sleep.is_elapsed());
    assert!(world.poll(&mut sleep).is_pending());
    assert_eq!(world.forward(Duration::from_micros(1)), 1);
    assert!(sleep.is_elapsed());
    assert!(world.poll(&mut sleep).is_ready());
    assert!(world.poll(&mut sleep).is_ready(), "it stays ready");
    assert_eq!(world.timers(), [0, 0]);
}

#[test]
fn a_sleep_is_not_elapsed_before_a_poll() {
    let world = World::new();
    let mut sleep = world.on(Some(0), || sleep(Duration::ZERO));
    assert!(!sleep.is_elapsed());
    assert!(world.poll(&mut sleep).is_ready());
    assert!(sleep.is_elapsed());
    let ahead = sleep.deadline() + ms(1);
    Pin::new(&mut sleep).reset(ahead);
    assert!(!sleep.is_elapsed());
    world.forward(ms(1));
    assert!(world.poll(&mut sleep).is_ready() && sleep.is_elapsed());
}

#[test]
fn a_sleep_between_two_ticks_fires_at_the_next() {
    let world = World::new();
    let nanos = Duration::from_nanos;
    world.driver.clock.forward(nanos(TICK + 5));
    let mut sleep = world.on(Some(0), || sleep(nanos(TICK)));
    assert!(world.poll(&mut sleep).is_pending());
    assert_eq!(world.forward(nanos(TICK)), 0, "it is due, and its tick is not over");
    assert_eq!(world.forward(nanos(TICK - 6)), 0);
    assert_eq!(world.forward(nanos(1)), 1);
    assert!(world.poll(&mut sleep).is_ready());
}

#[test]
fn a_sleep_that_is_over_touches_no_wheel() {
    let world = World::new();
    let mut over = world.on(Some(0), || sleep(Duration::ZERO));
    assert!(world.poll(&mut over).is_ready());
    let mut past = sleep_until(world.driver.clock.now());
    world.driver.clock.forward(ms(5));
    assert!(world.poll(&mut past).is_ready());
    assert_eq!(world.driver.timers.wheel(0).next_deadline(), u64::MAX);
}

#[test]
fn a_sleep_polled_late_is_ready_before_the_wheel_has_moved() {
    let world = World::new();
    let mut sleep = world.on(Some(0), || sleep(ms(10)));
    assert!(world.poll(&mut sleep).is_pending());
    world.driver.clock.forward(ms(10));
    assert!(world.poll(&mut sleep).is_ready());
    assert_eq!(world.timers(), [0, 0]);
}

#[test]
fn dropping_a_sleep_takes_its_timer_out_on_any_thread() {
    let world = World::new();
    let mut sleep = world.on(Some(0), || sleep(ms(10)));
    assert!(world.poll(&mut sleep).is_pending());
    std::thread::spawn(move || drop(sleep)).join().unwrap();
    assert_eq!(world.timers(), [0, 0]);
    assert_eq!(world.forward(ms(20)), 0);
    assert_eq!(Arc::strong_count(&world.wakes), 2, "the waker is dropped");
}

#[test]
fn a_sleep_keeps_its_wheel_when_its_task_is_stolen() {
    let world = World::new();
    let mut sleep = world.on(Some(0), || sleep(ms(10)));
    assert!(world.poll_on(Some(0), &mut sleep).is_pending());
    assert!(world.poll_on(Some(1), &mut sleep).is_pending());
    assert_eq!(world.timers(), [1, 0]);
    world.on(Some(1), || drop(sleep));
    assert_eq!(world.timers(), [0, 0]);
}

#[test]
fn only_a_foreign_thread_tells_of_an_earlier_timer() {
    let world = World::new();
    let told = || (0..2).filter(|worker| world.driver.take_token(*worker)).count();
    let [mut own, mut guest, mut later] =
        [50, 40, 45].map(|millis| world.on(Some(0), || sleep(ms(millis))));
    assert!(world.poll_on(Some(0), &mut own).is_pending());
    assert_eq!(told(), 0, "a worker looks at its own wheel before it parks");
    assert!(world.poll_on(None, &mut guest).is_pending());
    assert_eq!(told(), 1);
    assert!(world.poll_on(None, &mut later).is_pending());
    assert_eq!(told(), 1, "the first into the other wheel");
    let deadline = guest.deadline() - ms(1);
    Pin::new(&mut guest).reset(deadline);
    assert_eq!(told(), 1, "outside of the runtime too");
    let deadline = own.deadline() - ms(30);
    world.on(Some(0), || Pin::new(&mut own).reset(deadline));
    assert_eq!(told(), 0);
}

#[test]
fn a_reset_sleep_wakes_its_task_at_the_new_deadline_without_a_poll() {
    for (first, second) in [(10, 30), (30, 10)] {
        let world = World::new();
        let mut sleep = world.on(Some(0), || sleep(ms(first)));
        assert!(world.poll(&mut sleep).is_pending());
        let deadline = sleep.deadline() - ms(first) + ms(second);
        Pin::new(&mut sleep).reset(deadline);
        assert_eq!(sleep.deadline(), deadline);
        assert_eq!(world.forward(ms(second - 1)), 0, "from {first} to {second}");
        assert_eq!(world.forward(ms(1)), 1);
        assert!(world.poll(&mut sleep).is_ready());
    }
}

#[test]
fn a_sleep_that_was_ready_can_be_reset() {
    let world = World::new();
    let mut sleep = world.on(Some(0), || sleep(ms(1)));
    assert!(world.poll(&mut sleep).is_pending());
    assert_eq!(world.forward(ms(1)), 1);
    let deadline = sleep.deadline() + ms(1);
    Pin::new(&mut sleep).reset(deadline);
    assert!(world.poll(&mut sleep).is_pending());
    assert_eq!(world.forward(ms(1)), 1);
    assert!(world.poll(&mut sleep).is_ready());
}

#[test]
fn the_last_task_that_polled_is_woken() {
    let world = World::new();
    let mut sleep = world.on(Some(0), || sleep(ms(1)));
    assert!(world.poll(&mut sleep).is_pending());
    let other = Arc::new(Counter::default());
    let waker = Waker::from(other.clone());
    let poll = world.on(None, || Pin::new(&mut sleep).poll(&mut Context::from_waker(&waker)));
    assert!(poll.is_pending());
    assert_eq!(world.forward(ms(1)), 0);
    assert_eq!(other.0.load(SeqCst), 1);
}

#[test]
fn the_longest_durations_never_panic() {
    let world = World::new();
    let mut far = world.on(Some(0), || sleep(Duration::MAX));
    assert!(world.poll(&mut far).is_pending());
    assert_eq!(world.forward(Duration::from_secs(1 << 25)), 0);
    let mut waiting = world.on(Some(0), || timeout(Duration::MAX, pending::<()>()));
    assert!(world.poll(&mut waiting).is_pending());
    let mut ticks = world.on(Some(0), || interval(Duration::MAX));
    assert!(world.tick(&mut ticks).is_ready());
    assert!(world.tick(&mut ticks).is_pending());
    world.on(Some(0), || ticks.reset_after(Duration::MAX));
}

#[test]
fn a_timer_left_by_a_runtime_is_loud_when_polled_and_quiet_when_dropped() {
    let world = World::new();
    let hour = ms(3_600_000);
    let [mut polled, mut dropped] = [hour; 2].map(|hour| world.on(Some(0), || sleep(hour)));
    assert!(world.poll(&mut polled).is_pending());
    assert!(world.poll(&mut dropped).is_pending());
    for wheel in (0..world.driver.timers.wheels()).map(|index| world.driver.timers.wheel(index)) {
        wheel.close().into_iter().for_each(Waker::wake);
    }
    assert_eq!(world.wakes.0.load(SeqCst), 2, "whoever waits learns of the end");
    drop(dropped);
    assert!(
        world.poll(&mut polled).is_pending(),
        "the task of a worker is dropped after this poll"
    );
    let outside = || world.poll_on(None, &mut polled);
    let poll = std::panic::catch_unwind(std::panic::AssertUnwindSafe(outside));
    let text = *poll.unwrap_err().downcast::<&str>().unwrap();
    assert!(text.contains("shut down"), "{text}");
    let other = World::new();
    assert!(other.poll(&mut polled).is_pending(), "another runtime can go on with it");
}

#[test]
fn on_the_real_clock_no_sleep_is_early() {
    let services = Services::of(Driver::with_clock(Clock::new(), 1), 1);
    let driver = Arc::clone(&services.driver);
    let (woken, wakes) = mpsc::channel();
    struct Channel(mpsc::Sender<usize>, usize);
    impl Wake for Channel {
        fn wake(self: Arc<Self>) {
            self.0.send(self.1).unwrap();
        }
    }
    let _guard = entered::enter(current::Context::new(services, Some(0)));
    let mut sleeps: Vec<_> = (0..50).map(|i| sleep(Duration::from_micros(300 * i + 100))).collect();
    let mut poll = |index: usize| {
        let waker = Waker::from(Arc::new(Channel(woken.clone(), index)));
        Pin::new(&mut sleeps[index]).poll(&mut Context::from_waker(&waker))
    };
    let mut left = (0..50).filter(|index| poll(*index).is_pending()).count();
    while left > 0 {
        let next = driver.clock.system_at(driver.timers.wheel(0).next_deadline()).expect("soon");
        std::thread::sleep(next.saturating_duration_since(wall::now()));
        let mut wakers = Vec::new();
        driver.timers.wheel(0).advance(driver.clock.now_tick(), &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        for index in wakes.try_iter() {
            assert!(poll(index).is_ready(), "sleep {index} was woken early");
            left -= 1;
        }
    }
}

#[test]
fn a_parked_worker_rests_between_the_timers_for_which_it_wakes_up() {
    const REST: u64 = 1_000_000 / TICK;
    let services = Services::of(Driver::with_clock(Clock::new(), 1), 1);
    let driver = Arc::clone(&services.driver);
    let wakes = Arc::new(Counter::default());
    let waker = Waker::from(wakes.clone());
    let _guard = entered::enter(current::Context::new(services, Some(0)));
    let sleeps = (1..=300).map(|step| sleep(Duration::from_micros(100_000 + 20 * step)));
    let mut sleeps: Vec<_> = sleeps.collect();
    let mut poll =
        |index: usize| Pin::new(&mut sleeps[index]).poll(&mut Context::from_waker(&waker));
    let left = (0..300).filter(|index| poll(*index).is_pending()).count();
    assert!(left > 0, "a machine that stands still for 100 ms");
    let (mut fired, mut last) = (Vec::new(), None);
    while fired.len() < left {
        let before = fired.len();
        driver.park(0, None, &mut fired);
        if fired.len() > before {
            let now = driver.clock.now_tick();
            assert!(last.is_none_or(|last| last + REST <= now + 1), "{last:?} and {now}");
            last = Some(driver.timers.wheel(0).present());
        }
    }
    fired.into_iter().for_each(Waker::wake);
    assert_eq!(wakes.0.load(SeqCst), left);
    assert!((0..300).all(|index| poll(index).is_ready()), "one was woken early");
}
