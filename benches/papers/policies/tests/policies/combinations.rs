//! The policies of the papers: each keeps the guarantees that it promises, with long slices and with short
//! ones, with reuse of memory and without, and does what its name says.

use colored::runtime::Tuning;
use colored::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use colored::sync::oneshot;
use colored::{
    Builder, Color, Priority, Runtime, spawn_colored, spawn_local, spawn_unique, yield_now,
};
use colored_lab::{Place, Places};
use colored_tests::choice::{by, of_all};
use colored_tests::drops::{Drops, OnColor};
use colored_tests::witness::Witness;
use colored_tests::{Trace, block, meet, shared, storm, wait_until};
use std::cell::RefCell;
use std::future::pending;
use std::io::ErrorKind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

#[test]
fn g1_and_g2_hold_for_tasks_posts_hops_and_yields() {
    of_all(|choice| storm::rage(&choice.runtime(3), 16_000));
}

#[test]
fn g1_and_g8_hold_under_aborts_and_shutdown() {
    of_all(|choice| storm::wander_until_shutdown(choice.runtime(3), 96, 1));
}

#[test]
fn g5_colors_come_and_go_and_leave_nothing() {
    of_all(|choice| {
        let runtime = choice.runtime(2);
        runtime.run(async {
            for color in 1..400 {
                spawn_colored(color, async {}).await.unwrap();
            }
        });
        wait_until(|| runtime.metrics().colors == 1);
    });
}

/// Shows G6.
#[test]
fn g6_every_worker_comes_where_it_may() {
    of_all(|choice| {
        if choice.conserves_work() {
            let runtime = choice.runtime(3);
            for round in 0..6u64 {
                meet::all_at_once(&runtime, 3, round % 2 == 0);
                // From the second round on lanes wait by class, where there are classes.
                runtime.handle().set_priority(round, Priority::High);
            }
        }
    });
}

/// Shows G6.
#[test]
fn no_wake_up_is_lost_between_threads_and_workers() {
    of_all(|choice| {
        let runtime = choice.runtime(3);
        for round in 0..200u64 {
            // From outside, between workers, and back.
            let (to, from) = oneshot::channel();
            let relay = async move {
                let (back, answer) = oneshot::channel();
                drop(spawn_colored(round + 1, async move { back.send(from.await.unwrap()) }));
                drop(spawn_unique(async move { to.send(round).unwrap() }));
                answer.await.unwrap()
            };
            let relay = runtime.handle().spawn_colored(round, relay);
            assert_eq!(runtime.run(relay).unwrap(), round);
        }
    });
}

#[test]
fn g7_an_endless_task_starves_no_other() {
    of_all(|choice| {
        let runtime = choice.runtime(1);
        let (polls, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counter, end) = (Arc::clone(&polls), Arc::clone(&over));
        let endless = runtime.handle().spawn_unique(async move {
            while !end.load(Ordering::Relaxed) {
                counter.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        });
        let longest = runtime.handle().spawn_unique(async move {
            let (mut longest, mut before) = (0, polls.load(Ordering::Relaxed));
            for _ in 0..200 {
                yield_now().await;
                let now = polls.load(Ordering::Relaxed);
                longest = longest.max(now - before);
                before = now;
            }
            longest
        });
        let longest = runtime.run(longest).unwrap();
        // A pinned task has its turns beside a task that never ends.
        let pinned = runtime.handle().spawn_pinned(0, Color::unique(), || async {}).unwrap();
        runtime.run(pinned).unwrap();
        over.store(true, Ordering::Relaxed);
        runtime.run(endless).unwrap();
        let slice = if choice.lean { 1 } else { 64 };
        assert!(longest <= 2 * slice, "{longest} polls in a row");
    });
}

#[test]
fn g8_shutdown_drops_waiting_tasks_under_their_colors() {
    of_all(|choice| {
        let runtime = choice.runtime(3);
        let drops = Drops::default();
        for color in 0..60 {
            let value = drops.under(color % 20);
            drop(runtime.handle().spawn_colored(color % 20, async move {
                if color % 3 == 0 {
                    yield_now().await;
                }
                pending::<()>().await;
                drop(value);
            }));
        }
        runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
        drops.assert_exact(60);
    });
}

#[test]
fn guests_and_local_tasks_take_their_turns() {
    of_all(|choice| {
        let runtime = choice.runtime(2);
        let witness = Arc::new(Witness::default());
        let ours = Arc::clone(&witness);
        runtime.block_on(async move {
            for _ in 0..10 {
                let (inside, local) = (Arc::clone(&ours), Arc::clone(&ours));
                let task = colored::spawn(async move {
                    inside.touch();
                    spawn_local(async move { local.touch() }).await.unwrap();
                });
                ours.touch();
                task.await.unwrap();
            }
        });
        assert_eq!(witness.count(), 30);
    });
}

/// Shows G6.
#[test]
fn idle_threads_sleep() {
    of_all(|choice| {
        let runtime = choice.runtime(3);
        storm::rage(&runtime, 640);
        wait_until(|| runtime.metrics().parked == 3);
        let parks = || runtime.metrics().workers.iter().map(|worker| worker.parks).sum::<u64>();
        // The reactor thread takes two looks to go to sleep, and may wake a worker on each.
        std::thread::sleep(Duration::from_millis(12));
        let before = parks();
        std::thread::sleep(Duration::from_millis(8));
        assert!(parks() - before <= 4, "{} parks of idle workers", parks() - before);
    });
}

/// On which workers the tasks of these colors run, by name of the thread, and how often any other
/// took them.
fn threads_of(runtime: &Runtime, colors: impl Iterator<Item = u64>) -> Vec<String> {
    let trace = Trace::new();
    let tasks: Vec<_> = colors
        .map(|color| {
            let trace = trace.clone();
            runtime.handle().spawn_colored(color, async move {
                for _ in 0..20 {
                    trace.push(std::thread::current().name().unwrap_or_default().to_owned());
                    yield_now().await;
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.run(task).unwrap();
    }
    let mut names = trace.take();
    names.sort_unstable();
    names.dedup();
    names
}

fn rank(runtime: &Runtime, ranked: bool) {
    if ranked {
        let classes = [Priority::Low, Priority::High];
        (0..64).zip(classes.into_iter().cycle()).for_each(|(color, class)| {
            runtime.handle().set_priority(8 * color + 3, class);
        });
    }
}

/// Colors 3, 7, 11.. of a runtime with four workers.
#[test]
fn a_pinned_color_runs_on_the_worker_of_its_number_only() {
    shared(|| {
        for ranked in [false, true] {
            let runtime = by(Some(&Places { place: Place::Number, steals: false })).workers(4);
            let runtime = runtime.build().unwrap();
            rank(&runtime, ranked);
            let names = threads_of(&runtime, (0..64).map(|i| 4 * i + 3));
            assert_eq!(names, ["colored-w3"]);
            let polls = |worker: usize| runtime.metrics().workers[worker].polls;
            assert_eq!((polls(1), polls(2)), (0, 0));
            assert!(runtime.metrics().workers.iter().all(|worker| worker.steals == 0));
        }
    });
}

#[test]
fn without_balancing_children_stay_with_their_parent() {
    shared(|| {
        for ranked in [false, true] {
            let runtime = by(Some(&Places { place: Place::Usual, steals: false })).workers(2);
            let runtime = runtime.build().unwrap();
            rank(&runtime, ranked);
            let children = runtime.run(async {
                let own = std::thread::current().id();
                let child = |_| spawn_unique(async { std::thread::current().id() });
                let mut strays = 0;
                for child in (0..200).map(child).collect::<Vec<_>>() {
                    strays += usize::from(child.await.unwrap() != own);
                }
                strays
            });
            assert_eq!(children, 0, "{children} of 200 ran elsewhere");
            let steals: u64 = runtime.metrics().workers.iter().map(|worker| worker.steals).sum();
            assert_eq!(steals, 0);
        }
    });
}

/// With and without pushing: one worker has all the lanes, the other none.
#[test]
fn surplus_lanes_are_pushed_to_the_worker_that_has_least() {
    shared(|| {
        let run = |places| {
            let runtime = by(Some(places)).workers(2).build().unwrap();
            runtime.run(async {
                let busy = || async {
                    for _ in 0..300 {
                        yield_now().await;
                    }
                };
                for task in (0..64).map(|_| spawn_unique(busy())).collect::<Vec<_>>() {
                    task.await.unwrap();
                }
            });
            runtime.metrics().workers
        };
        let still = run(&Places { place: Place::Usual, steals: false });
        assert_eq!(still.iter().map(|worker| worker.polls).min(), Some(0), "{still:?}");
        let pushed = run(&Places { place: Place::Least(4), steals: false });
        assert!(pushed.iter().all(|worker| worker.steals == 0), "{pushed:?}");
        assert!(pushed.iter().all(|worker| worker.polls >= 64 * 300 / 10), "{pushed:?}");
    });
}

/// Two colors that wake each other for ever on two workers would follow their wakers; with homes they stay.
#[test]
fn a_lane_at_home_comes_back_to_where_it_ran() {
    shared(|| {
        let home = by(Some(&Places { place: Place::Home, steals: false }));
        let runtime = home.workers(2).build().unwrap();
        // The tasks come from outside and have no home yet: the first worker that looks fetches them.
        let place = Arc::new(Barrier::new(2));
        let walker = |(to, mut from): (UnboundedSender<()>, UnboundedReceiver<()>)| {
            let place = Arc::clone(&place);
            async move {
                let _ = place.wait();
                let home = std::thread::current().id();
                for _ in 0..200 {
                    // Woken by the other color, so by the other worker.
                    to.send(()).unwrap();
                    from.recv().await.unwrap();
                    assert_eq!(std::thread::current().id(), home);
                }
                // The channels go with the output: an end that is dropped here would wake the other task.
                (to, from)
            }
        };
        let [(to_first, first), (to_second, second)] = [(); 2].map(|()| unbounded_channel());
        let ends = [(20u64, (to_second, first)), (21, (to_first, second))];
        let walkers = ends.map(|(color, end)| runtime.handle().spawn_colored(color, walker(end)));
        for walker in walkers {
            runtime.run(walker).unwrap();
        }
    });
}

#[test]
fn a_slice_is_as_long_as_it_was_set() {
    shared(|| {
        for polls in [1, 7, 500] {
            let runtime =
                by(None).workers(1).tuning(Tuning::new().slice(polls, Duration::from_secs(1)));
            let runtime = runtime.build().unwrap();
            let trace = Trace::new();
            let ours = trace.clone();
            runtime.run(async move {
                for color in [1, 2] {
                    let trace = ours.clone();
                    drop(spawn_colored(color, async move {
                        for _ in 0..2_000 {
                            trace.push(color);
                            yield_now().await;
                        }
                    }));
                }
            });
            wait_until(|| trace.len() == 4_000);
            let events = trace.take();
            let first = events.chunk_by(|a, b| a == b).next().unwrap().len();
            assert_eq!(first, polls as usize);
        }
    });
}

/// Polls of 100 µs or more in slices of half a millisecond: the time is looked at after each, as they are slow.
#[test]
fn a_slice_takes_no_more_time_than_it_was_given() {
    shared(|| {
        let runtime =
            by(None).workers(1).tuning(Tuning::new().slice(10_000, Duration::from_micros(500)));
        let (runtime, trace) = (runtime.build().unwrap(), Trace::new());
        let ours = trace.clone();
        runtime.run(async move {
            for color in [1, 2] {
                let trace = ours.clone();
                drop(spawn_colored(color, async move {
                    for _ in 0..60 {
                        trace.push(color);
                        block(Duration::from_micros(100));
                        yield_now().await;
                    }
                }));
            }
        });
        wait_until(|| trace.len() == 120);
        let events = trace.take();
        let longest = events.chunk_by(|a, b| a == b).map(<[u64]>::len).take(4).max().unwrap();
        // Some of the first slices may come before the worker has seen that polls are slow.
        assert!(longest <= 16, "{longest} polls in a slice");
    });
}

#[test]
fn a_slice_out_of_range_says_what_was_given_and_what_is_allowed() {
    type Set = fn(Builder) -> Builder;
    let cases: [(Set, &[&str]); 4] = [
        (
            |b| b.tuning(Tuning::new().slice(0, Duration::from_micros(200))),
            &["slice(0, ..)", "1 to 1000000 polls"],
        ),
        (
            |b| b.tuning(Tuning::new().slice(1_000_001, Duration::from_micros(200))),
            &["slice(1000001, ..)"],
        ),
        (
            |b| b.tuning(Tuning::new().slice(64, Duration::from_nanos(999))),
            &["slice(.., 999 ns)", "1 µs to 1 s"],
        ),
        (|b| b.tuning(Tuning::new().slice(64, Duration::MAX)), &["1 µs to 1 s"]),
    ];
    for (set, parts) in cases {
        let error = set(Runtime::builder()).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = error.to_string();
        parts
            .iter()
            .for_each(|part| assert!(text.contains(part), "{text:?} does not say {part:?}"));
    }
}

/// Each color's value is dropped once, under its color, and the value of a pinned cell on its thread.
#[test]
fn values_of_colors_and_of_threads_end_where_they_belong() {
    colored::color_local!(static DROPS: RefCell<Vec<OnColor>> = RefCell::new(Vec::new()));
    of_all(|choice| {
        let (runtime, drops) = (choice.runtime(2), Drops::default());
        let tasks: Vec<_> = (0..200u64)
            .map(|task| {
                let color = 1 + task % 20;
                let own = drops.under(color);
                runtime.handle().spawn_colored(color, async move {
                    DROPS.with(|drops| drops.borrow_mut().push(own));
                    yield_now().await;
                })
            })
            .collect();
        let cells = [0, 1].map(|worker| {
            let own = drops.under(30);
            let make = move || (Rc::new(own), std::thread::current().id());
            runtime.handle().pinned_cell(worker, 30, make).unwrap()
        });
        let homes = runtime.run(async move {
            for task in tasks {
                task.await.unwrap();
            }
            let mut homes = Vec::new();
            for cell in cells {
                for _ in 0..20 {
                    let own = cell.clone();
                    let call =
                        async move { own.call(|it| (it.1, std::thread::current().id())).await };
                    let (home, here) = spawn_unique(call).await.unwrap();
                    assert_eq!(home, here);
                    homes.push(home);
                }
            }
            homes
        });
        assert!(homes[0] == homes[19] && homes[20] == homes[39] && homes[0] != homes[39]);
        wait_until(|| runtime.metrics().colors == 1);
        drops.assert_exact(202);
    });
}
