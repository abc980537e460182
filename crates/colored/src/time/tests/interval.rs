//! Intervals.

use std::{task::Poll, time::Duration};

use super::{World, ms};
use crate::time::{Instant, MissedTickBehavior, interval, interval_at};

#[test]
fn an_interval_ticks_at_once_and_then_on_its_grid() {
    let world = World::new();
    let mut ticks = world.on(Some(0), || interval(ms(10)));
    let start = Instant::from(world.driver.clock.now());
    assert_eq!(world.tick(&mut ticks), Poll::Ready(start));
    for tick in 1..=3 {
        assert!(world.tick(&mut ticks).is_pending());
        assert_eq!(world.forward(ms(10)), 1);
        assert_eq!(world.tick(&mut ticks), Poll::Ready(start + ms(10 * tick)));
    }
}

#[test]
fn missed_ticks_follow_the_chosen_behavior() {
    use MissedTickBehavior::{Burst, Delay, Skip};
    let expected: [(_, &[u64]); 3] =
        [(Burst, &[20, 30, 40, 50]), (Delay, &[45, 55]), (Skip, &[40, 50])];
    for (behavior, due) in expected {
        let world = World::new();
        let start = Instant::from(world.driver.clock.now());
        let mut ticks = interval_at(start + ms(10), ms(10));
        ticks.set_missed_tick_behavior(behavior);
        world.forward(ms(35));
        assert_eq!(world.tick(&mut ticks), Poll::Ready(start + ms(10)));
        for &due in due {
            while world.tick(&mut ticks).map(|at| assert_eq!(at, start + ms(due))).is_pending() {
                world.forward(ms(1));
                assert!(
                    Instant::from(world.driver.clock.now()) <= start + ms(due),
                    "{behavior:?} missed {due}"
                );
            }
        }
    }
}

#[test]
fn a_dropped_tick_is_not_lost() {
    let world = World::new();
    let mut ticks = world.on(Some(0), || interval(ms(10)));
    assert!(world.tick(&mut ticks).is_ready());
    {
        let mut tick = Box::pin(ticks.tick());
        assert!(world.poll(&mut tick).is_pending());
    }
    assert_eq!(world.forward(ms(10)), 1);
    assert!(world.tick(&mut ticks).is_ready());
}

#[test]
fn an_interval_can_be_reset() {
    let world = World::new();
    let mut ticks = world.on(Some(0), || interval(ms(10)));
    assert!(world.tick(&mut ticks).is_ready());
    world.forward(ms(8));
    world.on(Some(0), || ticks.reset());
    assert!(world.tick(&mut ticks).is_pending());
    assert_eq!(world.forward(ms(9)), 0);
    assert_eq!(world.forward(ms(1)), 1);
    world.on(Some(0), || ticks.reset_immediately());
    assert!(world.tick(&mut ticks).is_ready());
}

#[test]
#[should_panic(expected = "an interval of 0ns: the period must be longer than zero")]
fn an_interval_of_nothing_is_refused() {
    drop(interval(Duration::ZERO));
}
