//! `ColorCell::read` and `shared`: readers beside each other, writers alone and in order.

use colored::{AccessError, Color, ColorCell, hop, spawn_colored, spawn_unique, when, yield_now};
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::witness::Witness;
use colored_tests::{Dice, Trace, join_all, panic_of, run, runtime, settle, shared, wait_until};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::thread;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

#[test]
fn it_runs_at_once_on_this_thread_if_the_color_is_idle_and_under_the_callers_color() {
    shared(|| {
        let runtime = runtime(2);
        let cell = runtime.handle().cell(RED, 5);
        let here = thread::current().id();
        let ran = poll_once(pin!(cell.read(|value| (*value, thread::current().id()))));
        assert_eq!(ran, Poll::Ready((5, here)));
        assert_eq!(poll_once(pin!(cell.read(|_| Color::current()))), Poll::Ready(None));
        runtime.run(async move {
            hop(BLUE).await;
            assert_eq!(cell.read(|_| Color::current()).await, Some(BLUE));
            let inner = cell.clone();
            let refused = cell.read(move |_| inner.try_with(|_| ())).await;
            let expected = AccessError::WrongColor { cell: RED, current: Some(BLUE) };
            assert_eq!(refused, Err(expected), "a reader is beside the color, not under it");
        });
    });
}

#[test]
fn from_its_own_color_it_runs_at_once_unless_the_cell_is_in_use() {
    run(2, async {
        let cell = ColorCell::new(Color::DEFAULT, 5);
        let inner = cell.clone();
        let refused = cell.read(move |_| inner.try_with(|_| ())).await;
        assert_eq!(refused, Err(AccessError::InUse));
        let again = cell.clone();
        cell.with(|_| {
            let said = panic_of(|| poll_once(pin!(again.read(|_| ()))));
            assert!(said.contains("further up the stack"), "{said}");
        });
        assert_eq!(cell.read(|value| *value).await, 5);
    });
}

/// Each reader waits inside until all are inside.
/// Shows G6.
#[test]
fn readers_that_come_at_once_and_readers_that_waited_run_together() {
    const READERS: usize = 4;
    shared(|| {
        let runtime = runtime(READERS);
        let cell = runtime.handle().cell(RED, 7);
        let read_all = |gate: Option<Gate>| {
            let inside = Arc::new(Barrier::new(READERS));
            let mut tasks: Vec<_> = (0..READERS)
                .map(|_| {
                    let (cell, inside) = (cell.clone(), Arc::clone(&inside));
                    let read = move |value: &i32| {
                        inside.wait();
                        *value
                    };
                    runtime.handle().spawn_unique(async move { cell.read(read).await })
                })
                .collect();
            if let Some(gate) = gate {
                // All readers wait behind the held color.
                settle(&runtime, BLUE);
                gate.open();
            }
            let values: Vec<_> = tasks.drain(..).map(|task| runtime.run(task).unwrap()).collect();
            assert_eq!(values, [7; READERS]);
        };
        read_all(None);
        read_all(Some(Gate::close(runtime.handle(), RED)));
    });
}

/// Shows G1.
#[test]
fn writers_are_alone_and_what_readers_see_is_whole() {
    const WRITERS: u64 = 3;
    const ROUNDS: u64 = 3_000;
    shared(|| {
        let runtime = runtime(8);
        let cell = runtime.handle().cell(RED, (0_u64, 0_u64));
        let (inside, together) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let tasks: Vec<_> = (0..8)
            .map(|number| {
                let (cell, inside) = (cell.clone(), Arc::clone(&inside));
                let together = Arc::clone(&together);
                runtime.handle().spawn_unique(async move {
                    for _ in 0..ROUNDS {
                        let (inside, together) = (Arc::clone(&inside), Arc::clone(&together));
                        if number < WRITERS {
                            let write = move |value: &mut (u64, u64)| {
                                assert_eq!(inside.load(Ordering::SeqCst), 0, "a reader is inside");
                                value.0 += 1;
                                std::hint::spin_loop();
                                value.1 += 1;
                            };
                            cell.call(write).await;
                        } else {
                            let look = move |value: &(u64, u64)| {
                                let before = inside.fetch_add(1, Ordering::SeqCst);
                                together.fetch_max(before + 1, Ordering::Relaxed);
                                let seen = *value;
                                std::hint::spin_loop();
                                assert_eq!(seen, *value, "it changed while somebody looked");
                                inside.fetch_sub(1, Ordering::SeqCst);
                                seen
                            };
                            let seen = cell.read(look).await;
                            assert_eq!(seen.0, seen.1, "half written");
                        }
                        yield_now().await;
                    }
                })
            })
            .collect();
        runtime.run(join_all(tasks));
        let total = runtime.block_on(cell.read(|value| *value));
        assert_eq!(total, (WRITERS * ROUNDS, WRITERS * ROUNDS));
    });
}

/// There is always a reader inside. A writer is admitted nevertheless, and before the readers that
/// come after it.
#[test]
fn endless_readers_do_not_starve_a_writer() {
    shared(|| {
        let runtime = runtime(4);
        let cell = runtime.handle().cell(RED, 0_u64);
        let stop = Arc::new(AtomicBool::new(false));
        let inside = Arc::new(AtomicU64::new(0));
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let (cell, stop) = (cell.clone(), Arc::clone(&stop));
                let inside = Arc::clone(&inside);
                runtime.handle().spawn_unique(async move {
                    while !stop.load(Ordering::Relaxed) {
                        let (inside, stop) = (Arc::clone(&inside), Arc::clone(&stop));
                        let overlap = move |_: &u64| {
                            let all = inside.fetch_add(1, Ordering::SeqCst);
                            // A reader leaves when another one has come in, or when a waiting
                            // writer keeps the others out.
                            for _ in 0..2_000 {
                                if inside.load(Ordering::SeqCst) != all + 1
                                    || stop.load(Ordering::Relaxed)
                                {
                                    break;
                                }
                                std::hint::spin_loop();
                            }
                        };
                        cell.read(overlap).await;
                    }
                })
            })
            .collect();
        wait_until(|| inside.load(Ordering::SeqCst) > 10);
        for _ in 0..200 {
            runtime.block_on(cell.call(|value| *value += 1));
        }
        stop.store(true, Ordering::Relaxed);
        runtime.run(join_all(readers));
        assert_eq!(runtime.block_on(cell.read(|value| *value)), 200);
    });
}

/// Each read of a producer sees the producer's earlier writes, and none of its later ones.
#[test]
fn reads_and_writes_of_one_producer_keep_their_order() {
    shared(|| {
        let runtime = runtime(4);
        let cell = runtime.handle().cell(RED, [0_u64; 4]);
        let tasks: Vec<_> = (0..4_usize)
            .map(|own| {
                let cell = cell.clone();
                runtime.handle().spawn_unique(async move {
                    let mut dice = Dice::new(own as u64 + 1);
                    let (mut written, mut reads) = (0, Vec::new());
                    for _ in 0..3_000 {
                        if dice.below(3) == 0 {
                            cell.post(move |values| values[own] += 1);
                            written += 1;
                        }
                        let mut read = Box::pin(cell.read(move |values| values[own]));
                        match poll_once(read.as_mut()) {
                            Poll::Ready(seen) => assert_eq!(seen, written),
                            Poll::Pending => reads.push((read, written)),
                        }
                        if reads.len() > 20 {
                            for (read, expected) in reads.drain(..) {
                                assert_eq!(read.await, expected);
                            }
                        }
                    }
                    for (read, expected) in reads {
                        assert_eq!(read.await, expected);
                    }
                })
            })
            .collect();
        runtime.run(join_all(tasks));
    });
}

/// A queue of writers and readers behind a held color: they run in the order of arrival, and
/// neighbouring readers run together.
#[test]
fn waiting_readers_and_writers_run_in_their_order() {
    shared(|| {
        let runtime = runtime(4);
        let cell = runtime.handle().cell(RED, 0_u32);
        let gate = Gate::close(runtime.handle(), RED);
        let mut dice = Dice::new(3);
        let (mut writes, mut reads) = (0, Vec::new());
        for _ in 0..1_000 {
            if dice.below(4) == 0 {
                cell.post(|value| *value += 1);
                writes += 1;
            } else {
                let mut read = Box::pin(cell.read(|value| *value));
                assert!(poll_once(read.as_mut()).is_pending());
                reads.push((read, writes));
            }
        }
        gate.open();
        runtime.block_on(async {
            for (read, expected) in reads {
                assert_eq!(read.await, expected);
            }
            assert_eq!(cell.call(|value| *value).await, writes);
        });
    });
}

/// Tasks of the color, calls and behaviors keep apart; readers of all sorts keep apart from all of
/// them.
/// Shows G1.
#[test]
fn readers_keep_apart_from_everything_else_of_their_color() {
    const ROUNDS: u64 = 1_000;
    let witness = Arc::new(Witness::default());
    let reads = Arc::new(AtomicU64::new(0));
    let (ours, looks) = (Arc::clone(&witness), Arc::clone(&reads));
    run(4, async move {
        let (cell, other) = (ColorCell::new(RED, ()), ColorCell::new(BLUE, ()));
        let inside = Arc::new(AtomicU64::new(0));
        join_all((0..10).map(|number| {
            let (cell, other, looks) = (cell.clone(), other.clone(), Arc::clone(&looks));
            let (witness, inside) = (Arc::clone(&ours), Arc::clone(&inside));
            spawn_unique(async move {
                for _ in 0..ROUNDS {
                    let (write, look) =
                        (Access::new(&witness, &inside), Access::new(&witness, &inside));
                    match number {
                        0 => spawn_colored(RED, async move { write.alone() }).await.unwrap(),
                        1 | 2 => cell.call(move |()| write.alone()).await,
                        3 | 4 => when((&other, &cell), move |(), ()| write.alone()).await,
                        5 => when((&other, cell.shared()), move |(), ()| look.beside()).await,
                        6 => {
                            when((other.shared(), cell.shared()), move |(), ()| look.beside()).await
                        }
                        _ => cell.read(move |()| look.beside()).await,
                    }
                    looks.fetch_add(u64::from(number > 4), Ordering::Relaxed);
                }
            })
        }))
        .await;
    });
    assert_eq!(witness.count(), 5 * ROUNDS);
    assert_eq!(reads.load(Ordering::Relaxed), 5 * ROUNDS);
}

/// One access to what `readers_keep_apart_from_everything_else_of_their_color` watches.
struct Access(Arc<Witness>, Arc<AtomicU64>);

impl Access {
    fn new(witness: &Arc<Witness>, inside: &Arc<AtomicU64>) -> Self {
        Self(Arc::clone(witness), Arc::clone(inside))
    }

    fn alone(&self) {
        assert_eq!(self.1.load(Ordering::SeqCst), 0, "a reader is inside");
        self.0.touch();
        assert_eq!(self.1.load(Ordering::SeqCst), 0, "a reader came in");
    }

    fn beside(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
        std::hint::spin_loop();
        self.1.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Behaviors that share one cell and have exclusive access to another one are inside together, also
/// behaviors that had to wait.
#[test]
fn behaviors_that_share_a_cell_run_together() {
    const SIDES: usize = 3;
    shared(|| {
        let runtime = runtime(SIDES + 1);
        let rate = runtime.handle().cell(RED, 3);
        let own: Vec<_> =
            (0..SIDES).map(|side| runtime.handle().cell(Color::new(10 + side as u64), 1)).collect();
        for held in [false, true] {
            let gate = held.then(|| Gate::close(runtime.handle(), RED));
            let inside = Arc::new(Barrier::new(SIDES));
            let tasks: Vec<_> = own
                .iter()
                .map(|own| {
                    let (rate, own, inside) = (rate.clone(), own.clone(), Arc::clone(&inside));
                    runtime.handle().spawn_unique(async move {
                        let change = move |own: &mut i32, rate: &i32| {
                            inside.wait();
                            *own *= rate;
                        };
                        when((&own, rate.shared()), change).await;
                    })
                })
                .collect();
            if let Some(gate) = gate {
                settle(&runtime, BLUE);
                gate.open();
            }
            runtime.run(join_all(tasks));
        }
        assert_eq!(runtime.block_on(when(&own, |own| own.iter().sum::<i32>())), 27);
    });
}

/// A writer behind a behavior that shares the cell waits until the behavior has run, and a reader
/// behind the writer sees what it wrote.
#[test]
fn a_shared_claim_has_its_place_in_the_order_of_its_color() {
    shared(|| {
        let (runtime, trace) = (runtime(3), Trace::new());
        let cell = runtime.handle().cell(RED, 1);
        let other = runtime.handle().cell(BLUE, ());
        let gate = Gate::close(runtime.handle(), BLUE);
        let seen = trace.clone();
        let mut both = Box::pin(when((cell.shared(), &other), move |cell, ()| seen.push(*cell)));
        assert!(poll_once(both.as_mut()).is_pending());
        // Red has let the claim in, or is about to.
        let mut write = Box::pin(cell.call(|cell| *cell = 2));
        assert!(poll_once(write.as_mut()).is_pending(), "the behavior has not run");
        let seen = trace.clone();
        let mut read = Box::pin(cell.read(move |cell| seen.push(*cell)));
        assert!(poll_once(read.as_mut()).is_pending(), "a writer is before it");
        gate.open();
        runtime.block_on(async {
            both.await;
            write.await;
            read.await;
        });
        assert_eq!(trace.take(), [1, 2]);
    });
}
