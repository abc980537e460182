//! The timer of a sleep that was dropped goes to the next sleep of the same task.

use super::*;

#[test]
fn a_sleep_takes_over_the_timer_that_its_task_has_dropped() {
    let world = World::new();
    let cx = &mut Context::from_waker(&world.waker);
    let second = world.on(Some(0), || {
        let mut first = sleep(ms(10));
        assert!(Pin::new(&mut first).poll(cx).is_pending());
        drop(first);
        assert_eq!(world.timers(), [1, 0], "it is kept for the next one");
        let mut second = sleep(ms(30));
        assert!(Pin::new(&mut second).poll(cx).is_pending());
        assert_eq!(world.timers(), [1, 0]);
        second
    });
    assert_eq!(world.timers(), [1, 0]);
    assert_eq!(world.forward(ms(20)), 0, "the deadline of the first is none any more");
    assert_eq!(world.forward(ms(10)), 1);
    assert_eq!(world.timers(), [0, 0]);
    drop(second);
    assert_eq!(Arc::strong_count(&world.wakes), 2, "the waker is dropped");
}

#[test]
fn a_dropped_timer_is_cancelled_when_its_worker_looks_at_its_timers() {
    let world = World::new();
    let cx = &mut Context::from_waker(&world.waker);
    world.on(Some(0), || {
        let mut first = sleep(ms(10));
        assert!(Pin::new(&mut first).poll(cx).is_pending());
        drop(first);
        world.services.poll_events(0, &mut Vec::new());
        assert_eq!(world.timers(), [0, 0]);
        assert_eq!(Arc::strong_count(&world.wakes), 2, "the waker is dropped");
    });
}

#[test]
fn another_task_takes_over_nothing() {
    let world = World::new();
    let other = Arc::new(Counter::default());
    let second = world.on(Some(0), || {
        let mut first = sleep(ms(10));
        assert!(Pin::new(&mut first).poll(&mut Context::from_waker(&world.waker)).is_pending());
        drop(first);
        let mut second = sleep(ms(10));
        let waker = Waker::from(other.clone());
        assert!(Pin::new(&mut second).poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(world.timers(), [1, 0]);
        second
    });
    assert_eq!(world.forward(ms(10)), 0, "the dropped one wakes nobody");
    assert_eq!(other.0.load(SeqCst), 1);
    drop(second);
}

#[test]
fn a_timer_is_taken_over_within_its_runtime_only() {
    let [inner, outer] = [World::new(), World::new()];
    outer.on(Some(0), || {
        let cx = &mut Context::from_waker(&outer.waker);
        let mut first = sleep(ms(10));
        assert!(Pin::new(&mut first).poll(cx).is_pending());
        drop(first);
        let second = inner.on(Some(0), || {
            let mut second = sleep(ms(10));
            assert!(Pin::new(&mut second).poll(cx).is_pending());
            second
        });
        assert_eq!((outer.timers(), inner.timers()), ([0, 0], [1, 0]));
        drop(second);
    });
    assert_eq!(inner.timers(), [0, 0]);
}

/// The waker of the timer that is not taken over is dropped, and its destructor is foreign code.
#[test]
fn the_last_waker_may_enter_a_runtime_when_it_is_dropped() {
    struct Enters(Arc<Services>, Arc<Counter>);
    impl Wake for Enters {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Enters {
        fn drop(&mut self) {
            let context = current::Context::new(Arc::clone(&self.0), None);
            drop(entered::enter(context));
            self.1.0.fetch_add(1, SeqCst);
        }
    }
    let (world, dropped) = (World::new(), Arc::new(Counter::default()));
    let waker = Waker::from(Arc::new(Enters(world.services.clone(), dropped.clone())));
    world.on(Some(0), || {
        let mut first = sleep(ms(10));
        assert!(Pin::new(&mut first).poll(&mut Context::from_waker(&waker)).is_pending());
        drop(first);
        drop(waker);
        assert_eq!(dropped.0.load(SeqCst), 0, "the timer is kept, and so is its waker");
        let mut second = sleep(ms(10));
        assert!(Pin::new(&mut second).poll(&mut Context::from_waker(&world.waker)).is_pending());
        assert_eq!(dropped.0.load(SeqCst), 1);
    });
}
