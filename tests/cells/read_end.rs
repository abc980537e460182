//! `ColorCell::read` that ends otherwise than by its turn: panics, futures that are dropped, shutdown.

use colored::Color;
use colored_tests::drops::Drops;
use colored_tests::ending::end_while_held;
use colored_tests::gate::Gate;
use colored_tests::polls::poll_once;
use colored_tests::{ON_PURPOSE, message, panic_of, runtime, settle, shared, wait_until};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

/// Shows G9.
#[test]
fn a_panic_of_a_reader_reaches_its_caller_and_the_others_go_on() {
    shared(|| {
        let runtime = runtime(2);
        let cell = runtime.handle().cell(RED, 1);
        let fail = |_: &i32| panic!("{ON_PURPOSE} while reading");
        let said = panic_of(|| poll_once(pin!(cell.read::<(), _>(fail))));
        assert!(said.contains("while reading"), "{said}");
        let gate = Gate::close(runtime.handle(), RED);
        let failing = cell.clone();
        let failing =
            runtime.handle().spawn_unique(async move { failing.read::<(), _>(fail).await });
        let beside = cell.clone();
        let beside =
            runtime.handle().spawn_unique(async move { beside.read(|value| *value).await });
        settle(&runtime, BLUE);
        gate.open();
        let payload = runtime.run(failing).unwrap_err().into_panic();
        assert!(message(&*payload).contains("while reading"));
        assert_eq!(runtime.run(beside).unwrap(), 1);
        assert_eq!(runtime.block_on(cell.call(|value| *value + 1)), 2);
    });
}

/// Shows G8.
#[test]
fn a_read_dropped_before_its_turn_never_runs_and_drops_its_closure_under_the_color() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let cell = runtime.handle().cell(RED, ());
        let gate = Gate::close(runtime.handle(), RED);
        let mut reads: Vec<_> = (0..100)
            .map(|_| {
                let guard = drops.under(RED);
                let mut read = Box::pin(cell.read(move |()| {
                    // Then it would be missing.
                    std::mem::forget(guard);
                }));
                assert!(poll_once(read.as_mut()).is_pending());
                read
            })
            .collect();
        let mut last = Box::pin(cell.read(|()| 5));
        assert!(poll_once(last.as_mut()).is_pending());
        reads.clear();
        assert_eq!(drops.count(), 0, "its color is busy");
        gate.open();
        assert_eq!(runtime.block_on(last), 5);
        drops.assert_exact(100);
    });
}

#[test]
fn a_read_dropped_while_it_runs_goes_on() {
    shared(|| {
        let runtime = runtime(3);
        let cell = runtime.handle().cell(RED, 7);
        let (begun, begins) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let (seen, sees) = mpsc::channel();
        let gate = Gate::close(runtime.handle(), RED);
        let mut read = Box::pin(cell.read(move |value| {
            begun.send(Color::current()).unwrap();
            ended.recv().unwrap();
            seen.send(*value).unwrap();
        }));
        assert!(poll_once(read.as_mut()).is_pending());
        gate.open();
        let color = begins.recv().unwrap();
        assert!(color.is_some_and(|color| color != RED), "beside the color, under a fresh one");
        drop(read);
        let mut write = Box::pin(cell.call(|value| *value += 1));
        assert!(poll_once(write.as_mut()).is_pending(), "a reader is inside");
        end.send(()).unwrap();
        assert_eq!(sees.recv().unwrap(), 7);
        runtime.block_on(write);
    });
}

/// Shows G8.
#[test]
fn shutdown_drops_the_readers_that_wait_and_tells_their_futures() {
    shared(|| {
        let (home, drops) = (runtime(2), Drops::default());
        let cell = home.handle().cell(RED, ());
        let gate = Gate::close(home.handle(), RED);
        let mut waiting: Vec<_> = (0..200)
            .map(|_| {
                let guard = drops.under(RED);
                // If it ran, this would be missing.
                let mut read = Box::pin(cell.read(move |()| std::mem::forget(guard)));
                assert!(poll_once(read.as_mut()).is_pending());
                read
            })
            .collect();
        end_while_held(home, move || gate.open());
        drops.assert_exact(200);
        for read in &mut waiting {
            let said = panic_of(AssertUnwindSafe(|| poll_once(read.as_mut())));
            assert!(said.contains("shut down before the read of a cell of"), "{said}");
        }
        assert!(poll_once(pin!(cell.read(|()| ()))).is_ready(), "an idle color needs no runtime");
    });
}

/// A read does not give its thread a color. If it did, dropping the runtime would wait for a worker that waits for the
/// color, and so for the read.
/// Shows G8.
#[test]
fn a_runtime_can_be_given_up_inside_a_read() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let cell = runtime.handle().cell(RED, ());
        let (begun, begins) = mpsc::channel();
        let guard = drops.under(RED);
        let pinned = runtime.handle().spawn_pinned(1, RED, move || async move {
            begun.send(()).unwrap();
            std::future::pending::<()>().await;
            drop(guard);
        });
        begins.recv().unwrap();
        settle(&runtime, RED);
        let seen = drops.clone();
        let read = pin!(cell.read(move |()| {
            runtime.shutdown_background();
            seen.count()
        }));
        assert_eq!(poll_once(read), Poll::Ready(0), "a reader is inside");
        let pinned = pinned.unwrap();
        wait_until(|| pinned.is_finished());
        drops.assert_exact(1);
    });
}
