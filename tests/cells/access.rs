//! `ColorCell`: state that belongs to a color, used from inside it and from anywhere.

use colored::{
    AccessError, CallError, Color, ColorCell, hop, spawn_colored, spawn_unique, yield_now,
};
use colored_tests::drops::Drops;
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::witness::Witness;
use colored_tests::{ON_PURPOSE, Trace, join_all, panic_of, run, runtime, settle, shared};
use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

#[test]
fn only_its_color_reaches_the_value_directly() {
    run(2, async {
        let cell = ColorCell::new(RED, 5);
        assert_eq!(cell.color(), RED);
        let outside = cell.try_with(|_| unreachable!("the color is another")).unwrap_err();
        assert_eq!(outside, AccessError::WrongColor { cell: RED, current: Some(Color::DEFAULT) });
        let text = panic_of(|| cell.with(|_| ()));
        for part in ["belongs to color 0x1", "under color default", "`call` or `post`", "`hop`"] {
            assert!(text.contains(part), "{text:?} does not say {part:?}");
        }
        hop(RED).await;
        assert_eq!(cell.try_with(|value| *value), Ok(5));
        cell.with(|value| *value += 1);
        yield_now().await;
        assert_eq!(cell.with(|value| *value), 6);
        hop(BLUE).await;
        assert!(cell.try_with(|_| ()).is_err(), "a hop takes the right along");
    });
}

#[test]
fn a_refusal_names_both_sides() {
    run(2, async {
        let accounts = Color::named("accounts of the cells");
        let made = line!() + 1;
        let cell = ColorCell::new(accounts, 5);
        let spawned = line!() + 1;
        let clerk = spawn_colored(Color::named("clerk of the cells"), async move {
            (colored::task::id(), panic_of(|| cell.with(|_| ())))
        });
        let (id, text) = clerk.await.unwrap();
        let mut lines = text.lines();
        let first = lines.next().unwrap();
        for part in
            [r#"belongs to color "accounts of the cells""#, r#"under color "clerk of the cells""#]
        {
            assert!(first.contains(part), "{text:?} does not say {part:?}");
        }
        let here = file!();
        if cfg!(debug_assertions) {
            let line = lines.next().unwrap();
            assert!(line.contains(&format!("the cell was made at {here}:{made}:")), "{text}");
        }
        let line = lines.next().unwrap();
        assert!(
            line.contains(&format!("the caller is {id:?} (spawned at {here}:{spawned}:")),
            "{text}"
        );
        assert_eq!(lines.next(), None);
    });
}

#[test]
fn a_thread_of_no_runtime_can_call_and_post_but_not_reach_in() {
    shared(|| {
        let runtime = runtime(2);
        let cell = runtime.handle().cell(RED, Vec::new());
        let error = cell.try_with(|_| ()).unwrap_err();
        assert_eq!(error, AccessError::WrongColor { cell: RED, current: None });
        assert!(error.to_string().contains("under no color"), "{error}");
        cell.post(|list| list.push((1, Color::current())));
        settle(&runtime, RED);
        // The color is idle, so this very thread takes it.
        let mut call = pin!(cell.call(|list| {
            list.push((2, Color::current()));
            thread::current().id()
        }));
        assert_eq!(poll_once(call.as_mut()), Poll::Ready(thread::current().id()));
        assert_eq!(Color::current(), None, "it was lent for the call");
        let list = runtime.block_on(cell.call(std::mem::take));
        assert_eq!(list, [(1, Some(RED)), (2, Some(RED))]);
    });
}

/// A type that no two threads may look at: the color is what keeps them apart.
#[test]
fn the_value_need_not_be_sync_and_calls_from_everywhere_are_exact() {
    shared(|| {
        let (home, other) = (runtime(4), runtime(2));
        let cell = home.handle().cell(RED, Cell::new(0_u32));
        let tasks: Vec<_> = (0..8)
            .map(|number| {
                let handle = if number % 2 == 0 { home.handle() } else { other.handle() };
                let cell = cell.clone();
                handle.spawn_unique(async move {
                    for _ in 0..2_000 {
                        cell.call(|value| value.set(value.get() + 1)).await;
                        cell.post(|value| value.set(value.get() + 1));
                    }
                    cell.call(|_| ()).await;
                })
            })
            .collect();
        let ours = cell.clone();
        let foreign = thread::spawn(move || {
            (0..5_000).for_each(|_| ours.post(|value| value.set(value.get() + 1)));
        });
        home.run(join_all(tasks));
        foreign.join().unwrap();
        settle(&home, RED);
        assert_eq!(home.run(async move { cell.call(|value| value.get()).await }), 37_000);
    });
}

#[test]
fn a_second_access_further_up_the_stack_is_refused() {
    run(2, async {
        let cell = ColorCell::new(Color::DEFAULT, 1);
        let again = cell.clone();
        cell.with(|value| {
            assert_eq!(again.try_with(|_| ()), Err(AccessError::InUse));
            assert!(panic_of(|| again.with(|_| ())).contains("further up the stack"));
            assert!(
                panic_of(|| poll_once(pin!(again.call(|_| ())))).contains("further up the stack")
            );
            // The post runs as soon as the color is free again.
            again.post(|value| *value *= 10);
            *value += 1;
        });
        yield_now().await;
        assert_eq!(cell.with(|value| *value), 20);
        // Another cell of the same color has another value.
        let other = ColorCell::new(Color::DEFAULT, 5);
        assert_eq!(cell.with(|value| other.with(|other| *value + *other)), 25);
    });
}

/// Shows G2.
#[test]
fn calls_and_posts_run_in_the_order_in_which_they_were_made() {
    shared(|| {
        let (runtime, trace) = (runtime(2), Trace::new());
        let cell = runtime.handle().cell(RED, ());
        let gate = Gate::close(runtime.handle(), RED);
        let event = |number| {
            let trace = trace.clone();
            move |_: &mut ()| trace.push(number)
        };
        let mut calls = Vec::new();
        for number in 0..50 {
            cell.post(event(4 * number));
            let mut call = Box::pin(cell.call(event(4 * number + 1)));
            assert!(poll_once(call.as_mut()).is_pending());
            // To be polled again changes nothing about its place.
            assert!(poll_once(call.as_mut()).is_pending());
            calls.push(call);
            let task = event(4 * number + 2);
            drop(runtime.handle().spawn_colored(RED, async move { task(&mut ()) }));
            cell.post(event(4 * number + 3));
        }
        gate.open();
        runtime.block_on(async {
            for call in calls {
                call.await;
            }
        });
        settle(&runtime, RED);
        assert_eq!(trace.take(), (0..200).collect::<Vec<_>>());
    });
}

/// Values that the closure owns go the same way: back to the caller if the closure was never scheduled.
#[test]
fn a_call_dropped_before_its_turn_never_runs() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let cell = runtime.handle().cell(RED, ());
        let call = |guard| {
            cell.call(move |()| {
                // Then it would be missing.
                std::mem::forget(guard);
            })
        };
        let gate = Gate::close(runtime.handle(), RED);
        let mut given_up = Box::pin(call(drops.under(RED)));
        assert!(poll_once(given_up.as_mut()).is_pending());
        drop(given_up);
        assert_eq!(drops.count(), 0, "its color is busy");
        gate.open();
        settle(&runtime, RED);
        drops.assert_exact(1);
        // A call that was never polled was never scheduled.
        let unpolled = Drops::default();
        runtime.run({
            let call = cell.call({
                let guard = unpolled.under(BLUE);
                move |()| drop(guard)
            });
            async move {
                hop(BLUE).await;
                drop(call);
            }
        });
        unpolled.assert_exact(1);
    });
}

#[test]
fn a_call_dropped_while_it_runs_goes_on() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let cell = runtime.handle().cell(RED, 0);
        let (begun, begins) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let gate = Gate::close(runtime.handle(), RED);
        let guard = drops.under(RED);
        let mut call = Box::pin(cell.call(move |value| {
            begun.send(()).unwrap();
            ended.recv().unwrap();
            *value = 7;
            guard
        }));
        assert!(poll_once(call.as_mut()).is_pending());
        gate.open();
        begins.recv().unwrap();
        drop(call);
        end.send(()).unwrap();
        assert_eq!(runtime.run(async move { cell.call(|value| *value).await }), 7);
        // No task takes the result: it is dropped under the color too.
        drops.assert_exact(1);
    });
}

#[test]
fn an_aborted_caller_gives_its_call_up() {
    shared(|| {
        let runtime = runtime(3);
        let cell = runtime.handle().cell(RED, 0);
        let gate = Gate::close(runtime.handle(), RED);
        let ours = cell.clone();
        let caller = runtime.handle().spawn_colored(BLUE, async move {
            ours.call(|_| unreachable!("its caller was aborted")).await;
        });
        settle(&runtime, BLUE);
        caller.abort();
        assert!(runtime.run(caller).unwrap_err().is_cancelled());
        gate.open();
        assert_eq!(runtime.run(async move { cell.call(|value| *value).await }), 0);
    });
}

/// A task of A calls B's cell, whose closure posts to A's cell. A closure does not wait, so no task waits for itself.
#[test]
fn two_colors_may_use_each_others_cells() {
    run(2, async {
        let (red, blue) = (ColorCell::new(RED, 0_u32), ColorCell::new(BLUE, 0_u32));
        join_all([(&red, &blue), (&blue, &red)].map(|(own, other)| {
            let (color, own, other) = (own.color(), own.clone(), other.clone());
            spawn_colored(color, async move {
                for _ in 0..5_000 {
                    let back = own.clone();
                    let call = other.call(move |value| {
                        *value += 1;
                        back.post(|value| *value += 1);
                    });
                    call.await;
                }
            })
        }))
        .await;
        // Behind the posts of the last calls.
        for cell in [red, blue] {
            spawn_colored(cell.color(), async {}).await.unwrap();
            assert_eq!(cell.call(|value| *value).await, 10_000);
        }
    });
}

/// Shows G9.
#[test]
fn a_post_that_panics_harms_neither_the_cell_nor_later_accesses() {
    run(2, async {
        let cell = ColorCell::new(RED, 0);
        for _ in 0..100 {
            cell.post(|value| {
                *value += 1;
                panic!("{ON_PURPOSE}");
            });
            cell.post(|value| *value += 1);
        }
        spawn_colored(RED, async {}).await.unwrap();
        assert_eq!(cell.call(|value| *value).await, 200);
    });
}

/// Shows G8.
#[test]
fn the_value_is_dropped_under_its_color_whichever_owner_is_last() {
    shared(|| {
        let (runtime, other, drops) = (runtime(2), runtime(1), Drops::default());
        let cell = || runtime.handle().cell(RED, drops.under(RED));
        // A foreign thread; a task of another runtime; a result on its way; a pending call.
        let (foreign, abroad, result) = (cell(), cell(), cell());
        thread::spawn(move || drop(foreign)).join().unwrap();
        other.run(async move { drop(abroad) });
        settle(&runtime, RED);
        assert_eq!(drops.count(), 2);
        let clone = result.clone();
        drop(runtime.block_on(result.call(move |_| clone)));
        drop(result);
        settle(&runtime, RED);
        assert_eq!(drops.count(), 3);
        let gate = Gate::close(runtime.handle(), RED);
        let last = cell();
        let mut call = Box::pin(last.call(|_| ()));
        drop(last);
        assert!(poll_once(call.as_mut()).is_pending());
        drop(call);
        assert_eq!(drops.count(), 3, "the color is busy");
        gate.open();
        settle(&runtime, RED);
        // The last owner is dropped after the end of the runtime.
        let late = cell();
        drop(runtime);
        drop(late);
        drops.assert_exact(5);
    });
}

/// Two callers and a task of an idle color race for it: one thread at a time runs the color.
/// Shows G1.
#[test]
fn calls_that_run_on_their_callers_thread_exclude_tasks() {
    let witness = Arc::new(Witness::default());
    let ours = Arc::clone(&witness);
    run(4, async move {
        let cell = ColorCell::new(RED, ());
        join_all((0..8).map(|number| {
            let (cell, witness) = (cell.clone(), Arc::clone(&ours));
            spawn_unique(async move {
                for _ in 0..2_000 {
                    let witness = Arc::clone(&witness);
                    match number {
                        0 => spawn_colored(RED, async move { witness.touch() }).await.unwrap(),
                        _ => cell.call(move |()| witness.touch()).await,
                    }
                }
            })
        }))
        .await;
    });
    assert_eq!(witness.count(), 16_000);
}

/// Inside a section one can await a call of the same cell: the value is there already.
#[test]
fn a_call_inside_an_access_to_its_cell_gets_an_error_with_its_line() {
    run(2, async {
        let cell = ColorCell::new(7, 1);
        let limited = colored::Limit::new(7, 1).cell(1);
        hop(7).await;
        let (inner, inner_limited) = (cell.clone(), limited.clone());
        let texts = cell
            .exclusive(async |value| {
                *value += 1;
                assert_eq!(inner.checked_call(|_| ()).await, Err(CallError::InUse));
                let line = line!() + 1;
                let said = panic_of(|| poll_once(pin!(inner.call(|_| ()))));
                (said, format!("{}:{line}:", file!()))
            })
            .await;
        assert!(texts.0.contains(&texts.1) && texts.0.contains("is in use"), "{texts:?}");
        // The first section of the runtime has something scheduled here.
        yield_now().await;
        let texts = limited.with(|_| {
            let line = line!() + 1;
            let said = panic_of(|| poll_once(pin!(inner_limited.call(|_| ()))));
            (said, format!("{}:{line}:", file!()))
        });
        assert!(texts.0.contains(&texts.1) && texts.0.contains("is in use"), "{texts:?}");
        assert_eq!(cell.checked_call(|value| *value).await, Ok(2));
        assert_eq!(limited.call(|value| *value).await.unwrap(), 1);
    });
}

/// Everything that converts to a color.
#[test]
fn colors_are_given_as_numbers_and_names_too() {
    run(2, async {
        let cells = [
            ColorCell::new(7, ()),
            ColorCell::new(7_u32, ()),
            ColorCell::new(7_u64, ()),
            ColorCell::new(Color::new(7), ()),
        ];
        assert_eq!(ColorCell::new("seven", ()).color(), Color::of("seven"));
        assert!(cells.iter().all(|cell| cell.color() == Color::new(7)));
        assert_eq!(colored::Limit::new(7, 1).color(), Color::new(7));
        hop(7).await;
        assert_eq!(Color::current(), Some(Color::new(7)));
    });
}
