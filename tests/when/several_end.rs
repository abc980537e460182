//! `when` that ends otherwise than by its turn: panics, futures that are dropped, shutdown.

use colored::{Color, ColorCell, Runtime, hop, when};
use colored_tests::drops::Drops;
use colored_tests::ending::end_while_held;
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::{ON_PURPOSE, panic_of, runtime, settle, shared, wait_until};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::mpsc::{Sender, channel};

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);
const GREEN: Color = Color::new(3);

/// Shows G9.
#[test]
fn a_panic_reaches_the_awaiting_task_and_gives_all_colors_back() {
    shared(|| {
        let runtime = runtime(2);
        let (red, blue) = (runtime.handle().cell(RED, 1), runtime.handle().cell(BLUE, 1));
        let fail = |red: &mut i32, _: &mut i32| {
            *red += 1;
            panic!("{ON_PURPOSE} with both")
        };
        let said = panic_of(|| poll_once(pin!(when::<_, _, ()>((&red, &blue), fail))));
        assert!(said.contains("with both"), "{said}");
        let gate = Gate::close(runtime.handle(), BLUE);
        let mut waits = Box::pin(when::<_, _, ()>((&red, &blue), fail));
        assert!(poll_once(waits.as_mut()).is_pending());
        gate.open();
        let said = panic_of(AssertUnwindSafe(|| runtime.block_on(waits)));
        assert!(said.contains("with both"), "{said}");
        let sum = runtime.block_on(when((&red, &blue), |red, blue| *red + *blue));
        assert_eq!(sum, 4, "both are usable, and keep what was half done");
    });
}

/// Shows G8.
#[test]
fn a_when_dropped_before_it_has_its_colors_never_runs_and_drops_its_closure_under_them() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let (red, blue) = (runtime.handle().cell(RED, ()), runtime.handle().cell(BLUE, ()));
        let wanted = |guard| {
            when((&red, &blue), move |(), ()| {
                // Then it would be missing.
                std::mem::forget(guard);
            })
        };
        let gate = Gate::close(runtime.handle(), BLUE);
        let mut given_up = Box::pin(wanted(drops.under(RED)));
        assert!(poll_once(given_up.as_mut()).is_pending());
        drop(given_up);
        settle_behind(&runtime, &red);
        assert_eq!(drops.count(), 0, "blue is busy");
        gate.open();
        settle(&runtime, BLUE);
        settle(&runtime, RED);
        drops.assert_exact(1);
        // A `when` that was never polled was never scheduled.
        let unpolled = Drops::default();
        let guard = unpolled.under(GREEN);
        let call = when([red.clone(), blue.clone()], move |_| drop(guard));
        runtime.run(async move {
            hop(GREEN).await;
            drop(call);
        });
        unpolled.assert_exact(1);
    });
}

/// A `when` that only reads has no color exclusively: its closure is dropped under a fresh color,
/// while the others wait.
/// Shows G8.
#[test]
fn a_when_that_only_reads_and_is_given_up_drops_its_closure_beside_the_colors() {
    shared(|| {
        let (runtime, (tell, told)) = (runtime(2), channel());
        let (red, blue) = (runtime.handle().cell(RED, ()), runtime.handle().cell(BLUE, ()));
        let says = Says(tell);
        let gate = Gate::close(runtime.handle(), BLUE);
        let mut given_up = Box::pin(when((red.shared(), blue.shared()), move |(), ()| {
            // Then it would be missing.
            std::mem::forget(says);
        }));
        assert!(poll_once(given_up.as_mut()).is_pending());
        drop(given_up);
        settle(&runtime, GREEN);
        assert!(told.try_recv().is_err(), "blue is busy");
        gate.open();
        let color = told.recv().unwrap();
        assert!(color.is_some_and(|color| color.is_unique()), "{color:?}");
        runtime.block_on(when((&red, &blue), |(), ()| ()));
    });
}

/// Reports the color under which it is dropped.
struct Says(Sender<Option<Color>>);

impl Drop for Says {
    fn drop(&mut self) {
        self.0.send(Color::current()).unwrap();
    }
}

/// Puts something behind all that waits on the cell's color, without waiting for it.
fn settle_behind(runtime: &Runtime, cell: &ColorCell<()>) {
    cell.post(|()| ());
    settle(runtime, GREEN);
}

#[test]
fn a_when_dropped_while_it_runs_goes_on_and_its_result_goes_under_its_color() {
    shared(|| {
        let (runtime, drops) = (runtime(3), Drops::default());
        let (red, blue) = (runtime.handle().cell(RED, 0), runtime.handle().cell(BLUE, 0));
        let (begun, begins) = channel();
        let (end, ended) = channel::<()>();
        let gate = Gate::close(runtime.handle(), BLUE);
        let guard = drops.under(RED);
        let mut behavior = Box::pin(when((&red, &blue), move |red, blue| {
            begun.send(()).unwrap();
            ended.recv().unwrap();
            (*red, *blue) = (7, 8);
            guard
        }));
        assert!(poll_once(behavior.as_mut()).is_pending());
        gate.open();
        begins.recv().unwrap();
        drop(behavior);
        end.send(()).unwrap();
        let seen = runtime.block_on(when((&blue, &red), |blue, red| (*red, *blue)));
        assert_eq!(seen, (7, 8));
        drops.assert_exact(1);
    });
}

/// Shows G8.
#[test]
fn shutdown_drops_the_closures_that_wait_and_tells_their_futures() {
    shared(|| {
        let (home, drops) = (runtime(2), Drops::default());
        let (red, blue) = (home.handle().cell(RED, ()), home.handle().cell(BLUE, ()));
        let gate = Gate::close(home.handle(), BLUE);
        let mut waiting: Vec<_> = (0..100)
            .map(|_| {
                let guard = drops.under(RED);
                let wanted = move |_: &mut (), _: &mut ()| {
                    // Then it would be missing.
                    std::mem::forget(guard);
                };
                let mut waits = Box::pin(when((&red, &blue), wanted));
                assert!(poll_once(waits.as_mut()).is_pending());
                waits
            })
            .collect();
        end_while_held(home, move || gate.open());
        drops.assert_exact(100);
        for waits in &mut waiting {
            let said = panic_of(AssertUnwindSafe(|| poll_once(waits.as_mut())));
            assert!(said.contains("shut down before the `when` at "), "{said}");
        }
        // An idle color needs no runtime to be used.
        assert!(poll_once(pin!(when((&red, &blue), |(), ()| ()))).is_ready());
    });
}

/// Shows G8.
#[test]
fn the_last_clones_may_go_with_the_behavior() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let gate = Gate::close(runtime.handle(), BLUE);
        let red = runtime.handle().cell(RED, drops.under(RED));
        let blue = runtime.handle().cell(BLUE, drops.under(BLUE));
        let mut behavior = Box::pin(when([red, blue], |_| ()));
        assert!(poll_once(behavior.as_mut()).is_pending());
        drop(behavior);
        assert_eq!(drops.count(), 0);
        gate.open();
        // They go when it has given its colors back.
        wait_until(|| drops.count() == 2);
        drops.assert_exact(2);
    });
}
