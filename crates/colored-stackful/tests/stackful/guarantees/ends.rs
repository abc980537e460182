//! G8, G9: how tasks end.

use super::RED;
use crate::support::{KINDS, Kind, OnDrop, Trace, run, runtime, spawn_as, until};
use colored::sync::oneshot;
use colored::{Color, spawn_colored};
use std::future::pending;
use std::thread;

/// What was dropped, its color, and the thread if it has one.
type Place = (usize, Option<Color>, Option<thread::ThreadId>);

fn place(index: usize) -> Place {
    let has_thread = Kind::of(index) == Kind::Stackful;
    (index, Color::current(), has_thread.then(|| thread::current().id()))
}

const TASKS: usize = 40;

/// Tasks end by themselves, by a panic, by an abort, or with the runtime. Returns where they began, and where what they
/// owned was dropped.
fn end_in_way(way: &'static str) -> (Vec<Place>, Vec<Place>) {
    let (begun, dropped) = (Trace::new(), Trace::new());
    let (begins, drops) = (begun.clone(), dropped.clone());
    let runtime = runtime(3);
    runtime.run(async move {
        let mut tasks = Vec::new();
        for index in 0..TASKS {
            let (begun, dropped) = (begins.clone(), drops.clone());
            let kept = OnDrop(move || dropped.push(place(index)));
            // One of each kind under each color.
            tasks.push(spawn_as!(Kind::of(index), 10 + index as u64 / 2, {
                begun.push(place(index));
                let _kept = kept;
                wait!(colored::yield_now());
                match way {
                    "return" => {}
                    "panic" => panic!("on purpose"),
                    _ => wait!(pending::<()>()),
                }
            }));
        }
        until(|| begins.len() == TASKS).await;
        for task in tasks.into_iter().filter(|_| way != "shutdown") {
            if way == "abort" {
                task.abort();
            }
            let end = task.await;
            assert_eq!(end.is_ok(), way == "return");
        }
    });
    drop(runtime);
    let (mut begun, mut dropped) = (begun.take(), dropped.take());
    begun.sort_by_key(|(index, ..)| *index);
    dropped.sort_by_key(|(index, ..)| *index);
    (begun, dropped)
}

/// Shows G8.
#[test]
fn a_task_is_dropped_once_on_its_color_and_a_stack_on_its_thread() {
    for way in ["return", "panic", "abort", "shutdown"] {
        let (begun, dropped) = end_in_way(way);
        assert_eq!(begun, dropped, "{way}");
        assert_eq!(begun.len(), TASKS);
    }
}

/// Shows G8.
#[test]
fn a_shutdown_drops_the_tasks_of_a_color_first_in_first_out() {
    let (trace, begun) = (Trace::new(), Trace::new());
    let runtime = runtime(2);
    for index in 0..20 {
        let (trace, begun) = (trace.clone(), begun.clone());
        let _inside = runtime.handle().enter();
        begun.push(index);
        let kept = OnDrop(move || trace.push(index));
        drop(Kind::of(index).spawn_waiting(Color::new(RED), kept));
    }
    runtime.run(async { spawn_colored(RED, async {}).await.unwrap() });
    drop(runtime);
    assert_eq!(trace.take(), begun.take());
}

fn panic_below(depth: u32) {
    match depth {
        0 => panic!("on purpose"),
        _ => panic_below(depth - 1),
    }
}

/// Shows G9.
#[test]
fn a_panic_ends_its_task_and_the_color_goes_on() {
    for (panics, other) in Kind::pairs() {
        run(1, async move {
            let (wake, woken) = oneshot::channel();
            let beside = spawn_as!(other, RED, { wait!(woken).unwrap() });
            for depth in [0, 100] {
                let task = spawn_as!(panics, RED, {
                    wait!(colored::yield_now());
                    panic_below(depth);
                });
                let waits = spawn_as!(other, RED, {
                    let payload = wait!(task).unwrap_err().try_into_panic().unwrap();
                    payload.downcast_ref::<&str>().copied()
                });
                assert_eq!(waits.await.unwrap(), Some("on purpose"), "{panics:?} {other:?}");
            }
            wake.send(7).unwrap();
            assert_eq!(beside.await.unwrap(), 7);
            for kind in KINDS {
                kind.spawn_steps(Color::new(RED), 2, |_| ()).await.unwrap();
            }
        });
    }
}

/// Shows G9.
#[test]
fn a_panic_of_a_destructor_ends_its_task_only() {
    for kind in KINDS {
        run(1, async move {
            let task = spawn_as!(kind, RED, {
                let _bomb = OnDrop(|| panic!("on purpose"));
                wait!(colored::yield_now());
            });
            assert!(task.await.unwrap_err().is_panic());
            for kind in KINDS {
                kind.spawn_steps(Color::new(RED), 2, |_| ()).await.unwrap();
            }
        });
    }
}
