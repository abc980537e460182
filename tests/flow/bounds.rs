//! `Bound`: what a color is given, and what becomes of what it is not given.

use crate::support::drops::Drops;
use crate::support::gate::Gate;
use crate::support::polls::poll_once;
use crate::support::witness::Witness;
use crate::support::{Dice, ON_PURPOSE, Trace, panic_of, run, runtime, shared, wait_until};
use colored::bound::Place;
use colored::{Bound, Closed, Color, TrySendError, TrySpawnError};
use colored::{hop, spawn_colored, spawn_unique, yield_now};
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
        let bound = runtime.handle().bound(RED, 3);
        let trace = Trace::new();
        let task = |mark: u32| {
            let trace = trace.clone();
            async move { trace.push(mark) }
        };
        let handles: Vec<_> =
            (0..3).map(|mark| bound.try_spawn(task(mark)).expect("there is room")).collect();
        assert_eq!((bound.depth(), bound.capacity(), bound.color()), (3, 3, RED));
        let Err(TrySpawnError::Full(shed)) = bound.try_spawn(task(3)) else { panic!("it is full") };
        assert!(matches!(bound.try_reserve(), Err(TrySendError::Full(()))));
        gate.open();
        runtime.run(async move {
            for handle in handles {
                handle.await.unwrap();
            }
            shed.await;
        });
        assert_eq!(trace.take(), [0, 1, 2, 3], "what was shed is whole");
        assert_eq!(bound.depth(), 0);
    });
}

#[test]
fn who_waits_is_admitted_in_order_and_nobody_overtakes() {
    run(4, async {
        let bound = Bound::new(RED, 1);
        let trace = Trace::new();
        let place = bound.try_reserve().unwrap();
        let mut waiting = Vec::new();
        for mark in 0..100 {
            let (bound, trace) = (bound.clone(), trace.clone());
            // They come one after another, each under a color of its own.
            let before = bound.waiting();
            let counter = bound.clone();
            waiting.push(spawn_unique(async move {
                let task = bound.spawn(async move { trace.push(mark) }).await.unwrap();
                task.await.unwrap();
            }));
            while counter.waiting() == before {
                yield_now().await;
            }
        }
        drop(place);
        assert!(bound.try_spawn(async {}).is_err(), "there is a line");
        for task in waiting {
            task.await.unwrap();
        }
        assert_eq!(trace.take(), (0..100).collect::<Vec<_>>());
        assert_eq!((bound.depth(), bound.waiting()), (0, 0));
    });
}

#[test]
fn a_color_that_sends_to_itself_does_not_wait() {
    run(2, async {
        let bound = Bound::new(RED, 1);
        let cell = bound.cell(0);
        let (inner, own) = (bound.clone(), cell.clone());
        let task = bound.spawn(async move {
            let mut children = Vec::new();
            for _ in 0..10 {
                children.push(inner.spawn(async {}).await.unwrap());
                own.post(|count| *count += 1).await.unwrap();
            }
            assert!(inner.try_spawn(async {}).is_ok() && own.try_post(|_| ()).is_ok());
            assert_eq!(inner.depth(), 1 + 10 + 10 + 2, "counted, over the capacity");
            // Others have to wait for all of them.
            let outside = inner.clone();
            let refused =
                spawn_colored(BLUE, async move { outside.try_reserve().is_err() }).await.unwrap();
            for child in children {
                child.await.unwrap();
            }
            // Through another task of the color as well.
            own.call(|count| *count += 1).await.unwrap();
            refused
        });
        assert!(task.await.unwrap().await.unwrap());
        assert_eq!(cell.call(|count| *count).await.unwrap(), 11);
        assert_eq!(bound.depth(), 0);
    });
}

#[test]
fn who_hops_to_the_color_while_it_waits_is_admitted() {
    run(2, async {
        let bound = Bound::new(RED, 1);
        let place = bound.try_reserve().unwrap();
        let inner = bound.clone();
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
        drop(place);
        assert!(bound.try_reserve().is_ok());
    });
}

#[test]
fn a_waiter_that_goes_away_gives_its_place_on() {
    run(2, async {
        let bound = Bound::new(RED, 1);
        let place = bound.try_reserve().unwrap();
        let (mut waits, mut called, mut next) =
            (Box::pin(bound.reserve()), Box::pin(bound.reserve()), Box::pin(bound.reserve()));
        for waiter in [&mut waits, &mut called, &mut next] {
            assert!(poll_once(waiter.as_mut()).is_pending());
        }
        drop(waits);
        assert_eq!(bound.waiting(), 2);
        drop(place);
        assert_eq!((bound.depth(), bound.waiting()), (1, 1), "the second has it, unseen");
        drop(called);
        assert_eq!((bound.depth(), bound.waiting()), (1, 0));
        let Poll::Ready(Ok(place)) = poll_once(next.as_mut()) else { panic!("it was called") };
        drop(place);
        assert_eq!(bound.depth(), 0);
    });
}

/// A future that says what became of it.
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
            let bound = runtime.handle().bound(RED, 2);
            let ran = Arc::new(AtomicUsize::new(0));
            let senders: Vec<_> = (0..8)
                .map(|_| {
                    let (bound, ran) = (bound.clone(), Arc::clone(&ran));
                    runtime.handle().spawn_unique(async move {
                        let mut given_back = 0;
                        for _ in 0..10 {
                            if let Err(Closed(_item)) = bound.spawn(Item(Arc::clone(&ran))).await {
                                given_back += 1;
                            }
                        }
                        given_back
                    })
                })
                .collect();
            let closer = bound.clone();
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
            wait_until(|| bound.depth() == 0);
            assert_eq!(ran.load(Ordering::Relaxed) + given_back, 80, "round {round}");
            assert!(bound.is_closed());
        }
    });
}

#[test]
fn close_gives_every_kind_of_item_back() {
    run(2, async {
        let bound = Bound::new(RED, 1);
        let cell = bound.cell(String::new());
        let place = bound.try_reserve().unwrap();
        let (waiter, calls) = (bound.clone(), cell.clone());
        let waits = spawn_unique(async move { waiter.spawn(async { 7 }).await });
        let call = spawn_unique(async move {
            match calls.call(|_| 8).await {
                Err(Closed(f)) => f(&mut String::new()),
                Ok(_) => 0,
            }
        });
        while bound.waiting() < 2 {
            yield_now().await;
        }
        bound.close();
        let Err(Closed(future)) = waits.await.unwrap() else { panic!("it was closed") };
        assert_eq!(future.await, 7, "the future is whole");
        assert_eq!(call.await.unwrap(), 8, "the closure is whole");
        assert!(matches!(cell.post(|_| ()).await, Err(Closed(_))));
        assert!(matches!(cell.try_post(|_| ()), Err(TrySendError::Closed(_))));
        assert!(matches!(cell.try_call(|_| ()), Err(TrySendError::Closed(_))));
        assert!(matches!(bound.try_spawn(async {}), Err(TrySpawnError::Closed(_))));
        let own = bound.clone();
        let from_inside = spawn_colored(RED, async move { own.spawn(async {}).await.is_err() });
        assert!(from_inside.await.unwrap(), "also for the color itself");
        // Who was admitted before goes on.
        assert_eq!(place.spawn(async { 9 }).await.unwrap(), 9);
        assert_eq!(bound.depth(), 0);
        cell.try_with(|_| ()).unwrap_err();
    });
}

#[test]
fn every_end_of_an_item_gives_its_place_back() {
    run(2, async {
        let bound = Bound::new(RED, 1);
        let cell = bound.cell(0);
        let drops = Drops::default();
        // Aborted while it waits, and before it has begun.
        let value = drops.under(RED);
        let waits = bound.try_spawn(async move {
            let _value = value;
            std::future::pending::<()>().await;
        });
        let waits = waits.unwrap();
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        assert_eq!(bound.depth(), 0);
        // Panics of a task, a call and a post.
        let task = bound.spawn(async { panic!("{ON_PURPOSE}") }).await.unwrap();
        assert!(task.await.unwrap_err().is_panic());
        let panics = cell.clone();
        let call = spawn_unique(async move { panics.call(|_| panic!("{ON_PURPOSE}")).await });
        assert!(call.await.unwrap_err().is_panic());
        cell.post(|_| panic!("{ON_PURPOSE}")).await.unwrap();
        assert_eq!(cell.call(|value| *value).await.unwrap(), 0, "it waited for the post's place");
        drops.assert_exact(1);
        assert_eq!(bound.depth(), 0);
    });
}

#[test]
fn a_shutdown_gives_places_back_and_wakes_who_waits_elsewhere() {
    shared(|| {
        let (home, other) = (runtime(1), runtime(1));
        let gate = Gate::close(home.handle(), RED);
        let bound = home.handle().bound(RED, 2);
        let cell = bound.cell(());
        drop(bound.try_spawn(std::future::pending::<()>()).unwrap());
        cell.try_post(|()| ()).unwrap();
        let waiter = bound.clone();
        let waits =
            other.handle().spawn(async move { waiter.spawn(async {}).await.unwrap().await });
        wait_until(|| bound.waiting() == 1);
        gate.open();
        drop(home);
        let outcome = other.block_on(waits).unwrap();
        assert!(outcome.is_ok() || outcome.unwrap_err().is_cancelled());
        assert_eq!(bound.depth(), 0);
    });
}

#[test]
fn the_delay_of_the_color_can_be_read() {
    const LONG: Duration = Duration::from_millis(20);
    shared(|| {
        let runtime = runtime(2);
        let bound = runtime.handle().bound(RED, 8);
        let cell = bound.cell(0);
        assert_eq!((bound.waited(), bound.queued()), (Duration::ZERO, 0));
        let gate = Gate::close(runtime.handle(), RED);
        let (seen, later) = (bound.clone(), bound.clone());
        let task = bound.try_spawn(async move { (seen.queued(), seen.waited()) }).unwrap();
        let last = bound.try_spawn(async move { (later.queued(), later.depth()) }).unwrap();
        let place = bound.try_reserve().unwrap();
        // While the color is stuck, and not only afterwards.
        wait_until(|| bound.waited() >= LONG);
        assert_eq!((bound.queued(), bound.depth()), (2, 3), "a place is not queued");
        gate.open();
        let (queued, waited) = runtime.block_on(task).unwrap();
        assert!(waited >= LONG, "{waited:?}");
        assert_eq!(queued, 1, "it has begun, the other has not");
        assert_eq!(runtime.block_on(last).unwrap(), (0, 2));
        wait_until(|| bound.depth() == 1);
        assert!(bound.waited() >= LONG, "what the last one has waited");
        drop(place);
        assert_eq!(bound.waited(), Duration::ZERO, "nothing is inside");
        // Soon the color is idle: then a call does not wait, and runs here.
        let inside = bound.clone();
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
fn what_is_dropped_unbegun_is_not_queued() {
    shared(|| {
        let runtime = runtime(1);
        let bound = runtime.handle().bound(RED, 8);
        let cell = bound.cell(0);
        let gate = Gate::close(runtime.handle(), RED);
        let tasks: Vec<_> = (0..3).map(|_| bound.try_spawn(async {}).unwrap()).collect();
        let call = cell.try_call(|count| *count += 1).unwrap();
        let mut call = Box::pin(call);
        assert!(poll_once(call.as_mut()).is_pending());
        cell.try_post(|count| *count += 1).unwrap();
        assert_eq!((bound.queued(), bound.depth()), (5, 5));
        tasks.iter().for_each(|task| task.abort());
        drop(call);
        gate.open();
        wait_until(|| bound.depth() == 0);
        assert_eq!(bound.queued(), 0);
        // Nor what a shutdown catches.
        let gate = Gate::close(runtime.handle(), RED);
        drop(bound.try_spawn(async {}).unwrap());
        cell.try_post(|count| *count += 1).unwrap();
        assert_eq!(bound.queued(), 2);
        runtime.shutdown_background();
        gate.open();
        wait_until(|| bound.depth() == 0);
        assert_eq!((bound.queued(), bound.waited()), (0, Duration::ZERO));
    });
}

/// Many senders, small bounds: nobody is lost, nobody runs beside another, never too many inside.
#[test]
fn a_storm_of_senders_never_exceeds_the_capacity() {
    run(8, async {
        let bounds = [1_u64, 2, 7].map(|capacity| {
            let bound = Bound::new(Color::new(capacity), capacity as usize);
            (bound.cell(Witness::default()), Arc::new(AtomicU64::new(0)))
        });
        let bounds = Arc::new(bounds);
        let senders: Vec<_> = (0..16)
            .map(|seed| {
                let bounds = Arc::clone(&bounds);
                spawn_unique(async move {
                    let mut dice = Dice::new(seed);
                    for _ in 0..2_000 {
                        let (cell, sent) = &bounds[dice.below(3) as usize];
                        let accepted = match dice.below(4) {
                            0 => cell.post(|witness| witness.touch()).await.is_ok(),
                            1 => cell.try_post(|witness| witness.touch()).is_ok(),
                            2 => cell.call(|witness| witness.touch()).await.is_ok(),
                            _ => {
                                let inner = cell.clone();
                                let task = async move { inner.with(|witness| witness.touch()) };
                                cell.bound().spawn(task).await.is_ok()
                            }
                        };
                        sent.fetch_add(u64::from(accepted), Ordering::Relaxed);
                        let bound = cell.bound();
                        assert!(bound.depth() <= bound.capacity(), "{bound:?}");
                    }
                })
            })
            .collect();
        for sender in senders {
            sender.await.unwrap();
        }
        for (cell, sent) in &*bounds {
            while cell.bound().depth() > 0 {
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
        let bound = Bound::new(RED, 1_000_000);
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..10_000 {
            bound.spawn(Item(Arc::clone(&ran))).await.unwrap();
        }
        // One at least for each time that the budget was spent; a slice may be short.
        let ran = ran.load(Ordering::Relaxed);
        assert!(ran > 50, "{ran}: the only worker got away from this loop");
    });
}

#[test]
fn mistakes_are_named() {
    let outside = panic_of(|| Bound::new(RED, 4));
    for part in ["`Bound::new(color 0x1, 4)`", "outside a runtime", "`Handle::bound`"] {
        assert!(outside.contains(part), "{outside:?} does not say {part:?}");
    }
    run(1, async {
        let zero = panic_of(|| Bound::new(RED, 0));
        assert!(zero.contains("capacity 0") && zero.contains("from 1 to"), "{zero:?}");
        assert!(panic_of(|| Bound::new(RED, usize::MAX)).contains("from 1 to"));
        let (full, closed) = (TrySendError::Full(()), TrySendError::Closed(()));
        assert!(full.is_full() && full.to_string().contains("no room"));
        assert!(!closed.is_full() && closed.to_string().contains("closed"));
        assert_eq!(Closed(5).into_inner(), TrySendError::Full(5).into_inner());
        let place: Place = Bound::new(RED, 1).try_reserve().unwrap();
        assert_eq!(place.bound().depth(), 1);
    });
}
