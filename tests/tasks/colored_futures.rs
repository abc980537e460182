//! `future.colored(color)`: where the future runs, its order, and its end.

use colored::sync::oneshot;
use colored::task::FutureExt as _;
use colored::{Color, exclusive, hop, join, spawn_colored, spawn_here, yield_now};
use colored_tests::drops::{Drops, keep};
use colored_tests::gate::Gate;
use colored_tests::polls::{once, panic_of_task, poll_once, waits};
use colored_tests::{ON_PURPOSE, Trace, panic_of, run, runtime, settle, shared};
use std::future::pending;
use std::pin::pin;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

/// Code that knows no color.
async fn agnostic<T>(future: impl Future<Output = T>) -> (T, Option<Color>) {
    (future.await, Color::current())
}

async fn seen() -> Option<Color> {
    Color::current()
}

/// Shows G4.
#[test]
fn the_future_has_its_color_and_the_caller_keeps_its_own() {
    run(2, async {
        assert_eq!(agnostic(seen().colored(RED)).await, (Some(RED), Some(Color::DEFAULT)));
        hop(BLUE).await;
        assert_eq!(agnostic(seen().colored(RED)).await, (Some(RED), Some(BLUE)));
        // The color next to the future counts.
        assert_eq!(agnostic(seen().colored(RED).colored(7)).await, (Some(RED), Some(BLUE)));
        let nested = agnostic(seen().colored(RED)).colored("outer");
        assert_eq!(nested.await, (Some(RED), Some(Color::named("outer"))));
        let both = join!(seen().colored(RED), seen().colored(BLUE), seen());
        assert_eq!(both, (Some(RED), Some(BLUE), Some(BLUE)));
    });
}

/// Shows G2.
#[test]
fn the_order_is_that_of_the_first_polls() {
    shared(|| {
        let runtime = runtime(2);
        let gate = Gate::close(runtime.handle(), RED);
        let trace = Trace::new();
        let note = |name: &'static str| {
            let trace = trace.clone();
            async move { trace.push(name) }
        };
        let (one, two, three) = (note("made first"), note("made next"), note("spawned"));
        let main = runtime.spawn(async move {
            let (mut one, mut two) = (pin!(one.colored(RED)), pin!(two.colored(RED)));
            assert!(waits(two.as_mut()).await, "the color is held");
            let spawned = spawn_colored(RED, three);
            assert!(waits(one.as_mut()).await, "the color is held");
            // A second poll changes no order.
            assert!(waits(two.as_mut()).await, "the color is held");
            gate.open();
            join!(one, two);
            spawned.await.unwrap();
        });
        runtime.block_on(main).unwrap();
        assert_eq!(trace.take(), ["made next", "spawned", "made first"]);
    });
}

/// Shows G2.
#[test]
fn a_caller_of_the_color_is_no_exception() {
    run(2, async {
        let task = spawn_colored(RED, async {
            let trace = Trace::new();
            let note = |name: &'static str| {
                let trace = trace.clone();
                async move { trace.push(name) }
            };
            let before = spawn_here(note("scheduled before"));
            note("awaited").colored(RED).await;
            before.await.unwrap();
            trace.take()
        });
        assert_eq!(task.await.unwrap(), ["scheduled before", "awaited"]);
    });
}

/// Shows G8.
#[test]
fn a_drop_aborts_it_and_its_values_go_under_its_color() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let forever = keep(drops.under(RED), pending::<()>());
        let main = async move {
            let mut future = Box::pin(forever.colored(RED));
            assert!(waits(future.as_mut()).await);
            // Another turn: the task has begun.
            spawn_colored(RED, async {}).await.unwrap();
        };
        runtime.block_on(runtime.spawn(main)).unwrap();
        settle(&runtime, RED);
        drops.assert_exact(1);

        // Before its turn, too.
        let gate = Gate::close(runtime.handle(), RED);
        let never = async { unreachable!("it was dropped before its turn") };
        let never = keep(drops.under(RED), never);
        let main = async move {
            let mut future = Box::pin(never.colored(RED));
            assert!(waits(future.as_mut()).await);
        };
        runtime.block_on(runtime.spawn(main)).unwrap();
        gate.open();
        settle(&runtime, RED);
        drops.assert_exact(2);

        // Without a poll there is no task.
        let value = drops.under(BLUE);
        let unpolled = async move { drop(value) }.colored(RED);
        runtime.block_on(spawn_in(&runtime, BLUE, async move { drop(unpolled) })).unwrap();
        drops.assert_exact(3);
    });
}

fn spawn_in(
    runtime: &colored::Runtime,
    color: Color,
    future: impl Future<Output = ()> + Send + 'static,
) -> colored::JoinHandle<()> {
    runtime.handle().spawn_colored(color, future)
}

/// Shows G9.
#[test]
fn a_panic_goes_on_in_the_caller() {
    run(2, async {
        let panics = async { panic!("{ON_PURPOSE}, in red") };
        let said = panic_of_task(2, async { panics.colored(RED).await }).await;
        assert_eq!(said, format!("{ON_PURPOSE}, in red"));
        assert_eq!(seen().colored(RED).await, Some(RED), "the color goes on");
    });
}

#[test]
fn misuse_says_what_to_do() {
    shared(|| {
        let mut future = Box::pin(seen().colored(RED));
        let said = panic_of(|| poll_once(future.as_mut()));
        assert!(said.contains("`colored` outside a runtime"), "{said}");
        let said = panic_of(|| poll_once(future.as_mut()));
        assert!(said.contains("polled again after its end"), "{said}");
        assert!(said.contains("tests/tasks/colored_futures.rs"), "{said}");

        let ended = runtime(1);
        let mut future = Box::pin(pending::<()>().colored(RED));
        let entered = ended.handle().enter();
        assert!(poll_once(future.as_mut()).is_pending());
        drop(entered);
        drop(ended);
        let said = panic_of(|| poll_once(future.as_mut()));
        assert!(said.contains("was cancelled"), "{said}");
    });
}

/// Shows G12.
#[test]
fn a_wait_for_itself_in_a_section_is_found() {
    run(2, async {
        let waiting = exclusive(async { seen().colored(RED).await });
        let said = panic_of_task(1, waiting).await;
        assert!(said.contains("the future of `colored` at tests/tasks/colored_futures"), "{said}");
        assert!(said.contains("color 0x1"), "{said}");
    });
}

#[test]
fn any_executor_may_await_it() {
    run(2, async {
        let (tell, told) = oneshot::channel();
        let mut future = Box::pin(async move { (told.await, seen().await) }.colored(RED));
        assert!(once(future.as_mut()).await.is_pending());
        // The task goes on without polls of the future.
        tell.send(7).unwrap();
        while once(future.as_mut()).await.is_pending() {
            yield_now().await;
        }
    });
}
