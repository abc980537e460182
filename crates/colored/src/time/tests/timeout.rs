//! Timeouts, and how they share the budget with the futures that they wait for.

use std::{
    future::{pending, ready},
    pin::pin,
    sync::atomic::Ordering::SeqCst,
    task::Poll,
    time::Duration,
};

use super::{World, ms};
use crate::{
    budget,
    time::{sleep, timeout, timeout_at},
};

#[test]
fn a_ready_future_needs_no_timer() {
    let world = World::new();
    let mut quick = world.on(Some(0), || timeout(ms(10), ready(5)));
    assert_eq!(world.poll(&mut quick), Poll::Ready(Ok(5)));
    let mut over = world.on(Some(0), || timeout(Duration::ZERO, ready(5)));
    world.driver.clock.forward(ms(1));
    assert_eq!(world.poll(&mut over), Poll::Ready(Ok(5)), "the future comes first");
    assert_eq!(world.driver.timers.wheel(0).next_deadline(), u64::MAX);
}

#[test]
fn a_timeout_elapses() {
    let world = World::new();
    let mut slow = world.on(Some(0), || timeout(ms(10), pending::<()>()));
    assert!(world.poll(&mut slow).is_pending());
    assert_eq!(world.forward(ms(10)), 1);
    let Poll::Ready(Err(elapsed)) = world.poll(&mut slow) else { panic!("not elapsed") };
    assert_eq!(
        (elapsed.limit(), elapsed.to_string().as_str()),
        (Some(ms(10)), "not done within 10ms")
    );
    let error = std::io::Error::from(elapsed);
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    assert_eq!(error.to_string(), "not done within 10ms");

    let deadline = world.driver.clock.now();
    let mut late = world.on(Some(0), || timeout_at(deadline, pending::<()>()));
    let Poll::Ready(Err(elapsed)) = world.poll(&mut late) else { panic!("not elapsed") };
    assert_eq!((elapsed.limit(), elapsed.to_string().as_str()), (None, "not done by the deadline"));
    assert_eq!(world.timers(), [0, 0]);
}

/// Takes budget until there is none, as a busy reader does.
async fn greedy() {
    loop {
        std::future::poll_fn(budget::poll_proceed).await;
    }
}

#[test]
fn a_future_that_uses_up_the_budget_does_not_escape_its_timeout() {
    let world = World::new();
    let mut future = Box::pin(timeout_at(world.driver.clock.now() + ms(1), greedy()));
    budget::set(8);
    assert!(world.poll(&mut future).is_pending());
    world.driver.clock.forward(ms(1));
    budget::set(8);
    assert!(matches!(world.poll(&mut future), Poll::Ready(Err(_))));
    budget::set(u32::MAX);
}

#[test]
fn timeouts_in_a_loop_come_to_the_end_of_the_budget() {
    let world = World::new();
    let mut future = pin!(async {
        loop {
            let _ = timeout(Duration::ZERO, pending::<()>()).await;
        }
    });
    budget::set(8);
    let poll: Poll<()> = world.poll(&mut future);
    assert!(poll.is_pending(), "and this returns at all");
    assert_eq!(world.wakes.0.load(SeqCst), 1);
    budget::set(u32::MAX);
}

#[test]
fn waiting_costs_no_budget() {
    let world = World::new();
    budget::set(2);
    let mut waiting = world.on(Some(0), || timeout(ms(10), sleep(ms(20))));
    for _ in 0..10 {
        assert!(world.poll(&mut waiting).is_pending());
    }
    assert_eq!(world.wakes.0.load(SeqCst), 0);
    let mut quick = world.on(Some(0), || timeout(ms(10), ready(1)));
    assert!(world.poll(&mut quick).is_ready());
    budget::set(u32::MAX);
}
