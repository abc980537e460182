//! The spans of tasks. The subscriber is the process's, so these tests have a process of their own.

mod collector;

use collector::{around_event, find, find_all, install, nested, task};
use colored::runtime::Tuning;
use colored::task::Builder;
use colored::{Color, ColorCell, Runtime, exclusive, hop, spawn_blocking, yield_now};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;
use tracing::{Id, Span, info, info_span};

fn runtime(workers: usize) -> Runtime {
    install();
    colored::Builder::new()
        .workers(workers)
        .tuning(Tuning::new().spare_workers(0))
        .build()
        .expect("it starts")
}

fn id(span: &Span) -> Option<u64> {
    span.id().as_ref().map(Id::into_u64)
}

/// The task that this thread polls.
fn here() -> u64 {
    id(&Span::current()).expect("a span is current")
}

#[test]
fn a_span_follows_its_task_over_hops_and_awaits() {
    let line = runtime(2).block_on(async {
        let (one, two) = (Color::new(0x1001), Color::named("two"));
        let builder = Builder::new().name("hopper").color(one);
        let line = line!() + 1;
        let handle = builder.spawn(async move {
            info!(target: "spans", "before the hop");
            hop(two).await;
            info!(target: "spans", "after the hop");
            yield_now().await;
            exclusive(async { info!(target: "spans", "in a section") }).await;
            hop(one).await;
            here()
        });
        let number = handle.id().get();
        let own = handle.await.unwrap();
        let seen = task("hopper");
        assert_eq!((seen.id, seen.name, seen.parent), (own, "task", None));
        assert_eq!(seen.field("task.id"), [number.to_string()]);
        assert_eq!(seen.field("color"), ["0x1001", "two", "0x1001"]);
        // Four polls: two begin behind a hop, one behind a yield. The drop of the future is inside as well.
        assert_eq!((seen.enters, seen.exits), (5, 5));
        assert!(seen.is_closed());
        for text in ["before the hop", "after the hop", "in a section"] {
            assert_eq!(around_event(text), Some(own), "{text}");
        }
        line
    });
    let spawned = task("hopper").field("spawned")[0].to_owned();
    assert!(spawned.contains(&format!("main.rs:{line}:")), "{spawned}");
}

#[test]
fn the_parent_is_the_programs_own_span_around_the_spawn() {
    runtime(2).block_on(async {
        let main = here();
        let request = info_span!(target: "spans", parent: None, "request");
        let (around, of_request) = (id(&request), request.clone());
        let first = request.in_scope(|| {
            Builder::new().name("first").color(1).spawn(async {
                let second = Builder::new().name("second").color(2).spawn(async {
                    let third = Builder::new().name("third").color(3);
                    third.spawn(async {}).await.unwrap();
                });
                second.await.unwrap();
                let part = info_span!(target: "spans", "part");
                let inner = part.in_scope(|| Builder::new().name("inner").spawn(async {}));
                inner.await.unwrap();
                part
            })
        });
        let part = first.await.unwrap();
        let alone = Builder::new().name("alone").spawn(async {}).id();
        for name in ["first", "second", "third"] {
            assert_eq!(task(name).parent, around, "{name}");
        }
        assert!(task("first").follows.is_empty());
        assert_eq!(task("third").follows, [task("second").id]);
        assert_eq!(task("inner").parent, id(&part));
        assert_eq!((task("alone").parent, task("alone").follows), (None, vec![main]));
        assert_eq!(task("alone").field("task.id"), [alone.get().to_string()]);
        drop((request, of_request));
    });
    assert_eq!(find("task.name", "second").field("color").first(), Some(&"0x2"));
}

#[expect(clippy::async_yields_async, reason = "the task is awaited later")]
#[test]
fn a_task_that_waits_is_not_entered_while_another_runs() {
    let runtime = runtime(1);
    let (wake, woken) = colored::sync::oneshot::channel();
    let color = Color::new(0x1002);
    let waits = Builder::new().name("waits").color(color);
    let waits = runtime.handle().block_on(async { waits.spawn(async { woken.await.unwrap() }) });
    let runs = async move {
        for _ in 0..3 {
            yield_now().await;
            let seen = task("waits");
            assert!(seen.enters >= 1 && !seen.is_entered() && !seen.is_closed());
            assert_eq!(here(), task("runs").id);
        }
        wake.send(()).unwrap();
    };
    runtime.block_on(async {
        Builder::new().name("runs").color(color).spawn(runs).await.unwrap();
        waits.await.unwrap();
    });
    assert!(nested().is_empty(), "the span of a task inside another one's");
}

/// Says something when it is dropped.
struct Says(&'static str);

impl Drop for Says {
    fn drop(&mut self) {
        info!(target: "spans", "{}", self.0);
    }
}

#[test]
fn a_span_is_closed_by_the_end_of_its_task_however_it_ends() {
    runtime(2).block_on(async {
        let never = |says| async move {
            let _says = says;
            std::future::pending::<()>().await;
        };
        let builder = Builder::new().color(0x1003);
        let aborted = builder.name("aborted").spawn(never(Says("the end of an aborted task")));
        builder.spawn(async {}).await.unwrap();
        assert!(!task("aborted").is_closed());
        aborted.abort();
        assert!(aborted.await.unwrap_err().is_cancelled());
        let panics = async {
            let _says = Says("the end of a task that panics");
            panic::resume();
        };
        let panicked = builder.name("panicked").spawn(panics).await;
        assert!(panicked.unwrap_err().is_panic());
        for (name, text) in [
            ("aborted", "the end of an aborted task"),
            ("panicked", "the end of a task that panics"),
        ] {
            let seen = task(name);
            assert!(seen.is_closed() && !seen.is_entered(), "{name}: {seen:?}");
            assert_eq!(around_event(text), Some(seen.id), "{name}");
        }
    });
    let ended = runtime(1);
    let waits = || std::future::pending::<()>();
    ended.block_on(async {
        Builder::new().name("cut off").color(0x1004).spawn(async move { waits().await });
        Builder::new().color(0x1004).spawn(async {}).await.unwrap();
    });
    drop(ended);
    assert!(task("cut off").is_closed());
}

mod panic {
    /// Without the hook's text.
    pub(crate) fn resume() {
        std::panic::resume_unwind(Box::new("on purpose"));
    }
}

/// Keeps a color busy until the sender is dropped; returns when it does.
async fn keep_busy(color: Color) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel();
    let (begun, begins) = colored::sync::oneshot::channel();
    drop(colored::spawn_colored(color, async move {
        begun.send(()).unwrap();
        assert!(released.recv().is_err());
    }));
    begins.await.unwrap();
    release
}

/// Polls a future once, which then waits; then lets go of the color, and awaits the future.
async fn queued<F: Future>(future: F, release: mpsc::Sender<()>) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        assert!(future.as_mut().poll(cx).is_pending(), "the color is free");
        Poll::Ready(())
    })
    .await;
    drop(release);
    future.await
}

#[test]
fn a_closure_runs_in_the_span_of_its_caller_at_once_or_queued() {
    let caller = async {
        let (there, other) = (Color::new(0x1005), Color::new(0x1006));
        let (cell, beside) = (ColorCell::new(there, 0), ColorCell::new(other, 0));
        let span = info_span!(target: "spans", "of the program");
        let own = here();
        assert_eq!(cell.call(|_| here()).await, own);
        assert_eq!(queued(cell.call(|_| here()), keep_busy(there).await).await, own);
        assert_eq!(queued(cell.read(|_| here()), keep_busy(there).await).await, own);
        let one = colored::when((&cell,), |_| here());
        assert_eq!(queued(one, keep_busy(there).await).await, own);
        let both = colored::when((&cell, &beside), |_, _| here());
        assert_eq!(queued(both, keep_busy(there).await).await, own);
        let release = keep_busy(there).await;
        span.in_scope(|| cell.post(|_| info!(target: "spans", "posted")));
        queued(cell.call(|_| ()), release).await;
        assert_eq!(around_event("posted"), id(&span));
        let spawn = |_: &mut i32| drop(Builder::new().name("of a call").spawn(async {}));
        queued(cell.call(spawn), keep_busy(there).await).await;
        assert_eq!(here(), own, "the task's span is current again");
        own
    };
    runtime(2).block_on(async {
        let own = Builder::new().name("caller").color(0x1007).spawn(caller).await.unwrap();
        assert_eq!(task("caller").id, own);
        assert_eq!((task("of a call").parent, task("of a call").follows), (None, vec![own]));
    });
    assert!(nested().is_empty());
}

#[test]
fn a_blocking_call_has_a_span_beside_its_tasks() {
    runtime(2).block_on(async {
        let request = info_span!(target: "spans", parent: None, "request");
        let around = id(&request);
        let calls = async {
            let own = here();
            let handle = spawn_blocking(here);
            let number = handle.id().get().to_string();
            let of_call = handle.await.unwrap();
            assert_eq!(here(), own, "the task's span is current again");
            (own, number, of_call)
        };
        let task = request.in_scope(|| Builder::new().color(0x1008).spawn(calls));
        let (own, number, of_call) = task.await.unwrap();
        let seen = find("task.id", &number);
        assert_eq!((seen.id, seen.name), (of_call, "blocking"));
        assert_eq!((seen.parent, seen.follows.clone()), (around, vec![own]));
        assert_eq!(seen.field("color"), Vec::<&str>::new());
        assert!(seen.is_closed());
    });
}

#[test]
fn a_task_has_no_span_if_no_subscriber_wants_one() {
    let runtime = runtime(1);
    let spawn = || runtime.handle().spawn_colored(0x1009, async { id(&Span::current()) });
    let task = collector::unwanted(spawn);
    assert_eq!(runtime.block_on(task).unwrap(), None);
    assert_eq!(find_all("color", "0x1009").len(), 0);
    let task = spawn();
    let seen = runtime.block_on(task).unwrap();
    assert_eq!(seen, Some(find("color", "0x1009").id));
}
