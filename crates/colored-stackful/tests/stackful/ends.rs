//! How stackful tasks end.

use crate::support::{OnDrop, Trace, run, runtime, until, wait_until};
use colored::time::Duration;
use colored_stackful::{self as stackful, CannotWait, checked_wait};
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn add_one(count: &AtomicUsize) {
    count.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn an_abort_before_the_first_turn_drops_the_closure() {
    let (trace, ours) = (Trace::new(), Trace::new());
    let runtime = runtime(1);
    let (kept, seen) = (trace.clone(), ours.clone());
    runtime.run(async move {
        let kept = OnDrop(move || kept.push("dropped"));
        // The worker is here, so the task cannot have begun.
        let task = stackful::spawn(1, move || {
            let _kept = kept;
            seen.push("begun");
        });
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    assert_eq!((trace.take(), ours.take()), (vec!["dropped"], vec![]));
}

#[test]
fn an_abort_unwinds_what_is_nested() {
    let trace = Trace::new();
    let ours = trace.clone();
    run(2, async move {
        let end = |name| {
            let trace = ours.clone();
            OnDrop(move || trace.push(name))
        };
        let (outer, a, b, held) = (end("outer"), end("a"), end("b"), end("held"));
        let waits = Arc::new(AtomicUsize::new(0));
        let (in_a, in_held) = (Arc::clone(&waits), Arc::clone(&waits));
        let task = stackful::spawn(1, move || {
            let _outer = outer;
            stackful::join(
                move || {
                    let _a = a;
                    in_a.fetch_add(1, Ordering::Relaxed);
                    stackful::wait(pending::<()>());
                },
                move || {
                    let _b = b;
                    stackful::exclusive(|| {
                        let _held = held;
                        in_held.fetch_add(1, Ordering::Relaxed);
                        stackful::wait(pending::<()>());
                    });
                },
            );
        });
        until(|| waits.load(Ordering::Relaxed) == 2).await;
        // The poll in which both began is over.
        colored::spawn_unique(async {}).await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        // The section ended with the task.
        colored::spawn_colored(1, async {}).await.unwrap();
    });
    assert_eq!(trace.take(), ["a", "held", "b", "outer"]);
}

#[test]
fn a_panic_of_one_part_unwinds_the_other() {
    let trace = Trace::new();
    let ours = trace.clone();
    run(1, async move {
        let task = stackful::spawn(1, move || {
            let other = || {
                let _end = OnDrop(|| ours.push("other"));
                stackful::wait(pending::<()>());
            };
            let panics = || {
                stackful::yield_now();
                resume_unwind(Box::new("on purpose"));
            };
            let joined = catch_unwind(AssertUnwindSafe(|| stackful::join(other, panics)));
            stackful::yield_now();
            *joined.unwrap_err().downcast::<&str>().unwrap()
        });
        assert_eq!(task.await.unwrap(), "on purpose");
    });
    assert_eq!(trace.take(), ["other"]);
}

#[test]
fn panics_of_awaited_futures_are_caught_around_the_wait() {
    run(2, async {
        let task = stackful::spawn(1, || {
            let mut caught = 0;
            for round in 0..1000 {
                let future = async move {
                    if round % 2 == 0 {
                        colored::yield_now().await;
                    }
                    resume_unwind(Box::new(round));
                };
                let payload = catch_unwind(|| stackful::wait(future)).unwrap_err();
                caught += usize::from(payload.downcast_ref() == Some(&round));
                stackful::yield_now();
            }
            caught
        });
        assert_eq!(task.await.unwrap(), 1000);
    });
}

#[test]
fn a_loop_that_catches_panics_ends_where_it_asks() {
    let rounds = Arc::new(AtomicUsize::new(0));
    let (ours, seen) = (Arc::clone(&rounds), Arc::clone(&rounds));
    run(1, async move {
        let task = stackful::spawn(1, move || {
            while !stackful::is_ending() {
                ours.fetch_add(1, Ordering::Relaxed);
                drop(catch_unwind(|| stackful::wait(pending::<()>())));
            }
        });
        until(|| seen.load(Ordering::Relaxed) == 1).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    assert_eq!(rounds.load(Ordering::Relaxed), 1);
}

/// Its stack leaks, and everything else goes on.
#[test]
#[cfg_attr(colored_sanitize, ignore = "it leaks on purpose")]
fn a_loop_that_catches_every_panic_is_given_up() {
    let rounds = Arc::new(AtomicUsize::new(0));
    let (ours, seen) = (Arc::clone(&rounds), Arc::clone(&rounds));
    run(1, async move {
        let task = stackful::spawn(1, move || {
            loop {
                ours.fetch_add(1, Ordering::Relaxed);
                drop(catch_unwind(|| stackful::wait(pending::<()>())));
            }
        });
        until(|| seen.load(Ordering::Relaxed) == 1).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        stackful::spawn(1, stackful::yield_now).await.unwrap();
    });
    assert_eq!(rounds.load(Ordering::Relaxed), 1002);
}

#[test]
fn destructors_use_what_is_ready() {
    let trace = Trace::new();
    let ours = trace.clone();
    run(1, async move {
        for ends in ["abort", "panic"] {
            let (trace, begun) = (ours.clone(), Arc::new(AtomicUsize::new(0)));
            let begins = Arc::clone(&begun);
            let task = stackful::spawn(1, move || {
                begins.fetch_add(1, Ordering::Relaxed);
                let _end = OnDrop(|| {
                    trace.push((ends, checked_wait(ready(1))));
                    let late = async {
                        colored::yield_now().await;
                        2
                    };
                    trace.push((ends, checked_wait(late)));
                });
                stackful::yield_now();
                if ends == "panic" {
                    resume_unwind(Box::new(()));
                }
                stackful::wait(pending::<()>());
            });
            until(|| begun.load(Ordering::Relaxed) == 1).await;
            if ends == "abort" {
                task.abort();
            }
            drop(task.await);
        }
    });
    let expected = [
        ("abort", Ok(1)),
        ("abort", Err(CannotWait::Ended)),
        ("panic", Ok(1)),
        ("panic", Err(CannotWait::Panicking)),
    ];
    assert_eq!(trace.take(), expected);
}

/// A destructor that runs without an unwinding is code like any other.
#[test]
fn an_ordinary_destructor_waits() {
    run(1, async {
        let task = stackful::spawn(1, || {
            let mut waited = false;
            drop(OnDrop(|| {
                stackful::sleep(Duration::from_millis(1));
                waited = true;
            }));
            waited
        });
        assert!(task.await.unwrap());
    });
}

#[test]
fn a_refused_error_is_one_of_io() {
    let error = std::io::Error::from(CannotWait::Ended);
    assert!(error.to_string().contains("aborted"), "{error}");
    // What `unwrap` and `main` print.
    let text = format!("{:?}", std::io::Error::from(CannotWait::Outside));
    assert!(text.contains("outside a stackful task") && text.contains("`colored::net"), "{text}");
}

#[test]
fn a_shutdown_ends_tasks_in_the_middle_of_everything() {
    for round in 0..20 {
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let runtime = runtime(3);
        let inside = runtime.handle().enter();
        for index in 0..50 {
            let (begun, ended) = (Arc::clone(&begun), Arc::clone(&ended));
            drop(stackful::spawn(index % 7, move || {
                begun.fetch_add(1, Ordering::Relaxed);
                let _end = OnDrop(|| add_one(&ended));
                loop {
                    stackful::yield_now();
                    drop(stackful::wait(stackful::spawn(index % 5, stackful::yield_now)));
                    stackful::sleep(Duration::from_micros(index));
                }
            }));
        }
        drop(inside);
        std::thread::sleep(Duration::from_micros(200 * round));
        drop(runtime);
        assert_eq!(begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed));
    }
}

/// The pin of a task that has begun holds also while a spare worker takes the place of its own.
#[test]
fn a_task_of_a_stuck_worker_goes_on_there_afterwards() {
    let runtime = colored::Runtime::builder().workers(1).build().unwrap();
    runtime.run(async {
        let (begun, count) = (Trace::new(), Arc::new(AtomicUsize::new(0)));
        let (seen, counts) = (begun.clone(), Arc::clone(&count));
        let stays = stackful::spawn(1, move || {
            let thread = std::thread::current().id();
            seen.push(thread);
            while counts.load(Ordering::Relaxed) < 100 {
                stackful::sleep(Duration::from_millis(1));
                assert_eq!(std::thread::current().id(), thread);
            }
            thread
        });
        let blocks = stackful::spawn(2, move || {
            // The spare worker takes these, which have not begun.
            for color in 10..110 {
                let count = Arc::clone(&count);
                drop(stackful::spawn(color, move || add_one(&count)));
            }
            wait_until(|| count.load(Ordering::Relaxed) == 100);
            std::thread::sleep(Duration::from_millis(50));
        });
        blocks.await.unwrap();
        let thread = stays.await.unwrap();
        assert_eq!(begun.take(), [thread]);
    });
}
