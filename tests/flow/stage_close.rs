//! Stages that are closed, explicitly or by the last sender, and batches that panic: every event is handled or
//! given back.

use colored::stage::{Batch, Builder, Closed, Events, Handler, TrySendError, each};
use colored::{Color, spawn_unique, yield_now};
use colored_tests::drops::Drops;
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::witness::Witness;
use colored_tests::{Dice, ON_PURPOSE, Trace, run, runtime, shared};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

const RED: Color = Color::new(1);

/// Notes its events, and waits in between. It must never be used twice at once.
struct Slow {
    trace: Trace<u32>,
    inside: Arc<Witness>,
    drops: Option<Drops>,
}

impl Handler<u32> for Slow {
    async fn handle(&mut self, events: &mut Events<u32>) {
        for event in events {
            self.inside.touch();
            yield_now().await;
            self.trace.push(event);
        }
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        if let Some(drops) = &self.drops {
            drop(drops.under(RED));
        }
    }
}

#[test]
fn close_gives_waiting_events_back_and_handles_accepted_ones() {
    shared(|| {
        let runtime = runtime(2);
        let _entered = runtime.handle().enter();
        let gate = Gate::close(runtime.handle(), RED);
        let (trace, drops) = (Trace::new(), Drops::default());
        let handler =
            Slow { trace: trace.clone(), inside: Arc::default(), drops: Some(drops.clone()) };
        let mut handler = Some(handler);
        let stage = Builder::new()
            .capacity(2)
            .color(RED)
            .build_with(|_| handler.take().expect("one partition"));
        stage.try_send(1).unwrap();
        stage.try_send(2).unwrap();
        let mut waits = Box::pin(stage.send(3));
        assert!(poll_once(waits.as_mut()).is_pending());
        assert!(!stage.is_closed());
        stage.close();
        stage.close();
        assert!(stage.is_closed());
        assert_eq!(poll_once(waits.as_mut()), Poll::Ready(Err(Closed(3))));
        assert_eq!(stage.try_send(4), Err(TrySendError::Closed(4)));
        assert_eq!(poll_once(pin!(stage.send(5))), Poll::Ready(Err(Closed(5))));
        assert!(poll_once(pin!(stage.drained())).is_pending());
        gate.open();
        runtime.block_on(async {
            stage.drained().await;
            stage.drained().await;
        });
        // The handler has been dropped by then, under its color.
        drops.assert_exact(1);
        assert_eq!(trace.take(), [1, 2]);
    });
}

#[test]
fn the_last_sender_closes() {
    run(2, async {
        let trace = Trace::new();
        let seen = trace.clone();
        let last = Builder::new().build(each(move |event: u32| seen.push(event)));
        let stage = {
            let next = last.clone();
            Builder::new().build(move |events: Events<u32>| {
                let next = next.clone();
                async move {
                    for event in events {
                        next.send(event).await.unwrap();
                    }
                }
            })
        };
        let (end, clone) = (last.clone(), stage.clone());
        drop(last);
        for event in 0..100 {
            stage.send(event).await.unwrap();
        }
        drop(stage);
        yield_now().await;
        assert!(!clone.is_closed());
        // The first stage drops its handler, and with it all but one sender of the second stage.
        drop(clone);
        while trace.len() < 100 {
            yield_now().await;
        }
        assert!(!end.is_closed());
        end.close();
        end.drained().await;
        assert_eq!(trace.take(), (0..100).collect::<Vec<_>>());
    });
}

#[test]
fn a_panic_costs_one_batch() {
    run(2, async {
        let trace = Trace::new();
        let seen = trace.clone();
        let mut batches = 0;
        let stage = Builder::new().batch(Batch::Fixed(1)).build(each(move |event: u32| {
            batches += 1;
            assert!(event % 10 != 3, "{ON_PURPOSE}");
            seen.push((event, batches));
        }));
        for event in 0..100 {
            stage.send(event).await.unwrap();
        }
        stage.close();
        stage.drained().await;
        let metrics = stage.metrics();
        assert_eq!((metrics.handled, metrics.lost, metrics.panics), (90, 10, 10));
        assert_eq!(metrics.depth(), 0);
        // The handler is the same one as before.
        let expected: Vec<_> =
            (0..100).filter(|event| event % 10 != 3).map(|event| (event, event + 1)).collect();
        assert_eq!(trace.take(), expected);
    });
}

/// A handler that panics when it is called, before it has made its future.
#[test]
fn a_panic_before_the_future_is_made_costs_one_batch() {
    run(2, async {
        let stage = Builder::new().batch(Batch::Fixed(1)).build(|mut events: Events<u32>| {
            assert!(events.next() != Some(3), "{ON_PURPOSE}");
            async {}
        });
        for event in 0..10 {
            stage.send(event).await.unwrap();
        }
        stage.close();
        stage.drained().await;
        let metrics = stage.metrics();
        assert_eq!((metrics.handled, metrics.lost, metrics.panics), (9, 1, 1));
    });
}

/// A destructor that panics, in what a panicking handler leaves behind.
#[test]
fn the_remains_of_a_panic_may_panic_too() {
    struct Poison;
    impl Drop for Poison {
        fn drop(&mut self) {
            panic!("{ON_PURPOSE}");
        }
    }
    shared(|| {
        let runtime = runtime(1);
        let _entered = runtime.handle().enter();
        let gate = Gate::close(runtime.handle(), RED);
        let stage = Builder::new().color(RED).build(each(|_poison: Poison| ()));
        for _ in 0..5 {
            assert!(stage.try_send(Poison).is_ok());
        }
        stage.close();
        gate.open();
        runtime.block_on(stage.drained());
        let metrics = stage.metrics();
        assert_eq!((metrics.lost, metrics.panics, metrics.batches), (5, 1, 1));
    });
}

/// Senders of all kinds against a close: each event has been handled, or was given back.
#[test]
fn close_at_any_moment_loses_nothing() {
    run(4, async {
        for round in 0..200_u64 {
            let handled = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&handled);
            let stage = Builder::new()
                .capacity(4)
                .parallel(2, |event: &u64| *event)
                .batch(Batch::Fixed(3))
                .build(each(move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                }));
            let senders: Vec<_> = (0..6)
                .map(|seed| {
                    let stage = stage.clone();
                    spawn_unique(async move {
                        let mut dice = Dice::new(round * 6 + seed);
                        let (mut accepted, mut refused) = (0, 0);
                        for event in 0..20 {
                            // `None`: the stage was full.
                            let sent = match dice.below(4) {
                                0 => match stage.try_send(event) {
                                    Err(TrySendError::Full(_)) => None,
                                    sent => Some(sent.is_ok()),
                                },
                                1 => match poll_once(pin!(stage.send(event))) {
                                    Poll::Ready(sent) => Some(sent.is_ok()),
                                    Poll::Pending => None,
                                },
                                _ => Some(stage.send(event).await.is_ok()),
                            };
                            accepted += u64::from(sent == Some(true));
                            refused += u64::from(sent == Some(false));
                        }
                        (accepted, refused)
                    })
                })
                .collect();
            for _ in 0..round % 20 {
                yield_now().await;
            }
            stage.close();
            let mut sent = (0, 0);
            for sender in senders {
                let (accepted, refused) = sender.await.unwrap();
                sent = (sent.0 + accepted, sent.1 + refused);
            }
            stage.drained().await;
            let metrics = stage.metrics();
            assert_eq!((metrics.accepted, metrics.refused), sent, "round {round}");
            assert_eq!(handled.load(Ordering::Relaxed) as u64, metrics.accepted);
        }
    });
}
