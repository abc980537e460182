//! Each kind of queue keeps the order of its events, and loses none.

use colored_lab::queues::{
    Deque, Event, Injector, NonBlocking, OneLock, Os, Queue, Spin, TwoLocks, run,
};
use std::sync::atomic::{AtomicUsize, Ordering};

const EVENTS: u32 = 100;

/// One thread adds and takes, and the queue is empty, short and long in turn.
fn keeps_order(queue: &impl Queue<Event>) {
    let mut free: Vec<_> = (0..EVENTS).map(|number| Event::new(number, 0)).collect();
    let (mut added, mut taken) = (0, 0);
    for round in 0..1_000 {
        for _ in 0..round % EVENTS {
            let event = free.pop().expect("there are more events than are added in a round");
            queue.push(event.with(added));
            added += 1;
        }
        while let Some(event) = queue.pop() {
            assert_eq!(event.what, taken);
            taken += 1;
            free.push(event);
        }
        assert_eq!(taken, added);
    }
}

/// Four threads pass events on, each of which counts its visits.
fn keeps_all(queue: &impl Queue<Event>) {
    const VISITS: u64 = 200;
    let visits: Vec<_> = (0..EVENTS).map(|_| AtomicUsize::new(0)).collect();
    let events = (0..EVENTS).map(|number| Event::new(number, u64::from(number))).collect();
    let handled = run(
        queue,
        4,
        |_| (),
        events,
        |event| {
            let what = event.what;
            let (number, before) = (what % 1_000, what / 1_000);
            // Ordering: a count, read when all threads have ended.
            visits[number as usize].fetch_add(1, Ordering::Relaxed);
            (before + 1 < VISITS).then(|| event.with(what + 1_000))
        },
    );
    assert_eq!(handled, u64::from(EVENTS) * VISITS);
    // Ordering: see above.
    assert!(visits.iter().all(|one| one.load(Ordering::Relaxed) == VISITS as usize));
    assert!(queue.pop().is_none());
}

#[test]
fn every_queue_keeps_order_and_loses_nothing() {
    fn check<Q: Queue<Event>>(queue: impl Fn() -> Q) {
        keeps_order(&queue());
        keeps_all(&queue());
    }
    const ROOM: usize = EVENTS as usize;
    check(|| OneLock::<Os>::with_room(ROOM));
    check(|| OneLock::<Spin>::with_room(ROOM));
    check(|| TwoLocks::<Os>::with_room(ROOM));
    check(|| TwoLocks::<Spin>::with_room(ROOM));
    check(|| NonBlocking::with_room(ROOM));
    check(|| Deque::with_room(ROOM));
    check(Injector::new);
}
