//! `when`: several cells at once.

use colored::{Color, ColorCell, Runtime, hop, spawn_colored, spawn_unique, when, yield_now};
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::witness::Witness;
use colored_tests::{Dice, Trace, join_all, panic_of, run, runtime, settle, shared};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::thread;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);
const GREEN: Color = Color::new(3);

fn accounts(runtime: &Runtime, count: u64, money: i64) -> Vec<ColorCell<i64>> {
    (0..count).map(|number| runtime.handle().cell(Color::new(100 + number), money)).collect()
}

#[test]
fn one_to_eight_cells_of_any_types_and_colors() {
    run(2, async {
        let a = ColorCell::new(RED, 1_u8);
        let b = ColorCell::new(BLUE, String::from("b"));
        let c = ColorCell::new(RED, vec![3_u64]);
        assert_eq!(when((&a,), |a| *a + 1).await, 2);
        assert_eq!(when((&a, &b), |a, b| format!("{a}{b}")).await, "1b");
        when((&b, &a, &c), |b, a, c| {
            b.push('!');
            *a += 1;
            c.push(u64::from(*a));
        })
        .await;
        let seen = when((&a, &b, &c), |a, b, c| (*a, b.clone(), c.clone())).await;
        assert_eq!(seen, (2, "b!".into(), vec![3, 2]));
        let many: Vec<_> =
            (0..8).map(|index| ColorCell::new(Color::new(50 + index), index)).collect();
        let [a, b, c, d, e, f, g, h] = &many[..] else { unreachable!() };
        when((a, b, c, d), |a, b, c, d| (*a, *b, *c, *d) = (*d, *c, *b, *a)).await;
        when((a, b, c, d, e), |a, _, _, _, e| std::mem::swap(a, e)).await;
        when((a, b, c, d, e, f), |a, _, _, _, _, f| std::mem::swap(a, f)).await;
        when((a, b, c, d, e, f, g), |a, _, _, _, _, _, g| std::mem::swap(a, g)).await;
        when((a, b, c, d, e, f, g, h), |a, _, _, _, _, _, _, h| std::mem::swap(a, h)).await;
        let values = when(&many, |all| all.iter().copied().collect::<Vec<_>>()).await;
        assert_eq!(values, [7, 2, 1, 0, 3, 4, 5, 6]);
    });
}

#[test]
fn slices_arrays_and_vectors_and_the_same_cell_twice() {
    run(2, async {
        let (a, b) = (ColorCell::new(RED, 1), ColorCell::new(BLUE, 10));
        let cells = vec![a.clone(), b.clone(), a.clone()];
        when(&cells, |mut all| {
            assert_eq!((all.len(), all.is_empty()), (3, false));
            all[0] += 1;
            all[2] += 1;
            all[1] += all[0];
            assert_eq!(format!("{all:?}"), "[3, 13, 3]");
        })
        .await;
        assert_eq!(when(&cells[..2], |all| all.iter().sum::<i32>()).await, 16);
        assert_eq!(when([a.clone(), b.clone()], |all| all[0] * all[1]).await, 39);
        assert_eq!(when(&[a.clone(), a.clone()], |all| all[0] + all[1]).await, 6);
        assert_eq!(when(cells, |all| all.len()).await, 3);
        assert_eq!(when(&[] as &[ColorCell<i32>], |none| none.len()).await, 0);
        let text = panic_of(|| poll_once(pin!(when([a], |all| all[1]))));
        assert!(text.contains("index out of bounds"), "{text}");
        // The closure that panicked has released its color.
        assert_eq!(b.call(|value| *value).await, 13);
    });
}

#[test]
fn the_same_cell_twice_in_a_tuple_is_refused_with_its_places() {
    run(2, async {
        let (a, b) = (ColorCell::new(RED, 1), ColorCell::new(RED, 2));
        assert!(a.same(&a.clone()) && !a.same(&b));
        let said = panic_of(|| when((&a, &b, &a), |_, _, _| ()));
        assert!(said.contains("the same cell at places 0 and 2"), "{said}");
        let said = panic_of(|| when((&b, &a, b.shared()), |_, _, _| ()));
        assert!(said.contains("places 0 and 2"), "{said}");
        assert_eq!(when((a.shared(), &b, a.shared()), |x, y, z| *x + *y + *z).await, 4);
    });
}

#[test]
fn it_runs_at_once_and_under_the_first_color_if_all_are_idle_or_the_callers_own() {
    shared(|| {
        let runtime = runtime(2);
        let red = runtime.handle().cell(RED, 0);
        let blue = runtime.handle().cell(BLUE, 0);
        let mut first =
            pin!(when((&red, &blue), |_, _| (thread::current().id(), Color::current())));
        let here = thread::current().id();
        assert_eq!(poll_once(first.as_mut()), Poll::Ready((here, Some(RED))));
        assert_eq!(Color::current(), None, "it was lent for the closure");
        let (first, second) = (red.clone(), blue.clone());
        runtime.run(async move {
            hop(BLUE).await;
            let ran = poll_once(pin!(when((&first, &second), |_, _| Color::current())));
            assert_eq!(ran, Poll::Ready(Some(RED)), "blue is held here, red is idle");
            assert_eq!(Color::current(), Some(BLUE));
            let ran = poll_once(pin!(when((&second, first.shared()), |_, _| Color::current())));
            assert_eq!(ran, Poll::Ready(Some(BLUE)));
        });
    });
}

/// A caller that runs under one of the colors and has to wait for another one: its own color goes
/// on meanwhile.
#[test]
fn a_caller_under_one_of_the_colors_may_have_to_wait_for_the_other() {
    shared(|| {
        let (runtime, trace) = (runtime(3), Trace::new());
        let red = runtime.handle().cell(RED, ());
        let blue = runtime.handle().cell(BLUE, ());
        let gate = Gate::close(runtime.handle(), BLUE);
        let seen = trace.clone();
        let task = runtime.handle().spawn_colored(RED, async move {
            let (inner, post) = (seen.clone(), seen.clone());
            let mut both = pin!(when((&red, &blue), move |(), ()| inner.push("both")));
            assert!(poll_once(both.as_mut()).is_pending(), "blue is busy");
            red.post(move |()| post.push("behind both"));
            seen.push("still here");
            both.await;
        });
        while trace.len() < 1 {
            thread::yield_now();
        }
        gate.open();
        runtime.run(task).unwrap();
        settle(&runtime, RED);
        assert_eq!(trace.take(), ["still here", "both", "behind both"]);
    });
}

/// Shows G1.
#[test]
fn money_is_exact_over_transfers_that_have_to_wait() {
    shared(|| {
        const ACCOUNTS: u64 = 16;
        let (runtime, waited) = (runtime(8), Arc::new(AtomicU32::new(0)));
        let accounts = Arc::new(accounts(&runtime, ACCOUNTS, 1_000));
        let tasks: Vec<_> = (0..40)
            .map(|seed| {
                let (accounts, waited) = (Arc::clone(&accounts), Arc::clone(&waited));
                runtime.handle().spawn_unique(async move {
                    let mut dice = Dice::new(seed + 1);
                    for _ in 0..2_500 {
                        let from = dice.below(ACCOUNTS) as usize;
                        let to = (from + 1 + dice.below(ACCOUNTS - 1) as usize) % ACCOUNTS as usize;
                        // Holds a lane for the time of its turn, so that others have to wait for it.
                        accounts[from].post(|_| std::hint::spin_loop());
                        let amount = dice.below(100) as i64;
                        let transfer = when((&accounts[from], &accounts[to]), move |from, to| {
                            *from -= amount;
                            *to += amount;
                        });
                        let mut transfer = pin!(transfer);
                        if poll_once(transfer.as_mut()).is_pending() {
                            waited.fetch_add(1, Ordering::Relaxed);
                            transfer.await;
                        }
                    }
                })
            })
            .collect();
        runtime.run(join_all(tasks));
        let all = Arc::clone(&accounts);
        let total =
            runtime.run(async move { when(all.as_slice(), |all| all.iter().sum::<i64>()).await });
        assert_eq!(total, 1_000 * ACCOUNTS as i64);
        assert!(waited.load(Ordering::Relaxed) > 10_000, "the slow way was taken: {waited:?}");
    });
}

/// Behaviors over random sets, all scheduled by one thread while every color is held: each color
/// sees them in that order.
#[test]
fn overlapping_sets_run_in_the_order_in_which_they_were_scheduled() {
    shared(|| {
        let runtime = runtime(4);
        let handle = runtime.handle();
        let logs: Vec<_> =
            (0..6_u64).map(|color| handle.cell(Color::new(color), Vec::new())).collect();
        let mut gates: Vec<_> = (0..3).map(|color| Gate::close(handle, color)).collect();
        let mut dice = Dice::new(7);
        let mut behaviors = Vec::new();
        for number in 0..2_000 {
            // Every set has one of the held colors.
            let mut set = vec![logs[dice.below(3) as usize].clone()];
            set.extend((0..dice.below(4)).map(|_| logs[dice.below(6) as usize].clone()));
            let behavior = when(set, move |mut logs| {
                for index in 0..logs.len() {
                    if logs[index].last() != Some(&number) {
                        logs[index].push(number);
                    }
                }
            });
            let mut behavior = Box::pin(behavior);
            assert!(poll_once(behavior.as_mut()).is_pending());
            behaviors.push(behavior);
        }
        while let Some(gate) = gates.pop() {
            gate.open();
        }
        runtime.block_on(async {
            for behavior in behaviors {
                behavior.await;
            }
        });
        for log in &logs {
            let log = runtime.block_on(log.call(std::mem::take));
            assert!(log.len() > 100 && log.is_sorted(), "{} in order", log.len());
        }
    });
}

/// The work that one producer schedules on a color before and after a `when` keeps its order with the `when`.
#[test]
fn posts_before_and_behind_a_when_keep_their_places() {
    shared(|| {
        let (runtime, trace) = (runtime(3), Trace::new());
        let red = runtime.handle().cell(RED, ());
        let blue = runtime.handle().cell(BLUE, ());
        let gate = Gate::close(runtime.handle(), RED);
        let note = |what: &'static str| {
            let trace = trace.clone();
            move |_: &mut ()| trace.push(what)
        };
        red.post(note("red before"));
        let mut both = Box::pin(when((&blue, &red), {
            let trace = trace.clone();
            move |(), ()| trace.push("both")
        }));
        assert!(poll_once(both.as_mut()).is_pending());
        blue.post(note("blue behind"));
        red.post(note("red behind"));
        thread::yield_now();
        assert_eq!(trace.len(), 0, "blue waits for the claim at its head");
        gate.open();
        runtime.block_on(both);
        settle(&runtime, RED);
        settle(&runtime, BLUE);
        let trace = trace.take();
        assert_eq!(trace[..2], ["red before", "both"]);
        assert_eq!(trace.len(), 4);
    });
}

#[test]
fn philosophers_dine_without_deadlock_and_without_a_waiter() {
    const SEATS: usize = 5;
    const MEALS: u64 = 2_000;
    let forks = Arc::new(Witness::many(SEATS));
    let ours = Arc::clone(&forks);
    run(4, async move {
        let cells: Vec<_> =
            (0..SEATS).map(|seat| ColorCell::new(Color::new(seat as u64), ())).collect();
        join_all((0..SEATS).map(|seat| {
            // Each philosopher names the left fork first.
            let (left, right) = (cells[seat].clone(), cells[(seat + 1) % SEATS].clone());
            let forks = Arc::clone(&ours);
            spawn_unique(async move {
                for _ in 0..MEALS {
                    let forks = Arc::clone(&forks);
                    let eat = move |_: &mut (), _: &mut ()| {
                        forks[seat].enter(|| forks[(seat + 1) % SEATS].touch());
                    };
                    when((&left, &right), eat).await;
                    yield_now().await;
                }
            })
        }))
        .await;
    });
    assert_eq!(Witness::total(&forks), 2 * MEALS * SEATS as u64);
}

/// Both workers are free while many behaviors wait for one color.
/// Shows G6.
#[test]
fn waiting_behaviors_hold_no_worker_and_other_colors_go_on() {
    shared(|| {
        let runtime = runtime(2);
        let (red, blue) = (runtime.handle().cell(RED, 0), runtime.handle().cell(BLUE, 0));
        let gate = Gate::close(runtime.handle(), BLUE);
        let waiting: Vec<_> = (0..100)
            .map(|_| {
                let (red, blue) = (red.clone(), blue.clone());
                runtime.handle().spawn_unique(async move {
                    when((&red, &blue), |red, blue| {
                        *red += 1;
                        *blue += 1;
                    })
                    .await;
                })
            })
            .collect();
        // One worker is in the gate; the other one runs all these tasks.
        for _ in 0..1_000 {
            settle(&runtime, GREEN);
        }
        assert!(waiting.iter().all(|task| !task.is_finished()));
        gate.open();
        runtime.run(join_all(waiting));
        assert_eq!(runtime.block_on(when((&red, &blue), |red, blue| (*red, *blue))), (100, 100));
    });
}

/// A flood of behaviors over two colors, on one worker: a third color has its turns.
/// Shows G7.
#[test]
fn a_flood_of_behaviors_lets_others_run() {
    run(1, async {
        let (red, blue) = (ColorCell::new(RED, 0_u64), ColorCell::new(BLUE, 0_u64));
        let stop = Arc::new(AtomicU32::new(0));
        let floods: Vec<_> = (0..4)
            .map(|_| {
                let (red, blue, stop) = (red.clone(), blue.clone(), Arc::clone(&stop));
                spawn_unique(async move {
                    while stop.load(Ordering::Relaxed) == 0 {
                        red.post(|_| ());
                        when((&red, &blue), |red, _| *red += 1).await;
                    }
                })
            })
            .collect();
        let beside = spawn_colored(GREEN, async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        beside.await.unwrap();
        stop.store(1, Ordering::Relaxed);
        join_all(floods).await;
    });
}

/// Cells of two runtimes in one set.
#[test]
fn cells_of_two_runtimes_can_be_had_at_once() {
    shared(|| {
        let (home, other) = (runtime(2), runtime(2));
        let (red, blue) = (home.handle().cell(RED, 0), other.handle().cell(RED, 0));
        let tasks: Vec<_> = [home.handle(), other.handle(), home.handle(), other.handle()]
            .into_iter()
            .enumerate()
            .map(|(number, handle)| {
                let (red, blue) = (red.clone(), blue.clone());
                handle.spawn_unique(async move {
                    for _ in 0..2_000 {
                        red.post(|_| ());
                        if number % 2 == 0 {
                            when((&red, &blue), |red, blue| (*red, *blue) = (*red + 1, *blue + 1))
                                .await;
                        } else {
                            when((&blue, &red), |blue, red| (*red, *blue) = (*red + 1, *blue + 1))
                                .await;
                        }
                    }
                })
            })
            .collect();
        home.run(join_all(tasks));
        assert_eq!(home.block_on(when((&red, &blue), |red, blue| (*red, *blue))), (8_000, 8_000));
    });
}

/// An access to a cell of the set by another way is refused, not answered with a second `&mut`.
/// Shows G1.
#[test]
fn inside_the_closure_the_cells_are_in_use() {
    run(2, async {
        let (a, b) = (ColorCell::new(RED, 1), ColorCell::new(RED, 2));
        let c = ColorCell::new(RED, 3);
        let (inner_a, inner_b, inner_c) = (a.clone(), b.clone(), c.clone());
        when((&a, b.shared()), move |_, _| {
            for cell in [&inner_a, &inner_b] {
                assert_eq!(cell.try_with(|_| ()), Err(colored::AccessError::InUse));
            }
            // Another cell of the color that it runs under.
            assert_eq!(inner_c.try_with(|value| *value), Ok(3));
        })
        .await;
        // From inside an access to one of them.
        hop(RED).await;
        let other = ColorCell::new(BLUE, 4);
        a.with(|_| {
            let said = panic_of(|| poll_once(pin!(when((&other, &a), |_, _| ()))));
            assert!(said.contains("further up the stack"), "{said}");
            let said = panic_of(|| poll_once(pin!(when((&other, a.shared()), |_, _| ()))));
            assert!(said.contains("further up the stack"), "{said}");
        });
        assert_eq!(other.call(|value| *value).await, 4, "and blue was given back");
    });
}
