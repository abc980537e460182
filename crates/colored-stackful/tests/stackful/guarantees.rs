//! The guarantees of the runtime, with both kinds of task in each test.

use crate::support::{KINDS, Kind, OnDrop, Trace, Witness, run, runtime, until, wait_until};
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell, Handle, Runtime, spawn_colored};
use colored_stackful as stackful;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

const RED: u64 = 1;

/// Shows G1.
#[test]
fn steps_calls_and_posts_of_one_color_keep_apart() {
    const TASKS: usize = 32;
    const STEPS: usize = 200;
    let witness = Arc::new(Witness::default());
    let ours = Arc::clone(&witness);
    run(4, async move {
        let cell = ColorCell::new(RED, ());
        let tasks = (0..TASKS).map(|index| {
            let (witness, cell) = (Arc::clone(&ours), cell.clone());
            Kind::of(index).spawn_steps(Color::new(RED), STEPS, move |_| {
                witness.touch();
                let witness = Arc::clone(&witness);
                cell.post(move |()| witness.touch());
            })
        });
        let callers = (0..TASKS).map(|_| {
            let (witness, cell) = (Arc::clone(&ours), cell.clone());
            stackful::spawn_unique(move || {
                for _ in 0..STEPS {
                    let witness = Arc::clone(&witness);
                    stackful::wait(cell.call(move |()| witness.touch()));
                }
            })
        });
        for task in tasks.collect::<Vec<_>>().into_iter().chain(callers.collect::<Vec<_>>()) {
            task.await.unwrap();
        }
        cell.call(|()| ()).await;
    });
    assert_eq!(witness.count(), TASKS * STEPS * 3);
}

/// Shows G2, G11.
#[test]
fn tasks_of_one_color_run_in_the_order_of_their_scheduling() {
    let trace = Trace::new();
    let ours = trace.clone();
    run(4, async move {
        let (begin, has_begun) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let gate = spawn_colored(RED, {
            let (begin, has_begun) = (Arc::clone(&begin), Arc::clone(&has_begun));
            async move {
                has_begun.wait();
                begin.wait();
            }
        });
        has_begun.wait();
        let tasks: Vec<_> = (0..10)
            .map(|index| {
                let trace = ours.clone();
                let step = move |step| trace.push((step, index));
                Kind::of(index).spawn_steps(Color::new(RED), 20, step)
            })
            .collect();
        begin.wait();
        for task in tasks.into_iter().chain([gate]) {
            task.await.unwrap();
        }
    });
    let turns: Vec<_> = (0..20).flat_map(|step| (0..10).map(move |task| (step, task))).collect();
    assert_eq!(trace.take(), turns);
}

/// Shows G3, G4.
#[test]
fn what_names_no_color_has_the_default_one() {
    run(2, async {
        let own = stackful::Builder::new().spawn(Color::current).await.unwrap();
        assert_eq!(own, Some(Color::DEFAULT));
        let within = stackful::spawn(RED, || {
            let plain = stackful::wait(colored::spawn(async { Color::current() })).unwrap();
            let here =
                stackful::wait(colored::task::spawn_here(async { Color::current() })).unwrap();
            let stackful = stackful::wait(stackful::Builder::new().spawn(Color::current)).unwrap();
            (plain, here, stackful)
        });
        let (default, red) = (Some(Color::DEFAULT), Some(Color::new(RED)));
        assert_eq!(within.await.unwrap(), (default, red, default));
        let [a, b] = [0; 2].map(|_| stackful::spawn_unique(Color::current));
        assert_ne!(a.await.unwrap(), b.await.unwrap());
    });
}

/// Shows G5.
#[test]
fn a_color_is_gone_with_its_last_stackful_task() {
    let runtime = runtime(2);
    runtime.run(async {
        for color in 0..20_000 {
            stackful::spawn(10 + color, stackful::yield_now).await.unwrap();
        }
    });
    wait_until(|| runtime.metrics().colors < 10);
}

/// A task that has not begun is at home nowhere, and any worker takes it.
/// Shows G6.
#[test]
fn tasks_that_a_stuck_worker_has_spawned_begin_on_the_others() {
    run(2, async {
        let done = Arc::new(AtomicUsize::new(0));
        stackful::spawn_unique(move || {
            for _ in 0..100 {
                let done = Arc::clone(&done);
                drop(stackful::spawn_unique(move || {
                    stackful::yield_now();
                    done.fetch_add(1, Ordering::Relaxed);
                }));
            }
            // The worker is stuck here until the other one has run them all.
            wait_until(|| done.load(Ordering::Relaxed) == 100);
        })
        .await
        .unwrap();
    });
}

/// Shows G7.
#[test]
fn endless_yields_and_endless_ready_waits_starve_nothing() {
    run(1, async {
        let stop = Arc::new(AtomicBool::new(false));
        let endless = |ready: bool| {
            let stop = Arc::clone(&stop);
            let semaphore = Arc::new(colored::sync::Semaphore::new(1));
            stackful::spawn(RED, move || {
                while !stop.load(Ordering::Relaxed) {
                    if ready {
                        // It is always free, so only the budget ends the poll.
                        drop(stackful::wait(semaphore.acquire()).unwrap());
                    } else {
                        stackful::yield_now();
                    }
                }
            })
        };
        let tasks = [endless(true), endless(false)];
        for kind in KINDS {
            kind.spawn_steps(Color::new(RED), 20, |_| ()).await.unwrap();
            kind.spawn_steps(Color::unique(), 20, |_| ()).await.unwrap();
        }
        sleep(Duration::from_millis(3)).await;
        stop.store(true, Ordering::Relaxed);
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// The color and the thread on which something was dropped.
type Place = (Option<Color>, thread::ThreadId);

fn place() -> Place {
    (Color::current(), thread::current().id())
}

/// Drops `kept` on the stack, in the way of its number.
fn end_in_way(way: usize, kept: impl Sized + Send + 'static, begun: Trace<Place>) {
    begun.push(place());
    let _kept = kept;
    match way {
        0 => stackful::yield_now(),
        1 => {
            stackful::yield_now();
            panic!("on purpose")
        }
        _ => stackful::wait(std::future::pending()),
    }
}

/// Shows G8.
#[test]
fn a_stack_is_unwound_once_on_its_color_and_thread() {
    for way in 0..4 {
        let (begun, dropped) = (Trace::new(), Trace::new());
        let runtime = runtime(3);
        runtime.run({
            let (begun, dropped) = (begun.clone(), dropped.clone());
            async move {
                let all = begun.clone();
                let tasks: Vec<_> = (0..40)
                    .map(|color| {
                        let (begun, dropped) = (begun.clone(), dropped.clone());
                        let kept = OnDrop(move || dropped.push(place()));
                        stackful::spawn(10 + color, move || end_in_way(way, kept, begun))
                    })
                    .collect();
                // Ways 0 and 1 end by themselves, 2 by an abort, 3 with the runtime.
                until(|| all.len() == 40).await;
                if way < 2 {
                    for task in tasks {
                        drop(task.await);
                    }
                    return;
                }
                for task in tasks.into_iter().filter(|_| way != 3) {
                    task.abort();
                    drop(task.await);
                }
            }
        });
        drop(runtime);
        let (mut begun, mut dropped) = (begun.take(), dropped.take());
        begun.sort_by_key(|(color, _)| format!("{color:?}"));
        dropped.sort_by_key(|(color, _)| format!("{color:?}"));
        assert_eq!(begun, dropped, "way {way}");
        assert_eq!(begun.len(), 40);
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

/// Shows G9.
#[test]
fn a_panic_ends_its_task_and_the_color_goes_on() {
    run(1, async {
        for depth in [0, 100] {
            fn panic_below(depth: u32) {
                match depth {
                    0 => panic!("on purpose"),
                    _ => panic_below(depth - 1),
                }
            }
            let task = stackful::spawn(RED, move || {
                stackful::yield_now();
                panic_below(depth);
            });
            let payload = task.await.unwrap_err().try_into_panic().unwrap();
            assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
            for kind in KINDS {
                kind.spawn_steps(Color::new(RED), 2, |_| ()).await.unwrap();
            }
        }
    });
}

/// Shows G10.
#[test]
fn timers_fire_beside_a_stackful_task_that_blocks() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    // One attempt in time is enough: the machine may be busy.
    let is_in_time = (0..10).any(|_| {
        runtime.run(async {
            let blocks = stackful::spawn_unique(|| thread::sleep(Duration::from_millis(300)));
            let late = colored::spawn_unique(async {
                let start = Instant::now();
                sleep(Duration::from_millis(10)).await;
                start.elapsed()
            });
            let late = late.await.unwrap();
            blocks.await.unwrap();
            late < Duration::from_millis(100)
        })
    });
    assert!(is_in_time);
}

/// Shows G11.
#[test]
fn a_stackful_task_may_wait_for_another_task_of_its_color() {
    run(2, async {
        let (send, receive) = oneshot::channel();
        let first = stackful::spawn(RED, || {
            let inner = stackful::wait(stackful::spawn(RED, || 1)).unwrap();
            inner + stackful::wait(receive).unwrap()
        });
        let second = stackful::spawn(RED, || send.send(2).unwrap());
        second.await.unwrap();
        assert_eq!(first.await.unwrap(), 3);
    });
}

/// Shows G11.
#[test]
fn nothing_comes_in_between_where_the_color_is_held() {
    run(4, async {
        let cell = ColorCell::new(RED, 0_usize);
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let cell = cell.clone();
                stackful::spawn(RED, move || {
                    stackful::exclusive(|| {
                        let before = cell.with(|n| *n);
                        for _ in 0..5 {
                            stackful::yield_now();
                            stackful::wait(sleep(Duration::from_micros(10)));
                        }
                        cell.with(|n| {
                            assert_eq!(*n, before);
                            *n += 1;
                        });
                    });
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(cell.call(|n| *n).await, 8);
    });
}

/// Shows G12.
#[test]
fn a_wait_that_only_the_section_could_end_is_an_error() {
    run(2, async {
        let task = stackful::spawn(RED, || {
            stackful::exclusive(|| {
                let same = spawn_colored(RED, async {});
                let error = stackful::wait(same).unwrap_err();
                assert!(error.is_deadlock(), "{error}");
                let stackful = stackful::spawn(RED, || ());
                let error = stackful::wait(stackful).unwrap_err();
                assert!(error.is_deadlock(), "{error}");
            });
        });
        task.await.unwrap();
    });
}

#[test]
fn a_stackful_task_hops_and_stays_on_its_thread() {
    run(4, async {
        let task = stackful::spawn(RED, || {
            let thread = thread::current().id();
            for color in [2, 3, RED, 2] {
                stackful::wait(colored::hop(color));
                assert_eq!(Color::current(), Some(Color::new(color)));
                assert_eq!(thread::current().id(), thread);
            }
        });
        task.await.unwrap();
    });
}

#[test]
fn a_task_is_spawned_from_a_thread_that_has_entered_the_runtime() {
    let runtime = runtime(2);
    let handle: Handle = runtime.handle().clone();
    let task = thread::spawn(move || {
        let _inside = handle.enter();
        stackful::spawn(RED, || Color::current().unwrap())
    });
    let task = task.join().unwrap();
    assert_eq!(runtime.run(task).unwrap(), Color::new(RED));
}
