//! `when` over one busy color: it waits in the line as a call does.

use colored::sync::oneshot;
use colored::{CallError, Color, ColorCell, exclusive, spawn_colored, try_when, when};
use colored_tests::drops::Drops;
use colored_tests::ending::end_while_held;
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::{ON_PURPOSE, panic_of, run, runtime, settle, shared};
use std::panic::AssertUnwindSafe;
use std::sync::mpsc;

const RED: Color = Color::new(1);
const GREEN: Color = Color::new(3);

#[test]
fn it_keeps_its_place_among_calls_and_posts() {
    shared(|| {
        let runtime = runtime(2);
        let (log, other) = (runtime.handle().cell(RED, Vec::new()), runtime.handle().cell(RED, 0));
        let gate = Gate::close(runtime.handle(), RED);
        log.post(|log| log.push(0));
        let mut one = Box::pin(when((&log,), |log| {
            assert_eq!(Color::current(), Some(RED));
            log.push(1);
        }));
        assert!(poll_once(one.as_mut()).is_pending());
        let mut call = Box::pin(log.call(|log| log.push(2)));
        assert!(poll_once(call.as_mut()).is_pending());
        // Two cells of one color, one of them only read.
        let mut both = Box::pin(when((other.shared(), &log), |other, log| log.push(3 + *other)));
        assert!(poll_once(both.as_mut()).is_pending());
        log.post(|log| log.push(4));
        gate.open();
        runtime.block_on(async {
            one.await;
            call.await;
            both.await;
            assert_eq!(log.call(|log| log.clone()).await, [0, 1, 2, 3, 4]);
        });
    });
}

#[test]
fn a_panic_reaches_the_awaiting_task_and_the_color_goes_on() {
    shared(|| {
        let runtime = runtime(2);
        let cell = runtime.handle().cell(RED, 1);
        let fail = |value: &mut i32| {
            *value += 1;
            panic!("{ON_PURPOSE} alone")
        };
        let gate = Gate::close(runtime.handle(), RED);
        let mut waits = Box::pin(when::<_, _, ()>((&cell,), fail));
        assert!(poll_once(waits.as_mut()).is_pending());
        gate.open();
        let said = panic_of(AssertUnwindSafe(|| runtime.block_on(waits)));
        assert!(said.contains("alone"), "{said}");
        // As a rule at once; then under the caller's own color.
        let said =
            panic_of(AssertUnwindSafe(|| runtime.block_on(when::<_, _, ()>((&cell,), fail))));
        assert!(said.contains("alone"), "{said}");
        let task = runtime.handle().spawn_colored(RED, {
            let cell = cell.clone();
            async move { when::<_, _, ()>((&cell,), fail).await }
        });
        assert!(runtime.run(task).unwrap_err().is_panic());
        assert_eq!(runtime.block_on(when((&cell,), |value| *value)), 4, "nobody is inside");
    });
}

#[test]
fn given_up_it_never_runs_and_its_closure_and_cells_go_at_its_turn() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let gate = Gate::close(runtime.handle(), RED);
        let cell = runtime.handle().cell(RED, drops.under(RED));
        let guard = drops.under(RED);
        let mut given_up = Box::pin(when([cell], move |_| {
            // Then it would be missing.
            std::mem::forget(guard);
        }));
        assert!(poll_once(given_up.as_mut()).is_pending());
        drop(given_up);
        settle(&runtime, GREEN);
        assert_eq!(drops.count(), 0, "red is busy");
        gate.open();
        settle(&runtime, RED);
        // The value is dropped behind the work that was in the line when its last cell was dropped.
        settle(&runtime, RED);
        drops.assert_exact(2);
    });
}

#[test]
fn shutdown_drops_the_closures_that_wait_and_tells_their_futures() {
    shared(|| {
        let (home, drops) = (runtime(2), Drops::default());
        let cell = home.handle().cell(RED, ());
        let gate = Gate::close(home.handle(), RED);
        let mut waiting: Vec<_> = (0..100)
            .map(|_| {
                let guard = drops.under(RED);
                // If it ran, this would be missing.
                let mut waits = Box::pin(try_when((&cell,), move |()| std::mem::forget(guard)));
                assert!(poll_once(waits.as_mut()).is_pending());
                waits
            })
            .collect();
        end_while_held(home, move || gate.open());
        drops.assert_exact(100);
        for waits in &mut waiting {
            let result = poll_once(waits.as_mut());
            assert!(matches!(result, std::task::Poll::Ready(Err(CallError::ShutDown))));
        }
    });
}

/// A section waits for a task that needs the section's color by `when`: the wait that closes the cycle gets the
/// error. Also if the `when` was in the line before the first section.
#[test]
fn a_cycle_through_it_is_an_error_that_names_both() {
    for stands_before in [false, true] {
        let said = run(3, async move {
            let cell = ColorCell::new(RED, 5);
            let (go, going) = oneshot::channel();
            let (stands, stood) = mpsc::channel();
            let asker = spawn_colored(GREEN, async move {
                going.await.unwrap();
                let mut wanted = Box::pin(try_when((&cell,), |value| *value));
                if stands_before {
                    assert!(poll_once(wanted.as_mut()).is_pending());
                    stands.send(()).unwrap();
                }
                wanted.await
            });
            let holder = spawn_colored(RED, async move {
                if stands_before {
                    go.send(()).unwrap();
                    // This poll holds the color, and another worker polls the asker.
                    stood.recv().unwrap();
                    return exclusive(asker).await;
                }
                exclusive(async {
                    go.send(()).unwrap();
                    asker.await
                })
                .await
            });
            match holder.await.unwrap() {
                Ok(told) => told.unwrap_err().to_string(),
                Err(told) => told.deadlock().unwrap().to_string(),
            }
        });
        assert!(said.contains("wants, by `when`,"), "{said}");
        let sites = said.matches("tests/when/several_alone.rs:").count();
        assert!(sites >= 2, "{sites} of: {said}");
    }
}
