//! `Limit`: admitted items, waiting senders, and refused items.

use colored::limit::{Closed, Permit, TrySendError, TrySpawnError};
use colored::{Color, Limit};
use colored::{hop, spawn_colored, spawn_unique, yield_now};
use colored_tests::drops::{Drops, keep};
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::witness::Witness;
use colored_tests::{
    Dice, ON_PURPOSE, Trace, join_all, panic_of, run, runtime, shared, wait_until,
};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

#[test]
fn so_many_come_in_and_the_next_one_is_given_back() {
    shared(|| {
        let runtime = runtime(2);
        let gate = Gate::close(runtime.handle(), RED);
        let limit = runtime.handle().limit(RED, 3);
        let trace = Trace::new();
        let task = |mark: u32| {
            let trace = trace.clone();
            async move { trace.push(mark) }
        };
        let handles: Vec<_> =
            (0..3).map(|mark| limit.try_spawn(task(mark)).expect("there is room")).collect();
        assert_eq!((limit.depth(), limit.capacity(), limit.color()), (3, 3, RED));
        let Err(TrySpawnError::Full(shed)) = limit.try_spawn(task(3)) else { panic!("it is full") };
        assert!(matches!(limit.try_reserve(), Err(TrySendError::Full(()))));
        gate.open();
        runtime.run(async move {
            join_all(handles).await;
            shed.await;
        });
        assert_eq!(trace.take(), [0, 1, 2, 3], "what was shed is whole");
        assert_eq!(limit.depth(), 0);
    });
}

/// Shows G2.
#[test]
fn waiting_senders_are_admitted_in_order() {
    run(4, async {
        let limit = Limit::new(RED, 1);
        let trace = Trace::new();
        let permit = limit.try_reserve().unwrap();
        let mut waiting = Vec::new();
        for mark in 0..100 {
            let (limit, trace) = (limit.clone(), trace.clone());
            // The senders arrive one after another, each under a color of its own.
            let before = limit.waiting();
            let counter = limit.clone();
            waiting.push(spawn_unique(async move {
                let task = limit.spawn(async move { trace.push(mark) }).await.unwrap();
                task.await.unwrap();
            }));
            while counter.waiting() == before {
                yield_now().await;
            }
        }
        drop(permit);
        assert!(limit.try_spawn(async {}).is_err(), "there is a line");
        join_all(waiting).await;
        assert_eq!(trace.take(), (0..100).collect::<Vec<_>>());
        assert_eq!((limit.depth(), limit.waiting()), (0, 0));
    });
}

#[test]
fn a_color_that_sends_to_itself_does_not_wait() {
    run(2, async {
        let limit = Limit::new(RED, 1);
        let cell = limit.cell(0);
        let (inner, own) = (limit.clone(), cell.clone());
        let task = limit.spawn(async move {
            let mut children = Vec::new();
            for _ in 0..10 {
                children.push(inner.spawn(async {}).await.unwrap());
                own.post(|count| *count += 1).await.unwrap();
            }
            assert!(inner.try_spawn(async {}).is_ok() && own.try_post(|_| ()).is_ok());
            assert_eq!(inner.depth(), 1 + 10 + 10 + 2, "counted, over the capacity");
            // Other senders have to wait for all of them.
            let outside = inner.clone();
            let refused =
                spawn_colored(BLUE, async move { outside.try_reserve().is_err() }).await.unwrap();
            join_all(children).await;
            // Through another task of the color as well.
            own.call(|count| *count += 1).await.unwrap();
            refused
        });
        assert!(task.await.unwrap().await.unwrap());
        assert_eq!(cell.call(|count| *count).await.unwrap(), 11);
        assert_eq!(limit.depth(), 0);
    });
}

#[test]
fn a_task_that_hops_to_the_color_while_it_waits_is_admitted() {
    run(2, async {
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        let inner = limit.clone();
        let task = spawn_colored(BLUE, async move {
            let mut reserve = pin!(inner.reserve());
            assert!(poll_once(reserve.as_mut()).is_pending());
            assert_eq!(inner.waiting(), 1);
            hop(RED).await;
            let over = reserve.await.unwrap();
            assert_eq!((inner.depth(), inner.waiting()), (2, 0));
            drop(over);
        });
        task.await.unwrap();
        drop(permit);
        assert!(limit.try_reserve().is_ok());
    });
}

#[test]
fn a_waiter_that_goes_away_gives_its_permit_on() {
    run(2, async {
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        let (mut waits, mut called, mut next) =
            (Box::pin(limit.reserve()), Box::pin(limit.reserve()), Box::pin(limit.reserve()));
        for waiter in [&mut waits, &mut called, &mut next] {
            assert!(poll_once(waiter.as_mut()).is_pending());
        }
        drop(waits);
        assert_eq!(limit.waiting(), 2);
        drop(permit);
        assert_eq!((limit.depth(), limit.waiting()), (1, 1), "the second has it, unseen");
        drop(called);
        assert_eq!((limit.depth(), limit.waiting()), (1, 0));
        let Poll::Ready(Ok(permit)) = poll_once(next.as_mut()) else { panic!("it was called") };
        drop(permit);
        assert_eq!(limit.depth(), 0);
    });
}

/// A future that records whether it was run or dropped.
struct Item(Arc<AtomicUsize>);

impl Future for Item {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(())
    }
}

/// Senders of all kinds against a close at any moment: each item has run, or was given back.
#[test]
fn close_loses_nothing() {
    shared(|| {
        let runtime = runtime(4);
        for round in 0..200 {
            let limit = runtime.handle().limit(RED, 2);
            let ran = Arc::new(AtomicUsize::new(0));
            let senders: Vec<_> = (0..8)
                .map(|_| {
                    let (limit, ran) = (limit.clone(), Arc::clone(&ran));
                    runtime.handle().spawn_unique(async move {
                        let mut given_back = 0;
                        for _ in 0..10 {
                            if let Err(Closed(_item)) = limit.spawn(Item(Arc::clone(&ran))).await {
                                given_back += 1;
                            }
                        }
                        given_back
                    })
                })
                .collect();
            let closer = limit.clone();
            let given_back = runtime.run(async move {
                for _ in 0..round % 40 {
                    yield_now().await;
                }
                closer.close();
                let mut sum = 0;
                for sender in senders {
                    sum += sender.await.unwrap();
                }
                sum
            });
            wait_until(|| limit.depth() == 0);
            assert_eq!(ran.load(Ordering::Relaxed) + given_back, 80, "round {round}");
            assert!(limit.is_closed());
        }
    });
}

#[test]
fn close_gives_every_kind_of_item_back() {
    run(2, async {
        let limit = Limit::new(RED, 1);
        let cell = limit.cell(String::new());
        let permit = limit.try_reserve().unwrap();
        let (waiter, calls) = (limit.clone(), cell.clone());
        let waits = spawn_unique(async move { waiter.spawn(async { 7 }).await });
        let call = spawn_unique(async move {
            match calls.call(|_| 8).await {
                Err(Closed(f)) => f(&mut String::new()),
                Ok(_) => 0,
            }
        });
        while limit.waiting() < 2 {
            yield_now().await;
        }
        limit.close();
        let Err(Closed(future)) = waits.await.unwrap() else { panic!("it was closed") };
        assert_eq!(future.await, 7, "the future is whole");
        assert_eq!(call.await.unwrap(), 8, "the closure is whole");
        assert!(matches!(cell.post(|_| ()).await, Err(Closed(_))));
        assert!(matches!(cell.try_post(|_| ()), Err(TrySendError::Closed(_))));
        assert!(matches!(cell.try_call(|_| ()), Err(TrySendError::Closed(_))));
        assert!(matches!(limit.try_spawn(async {}), Err(TrySpawnError::Closed(_))));
        let own = limit.clone();
        let from_inside = spawn_colored(RED, async move { own.spawn(async {}).await.is_err() });
        assert!(from_inside.await.unwrap(), "also for the color itself");
        // Items that were admitted before go on.
        assert_eq!(permit.spawn(async { 9 }).await.unwrap(), 9);
        assert_eq!(limit.depth(), 0);
        cell.try_with(|_| ()).unwrap_err();
    });
}

#[test]
fn every_end_of_an_item_gives_its_permit_back() {
    run(2, async {
        let limit = Limit::new(RED, 1);
        let cell = limit.cell(0);
        let drops = Drops::default();
        // Aborted while it waits, and before it has begun.
        let waits = keep(drops.under(RED), std::future::pending::<()>());
        let waits = limit.try_spawn(waits).unwrap();
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        assert_eq!(limit.depth(), 0);
        // Panics of a task, a call and a post.
        let task = limit.spawn(async { panic!("{ON_PURPOSE}") }).await.unwrap();
        assert!(task.await.unwrap_err().is_panic());
        let panics = cell.clone();
        let call = spawn_unique(async move { panics.call(|_| panic!("{ON_PURPOSE}")).await });
        assert!(call.await.unwrap_err().is_panic());
        cell.post(|_| panic!("{ON_PURPOSE}")).await.unwrap();
        assert_eq!(cell.call(|value| *value).await.unwrap(), 0, "it waited for the post's permit");
        drops.assert_exact(1);
        assert_eq!(limit.depth(), 0);
    });
}

#[test]
fn a_shutdown_gives_permits_back_and_wakes_waiters_in_other_runtimes() {
    shared(|| {
        let (home, other) = (runtime(1), runtime(1));
        let gate = Gate::close(home.handle(), RED);
        let limit = home.handle().limit(RED, 2);
        let cell = limit.cell(());
        drop(limit.try_spawn(std::future::pending::<()>()).unwrap());
        cell.try_post(|()| ()).unwrap();
        let waiter = limit.clone();
        let waits =
            other.handle().spawn(async move { waiter.spawn(async {}).await.unwrap().await });
        wait_until(|| limit.waiting() == 1);
        gate.open();
        drop(home);
        let outcome = other.block_on(waits).unwrap();
        assert!(outcome.is_ok() || outcome.unwrap_err().is_cancelled());
        assert_eq!(limit.depth(), 0);
    });
}

#[test]
fn the_delay_of_the_color_can_be_read() {
    const LONG: Duration = Duration::from_millis(20);
    shared(|| {
        let runtime = runtime(2);
        let limit = runtime.handle().limit(RED, 8);
        let cell = limit.cell(0);
        assert_eq!((limit.waited(), limit.queued()), (Duration::ZERO, 0));
        let gate = Gate::close(runtime.handle(), RED);
        let (seen, later) = (limit.clone(), limit.clone());
        let task = limit.try_spawn(async move { (seen.queued(), seen.waited()) }).unwrap();
        let last = limit.try_spawn(async move { (later.queued(), later.depth()) }).unwrap();
        let permit = limit.try_reserve().unwrap();
        // The delay can be read while the color is stuck, and not only afterwards.
        wait_until(|| limit.waited() >= LONG);
        assert_eq!((limit.queued(), limit.depth()), (2, 3), "a permit is not queued");
        gate.open();
        let (queued, waited) = runtime.block_on(task).unwrap();
        assert!(waited >= LONG, "{waited:?}");
        assert_eq!(queued, 1, "it has begun, the other has not");
        assert_eq!(runtime.block_on(last).unwrap(), (0, 2));
        wait_until(|| limit.depth() == 1);
        assert!(limit.waited() >= LONG, "what the last one has waited");
        drop(permit);
        assert_eq!(limit.waited(), Duration::ZERO, "nothing is inside");
        // Soon the color is idle: then a call does not wait, and runs here.
        let inside = limit.clone();
        wait_until(|| {
            let (inside, seen) = (inside.clone(), Arc::new(AtomicUsize::new(1)));
            let sees = Arc::clone(&seen);
            let look = move |_: &mut i32| {
                let figure = inside.queued() + usize::from(!inside.waited().is_zero());
                sees.store(figure, Ordering::Relaxed);
            };
            let at_once = cell.try_call(look).is_ok_and(|call| poll_once(pin!(call)).is_ready());
            at_once && seen.load(Ordering::Relaxed) == 0
        });
    });
}

#[test]
fn items_dropped_before_they_begin_are_not_queued() {
    shared(|| {
        let runtime = runtime(1);
        let limit = runtime.handle().limit(RED, 8);
        let cell = limit.cell(0);
        let gate = Gate::close(runtime.handle(), RED);
        let tasks: Vec<_> = (0..3).map(|_| limit.try_spawn(async {}).unwrap()).collect();
        let call = cell.try_call(|count| *count += 1).unwrap();
        let mut call = Box::pin(call);
        assert!(poll_once(call.as_mut()).is_pending());
        cell.try_post(|count| *count += 1).unwrap();
        assert_eq!((limit.queued(), limit.depth()), (5, 5));
        tasks.iter().for_each(|task| task.abort());
        drop(call);
        gate.open();
        wait_until(|| limit.depth() == 0);
        assert_eq!(limit.queued(), 0);
        // Items that a shutdown drops are not queued either.
        let gate = Gate::close(runtime.handle(), RED);
        drop(limit.try_spawn(async {}).unwrap());
        cell.try_post(|count| *count += 1).unwrap();
        assert_eq!(limit.queued(), 2);
        runtime.shutdown_background();
        gate.open();
        wait_until(|| limit.depth() == 0);
        assert_eq!((limit.queued(), limit.waited()), (0, Duration::ZERO));
    });
}

/// Many senders, small limits: no item is lost, no item runs beside another of its color, and there
/// are never too many inside.
#[test]
fn a_storm_of_senders_never_exceeds_the_capacity() {
    run(8, async {
        let limits = [1_u64, 2, 7].map(|capacity| {
            let limit = Limit::new(Color::new(capacity), capacity as usize);
            (limit.cell(Witness::default()), Arc::new(AtomicU64::new(0)))
        });
        let limits = Arc::new(limits);
        join_all((0..16).map(|seed| {
            let limits = Arc::clone(&limits);
            spawn_unique(async move {
                let mut dice = Dice::new(seed);
                for _ in 0..2_000 {
                    let (cell, sent) = &limits[dice.below(3) as usize];
                    let accepted = match dice.below(4) {
                        0 => cell.post(|witness| witness.touch()).await.is_ok(),
                        1 => cell.try_post(|witness| witness.touch()).is_ok(),
                        2 => cell.call(|witness| witness.touch()).await.is_ok(),
                        _ => {
                            let inner = cell.clone();
                            let task = async move { inner.with(|witness| witness.touch()) };
                            cell.limit().spawn(task).await.is_ok()
                        }
                    };
                    sent.fetch_add(u64::from(accepted), Ordering::Relaxed);
                    let limit = cell.limit();
                    assert!(limit.depth() <= limit.capacity(), "{limit:?}");
                }
            })
        }))
        .await;
        for (cell, sent) in &*limits {
            while cell.limit().depth() > 0 {
                yield_now().await;
            }
            let count = cell.call(|witness| witness.count()).await.unwrap();
            assert_eq!(count, sent.load(Ordering::Relaxed));
        }
    });
}

#[test]
fn a_loop_of_sends_leaves_its_poll_now_and_then() {
    run(1, async {
        let limit = Limit::new(RED, 1_000_000);
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..10_000 {
            limit.spawn(Item(Arc::clone(&ran))).await.unwrap();
        }
        // At least one turn for each time that the budget was spent; a slice may be short.
        let ran = ran.load(Ordering::Relaxed);
        assert!(ran > 50, "{ran}: the only worker got away from this loop");
    });
}

#[test]
fn mistakes_are_named() {
    let outside = panic_of(|| Limit::new(RED, 4));
    for part in ["`Limit::new(color 0x1, 4)`", "outside a runtime", "`Handle::limit`"] {
        assert!(outside.contains(part), "{outside:?} does not say {part:?}");
    }
    run(1, async {
        let zero = panic_of(|| Limit::new(RED, 0));
        assert!(zero.contains("capacity 0") && zero.contains("from 1 to"), "{zero:?}");
        assert!(panic_of(|| Limit::new(RED, usize::MAX)).contains("from 1 to"));
        let (full, closed) = (TrySendError::Full(()), TrySendError::Closed(()));
        assert!(full.is_full() && full.to_string().contains("no room"));
        assert!(!closed.is_full() && closed.to_string().contains("closed"));
        assert_eq!(Closed(5).into_inner(), TrySendError::Full(5).into_inner());
        let permit: Permit = Limit::new(RED, 1).try_reserve().unwrap();
        assert_eq!(permit.limit().depth(), 1);
    });
}
