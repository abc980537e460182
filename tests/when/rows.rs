//! `when` over rows of references, and over rows that are only read.

use colored::cell::Several;
use colored::{Color, ColorCell, Limit, Runtime, hop, shared as look, spawn_unique, when};
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::{Dice, ON_PURPOSE, join_all, message, panic_of, run, runtime, settle, shared};
use std::pin::pin;
use std::sync::{Arc, Barrier};

fn cells(runtime: &Runtime, count: u64) -> Vec<ColorCell<i64>> {
    (0..count).map(|number| runtime.handle().cell(100 + number, number as i64)).collect()
}

#[test]
fn references_in_every_form_and_the_same_cell_twice() {
    run(2, async {
        let (a, b) = (ColorCell::new(1, 1), ColorCell::new(2, 10));
        let row = vec![&a, &b, &a];
        when(&row, |mut all| {
            assert_eq!((all.len(), all.is_empty()), (3, false));
            all[0] += 1;
            all[2] += 1;
            all[1] += all[0];
            assert_eq!(format!("{all:?}"), "[3, 13, 3]");
        })
        .await;
        assert_eq!(when(&row[..2], |all| all.iter().sum::<i32>()).await, 16);
        let looped = |all: Several<'_, i32>| {
            let mut seen = Vec::new();
            for value in &all {
                seen.push(*value);
            }
            assert_eq!((&all).into_iter().size_hint(), (seen.len(), Some(seen.len())));
            seen
        };
        assert_eq!(when(&row, looped).await, [3, 13, 3]);
        assert_eq!(when(&[&a, &b], |all| all[0] * all[1]).await, 39);
        assert_eq!(when([&a, &a], |all| all[0] + all[1]).await, 6);
        assert_eq!(when(row, |all| all.len()).await, 3);
        assert_eq!(when(&[] as &[&ColorCell<i32>], |none| none.len()).await, 0);
        let text = panic_of(|| poll_once(pin!(when([&a], |all| all[1]))));
        assert!(text.contains("index out of bounds"), "{text}");
        assert_eq!(a.call(|value| *value).await, 3);
    });
}

#[test]
fn shared_rows_in_every_form_and_the_same_cell_twice() {
    run(2, async {
        let (a, b) = (ColorCell::new(1, 3), ColorCell::new(2, 13));
        let row = vec![a.clone(), b.clone(), a.clone()];
        let seen = when(look(&row), |all| {
            assert_eq!((all.len(), all.is_empty()), (3, false));
            (format!("{all:?}"), all.iter().rev().copied().collect::<Vec<_>>())
        });
        assert_eq!(seen.await, (String::from("[3, 13, 3]"), vec![3, 13, 3]));
        assert_eq!(when(look(&row[1..]), |all| all[0] - all[1]).await, 10);
        assert_eq!(when(look([&a, &b, &a, &b]), |all| all.iter().sum::<i32>()).await, 32);
        assert_eq!(when(look(vec![&b]), |all| all[0]).await, 13);
        assert_eq!(when(look(&row), |all| all.into_iter().max().copied()).await, Some(13));
        assert_eq!(when(look(row), |all| all.len()).await, 3);
        assert!(when(look(&[] as &[ColorCell<i32>]), |none| none.is_empty()).await);
        // From under one of the colors, that cell is in use meanwhile, and the others are beside it.
        hop(1).await;
        let (own, other) = (a.clone(), b.clone());
        let refused = when(look([&a, &b, &a]), move |all| {
            (all[0] + all[2], own.try_with(|_| ()).is_err(), other.try_with(|_| ()).is_err())
        });
        assert_eq!(refused.await, (6, true, true));
        assert_eq!(a.with(|value| *value), 3);
    });
}

/// Each behavior waits inside until all are inside, with a reader and a shared tuple.
#[test]
fn behaviors_that_only_read_run_together() {
    const WORKERS: usize = 4;
    shared(|| {
        let runtime = runtime(WORKERS);
        let row = cells(&runtime, 3);
        for gates in [0, 1] {
            let closed = row.iter().take(gates);
            let gates: Vec<_> =
                closed.map(|cell| Gate::close(runtime.handle(), cell.color())).collect();
            let inside = Arc::new(Barrier::new(WORKERS));
            let tasks: Vec<_> = (0..WORKERS)
                .map(|number| {
                    let (row, inside) = (row.clone(), Arc::clone(&inside));
                    runtime.handle().spawn_unique(async move {
                        let [a, b, c] = &row[..] else { unreachable!() };
                        let meet = move || _ = inside.wait();
                        match number {
                            0 => a.read(move |_| meet()).await,
                            1 => when((c.shared(), a.shared()), move |_, _| meet()).await,
                            2 => when(look([b, a]), move |_| meet()).await,
                            _ => when(look(&row), move |_| meet()).await,
                        }
                    })
                })
                .collect();
            if !gates.is_empty() {
                settle(&runtime, 7);
            }
            gates.into_iter().for_each(Gate::open);
            runtime.run(join_all(tasks));
        }
    });
}

/// Shows G2.
#[test]
fn a_reading_behavior_has_a_place_in_the_order_of_each_color() {
    shared(|| {
        let runtime = runtime(3);
        let row = cells(&runtime, 2);
        let gate = Gate::close(runtime.handle(), row[1].color());
        row[0].post(|value| *value = 10);
        row[1].post(|value| *value = 20);
        let mut looks = pin!(when(look([&row[1], &row[0], &row[1]]), |all| {
            all.iter().copied().collect::<Vec<_>>()
        }));
        assert!(poll_once(looks.as_mut()).is_pending(), "one of them is busy");
        row[0].post(|value| *value = 11);
        row[1].post(|value| *value = 21);
        // The line of the first cell is blocked behind the reader.
        settle(&runtime, 7);
        let mut changes = pin!(when(&row, |mut all| {
            all[0] += 100;
            all[1] += 100;
        }));
        assert!(poll_once(changes.as_mut()).is_pending());
        gate.open();
        assert_eq!(runtime.block_on(looks), [20, 10, 20]);
        runtime.block_on(changes);
        let after = runtime.block_on(when(look(&row), |all| [all[0], all[1]]));
        assert_eq!(after, [111, 121]);
    });
}

/// Money moves between accounts, by `when` over references, while others add all of it up.
/// Shows G1.
#[test]
fn reading_behaviors_see_whole_states_beside_writers() {
    const ACCOUNTS: u64 = 12;
    const ROUNDS: u64 = 2_000;
    shared(|| {
        let runtime = runtime(4);
        let accounts: Arc<[_]> = cells(&runtime, ACCOUNTS).into();
        let all: i64 = (0..ACCOUNTS as i64).sum();
        let tasks: Vec<_> = (0..8)
            .map(|number| {
                let accounts = Arc::clone(&accounts);
                runtime.handle().spawn_unique(async move {
                    let mut dice = Dice::new(number);
                    let mut exact = 0;
                    for _ in 0..ROUNDS {
                        let mut any = || &accounts[dice.below(ACCOUNTS) as usize];
                        let (from, to, also) = (any(), any(), any());
                        if number % 2 == 0 {
                            when([from, to, also], |mut some| {
                                some[0] -= 2;
                                some[1] += 1;
                                some[2] += 1;
                            })
                            .await;
                        } else if dice.below(4) == 0 {
                            // A row of one cell, and a row with one cell at two places.
                            let seen = when(look([from, to, from]), |some| (some[0], some[2]));
                            let (one, other) = seen.await;
                            exact += usize::from(one == other);
                        } else {
                            let sum: i64 = when(look(&accounts[..]), |all| all.iter().sum()).await;
                            exact += usize::from(sum == all);
                        }
                    }
                    (number, exact)
                })
            })
            .collect();
        for task in tasks {
            let (number, exact) = runtime.run(task).unwrap();
            assert_eq!(exact as u64, if number % 2 == 0 { 0 } else { ROUNDS });
        }
    });
}

/// Shows G9.
#[test]
fn a_panic_gives_all_colors_back_whether_it_waited_or_not() {
    shared(|| {
        let runtime = runtime(3);
        let row = cells(&runtime, 3);
        for waits in [false, true] {
            let gate = waits.then(|| Gate::close(runtime.handle(), row[2].color()));
            let own = row.clone();
            let task = runtime.handle().spawn_unique(async move {
                let references: Vec<_> = own.iter().chain(&own).collect();
                when(look(&references), |all| assert_eq!(all[5], -1, "{ON_PURPOSE}")).await;
            });
            settle(&runtime, 7);
            if let Some(gate) = gate {
                gate.open();
            }
            let error = runtime.run(task).unwrap_err();
            assert!(message(&*error.into_panic()).contains(ON_PURPOSE));
            // Exclusive access succeeds at once: no reader is inside any more.
            let all = row.clone();
            let sum = runtime.run(async move { when(&all, |all| all.iter().sum::<i64>()).await });
            assert_eq!(sum, 3);
        }
    });
}

/// Shared and exclusive accesses of one cell never overlap. Both in one row are a mistake; inside an access the other
/// one is refused; from elsewhere it waits.
#[test]
fn readers_and_writers_of_rows_never_run_together() {
    run(3, async {
        let (a, b) = (ColorCell::new(1, 1), ColorCell::new(2, 2));
        let said = panic_of(|| when((&a, a.shared()), |_, _| ()));
        assert!(said.contains("the same cell at places 0 and 1"), "{said}");
        hop(1).await;
        let text = a.with(|_| panic_of(|| poll_once(pin!(when(look([&b, &a]), |_| ())))));
        assert!(text.contains("is in use"), "{text}");
        // The refused `when` has released the other color.
        b.call(|value| *value += 1).await;
        let looked = spawn_unique({
            let (a, b) = (a.clone(), b.clone());
            async move { when(look([&a, &b]), |all| (all[0], all[1])).await }
        });
        let inside = a.clone();
        a.exclusive(async |value| {
            assert!(inside.try_with(|_| ()).is_err());
            for _ in 0..10 {
                *value += 1;
                colored::yield_now().await;
            }
        })
        .await;
        let seen = looked.await.unwrap();
        assert!([(1, 3), (11, 3)].contains(&seen), "{seen:?}");
    });
}

#[test]
fn dropped_before_its_turn_it_lets_go_of_its_cells() {
    shared(|| {
        let runtime = runtime(2);
        let held = Arc::new(());
        let row: Vec<_> =
            (0..3).map(|number| runtime.handle().cell(number + 1, Arc::clone(&held))).collect();
        let gate = Gate::close(runtime.handle(), 2);
        let references: Vec<_> = row.iter().collect();
        let mut looks = Box::pin(when(look(&references), |_| unreachable!("nobody wants it")));
        assert!(poll_once(looks.as_mut()).is_pending());
        drop(looks);
        drop(row);
        gate.open();
        // The last clones go with it, when it has given its colors back.
        colored_tests::wait_until(|| Arc::strong_count(&held) == 1);
    });
}

/// A limited cell gives its cell for `read`, `exclusive` and `when`; the caller holds a permit.
#[test]
fn a_limited_cell_has_its_cell() {
    run(2, async {
        let limited = Limit::new(1, 1).cell(5);
        let other = ColorCell::new(2, 1);
        assert_eq!(limited.cell().color(), Color::new(1));
        let permit = limited.limit().reserve().await.unwrap();
        assert!(limited.try_post(|_| ()).is_err(), "there is one permit");
        assert_eq!(limited.cell().read(|value| *value).await, 5);
        when((limited.cell(), &other), |value, other| *value += *other).await;
        drop(permit);
        assert!(limited.try_post(|value| *value += 1).is_ok());
        hop(1).await;
        limited.cell().exclusive(async |value| *value *= 2).await;
        assert_eq!(limited.with(|value| *value), 14);
    });
}
