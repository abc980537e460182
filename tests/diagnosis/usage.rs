//! [`colored::Handle::usage`]: run times, waits, workers.

use colored::diagnose::usage::{ColorUsage, Level, Snapshot, Usage, Window};
use colored::{Color, ColorCell, Runtime, exclusive, hop, spawn_colored, spawn_unique, when};
use colored_tests::{alone, attempts, runtime, wait_until};
use std::hint;
use std::thread;
use std::time::{Duration, Instant};

const ORDERS: Color = Color::new(7);

fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        hint::spin_loop();
    }
}

/// What `load` uses, with waits.
fn measure<F>(runtime: &Runtime, load: F) -> Window
where
    F: Future<Output = ()> + Send + 'static,
{
    runtime.handle().set_trace_level(Level::Slices);
    let before = runtime.handle().usage();
    runtime.run(load);
    let after = runtime.handle().usage();
    runtime.handle().set_trace_level(Level::Off);
    Window::between(&before, &after)
}

fn of(window: &Window, color: Color) -> Usage {
    window.colors.iter().find(|found| found.color == color).expect("the color has run").usage
}

fn is_about(time: Duration, expected: Duration) -> bool {
    (expected * 8 / 10..=expected * 12 / 10).contains(&time)
}

/// Twenty tasks of one color wait for the color, and twenty tasks of twenty colors for the worker: the first for none, the last for
/// 19 others, so 190 times as long as each takes.
#[test]
fn tasks_wait_for_their_color_or_for_the_cpu() {
    const STEP: Duration = Duration::from_millis(2);
    alone(|| {
        for colors in [1, 20_u64] {
            attempts::some(|| {
                let window = measure(&runtime(1), async move {
                    let task =
                        |n| spawn_colored(Color::new(7 + n % colors), async { compute(STEP) });
                    for task in (0..20).map(task).collect::<Vec<_>>() {
                        task.await.expect("the task ends");
                    }
                });
                let own = |of: &&ColorUsage| !of.color.is_default();
                let all = window.colors.iter().filter(own).map(|of| of.usage);
                let all = all.fold(Usage::default(), |all, usage| all + usage);
                assert_eq!((all.waits, all.turns, all.depth), (20, 20, 0));
                let (wait, other, few) = match colors {
                    1 => (all.wait_color, all.wait_cpu, all.run),
                    _ => (all.wait_cpu, all.wait_color, all.run / 10),
                };
                all.run >= STEP * 20 && is_about(wait, all.run * 190 / 20) && other < few
            });
        }
    });
}

#[test]
fn a_color_that_a_task_keeps_is_kept_and_not_run() {
    alone(|| {
        attempts::some(|| {
            let window = measure(&runtime(2), async {
                let holder = spawn_colored(ORDERS, async {
                    exclusive(async { colored::time::sleep(Duration::from_millis(40)).await })
                        .await;
                });
                colored::time::sleep(Duration::from_millis(5)).await;
                let waits = spawn_colored(ORDERS, async {});
                holder.await.expect("the task ends");
                waits.await.expect("the task ends");
            });
            let usage = of(&window, ORDERS);
            is_about(usage.kept, Duration::from_millis(40))
                && usage.run < Duration::from_millis(4)
                && is_about(usage.wait_color, Duration::from_millis(35))
        });
    });
}

/// The run time of all colors but these.
fn run_of_others(window: &Window, colors: &[Color]) -> Duration {
    let others = window.colors.iter().filter(|of| !colors.contains(&of.color));
    others.map(|of| of.usage.run).sum::<Duration>() + window.others.run
}

#[test]
fn a_closure_that_runs_at_once_counts_for_its_colors_and_not_for_its_caller() {
    const OTHER: Color = Color::new(8);
    let step = Duration::from_millis(1);
    alone(|| {
        attempts::some(|| {
            let window = measure(&runtime(1), async move {
                let (one, other) = (ColorCell::new(ORDERS, ()), ColorCell::new(OTHER, ()));
                let task = spawn_unique(async move {
                    for _ in 0..10 {
                        one.call(move |()| compute(step)).await;
                        when((&one, &other), move |(), ()| compute(step)).await;
                    }
                });
                task.await.expect("the task ends");
            });
            let [one, other] = [ORDERS, OTHER].map(|color| of(&window, color));
            println!("{one:?}\n{other:?}");
            is_about(one.run, step * 20)
                && is_about(other.run, step * 10)
                && one.kept + other.kept < step
                && run_of_others(&window, &[ORDERS, OTHER]) < step * 4
        });
    });
}

/// A behavior that waits for its last cell keeps the others, and runs with all of them.
#[test]
fn a_when_that_waits_keeps_the_cells_that_it_has() {
    const OTHER: Color = Color::new(8);
    let step = Duration::from_millis(10);
    alone(|| {
        attempts::some(|| {
            let window = measure(&runtime(2), async move {
                let (one, other) = (ColorCell::new(ORDERS, ()), ColorCell::new(OTHER, ()));
                let holder = spawn_colored(OTHER, async move { compute(step * 2) });
                colored::time::sleep(step).await;
                when((&one, &other), move |(), ()| compute(step)).await;
                holder.await.expect("the task ends");
            });
            let [one, other] = [ORDERS, OTHER].map(|color| of(&window, color));
            println!("{one:?}\n{other:?}");
            is_about(one.run, step)
                && one.kept > step / 2
                && is_about(other.run, step * 3)
                && other.kept < step / 2
        });
    });
}

#[test]
fn a_task_without_a_named_color_is_counted_while_it_lives() {
    alone(|| {
        attempts::some(|| {
            let runtime = runtime(2);
            runtime.handle().set_trace_level(Level::Slices);
            runtime.run(async {
                let _detached = spawn_unique(async {
                    loop {
                        compute(Duration::from_micros(100));
                        colored::yield_now().await;
                    }
                });
                colored::time::sleep(Duration::from_millis(20)).await;
            });
            let before = runtime.handle().usage();
            thread::sleep(Duration::from_millis(100));
            let window = Window::between(&before, &runtime.handle().usage());
            runtime.shutdown_background();
            println!("{:?} {:?}", window.length, window.others);
            is_about(run_of_others(&window, &[]), window.length)
        });
    });
}

/// Whatever calls, spawns and hops there are: each moment of a worker is of one color.
#[test]
fn all_colors_have_run_for_as_long_as_the_workers() {
    let step = Duration::from_micros(50);
    alone(|| {
        attempts::some(|| {
            let window = measure(&runtime(2), async move {
                let cell = ColorCell::new(ORDERS, ());
                let task = |n: u64| {
                    let cell = cell.clone();
                    spawn_unique(async move {
                        for round in 0..40 {
                            compute(step);
                            cell.call(move |()| compute(step)).await;
                            let other = cell.clone();
                            let child = spawn_colored(Color::new(100 + round % 5), async move {
                                compute(step);
                                other.call(move |()| compute(step)).await;
                            });
                            child.await.expect("the task ends");
                            hop(Color::new(200 + n)).await;
                            compute(step);
                            hop(Color::unique()).await;
                        }
                    })
                };
                for task in (0..6).map(task).collect::<Vec<_>>() {
                    task.await.expect("the task ends");
                }
            });
            let workers = window.workers.iter().map(|worker| worker.run).sum::<Duration>();
            let colors = run_of_others(&window, &[]);
            println!("workers {workers:?}, colors {colors:?}");
            colors.abs_diff(workers) < workers / 10
        });
    });
}

#[test]
fn samples_name_the_color_and_the_place_without_a_recording() {
    alone(|| {
        attempts::some(|| {
            let runtime = runtime(1);
            let before = runtime.handle().usage();
            let line = line!() + 2;
            runtime.run(async {
                let heavy = spawn_unique(async {
                    for _ in 0..100 {
                        compute(Duration::from_micros(300));
                        colored::yield_now().await;
                    }
                });
                let light = spawn_colored(ORDERS, async {
                    for _ in 0..100 {
                        compute(Duration::from_micros(100));
                        colored::yield_now().await;
                    }
                });
                heavy.await.expect("the task ends");
                light.await.expect("the task ends");
            });
            let window = Window::between(&before, &runtime.handle().usage());
            assert!(!window.measures_waits);
            let first = window.sites.first().expect("something has run");
            if first.site.is_none_or(|site| site.line() != line) {
                return false;
            }
            let (heavy, light) = (first.run_colored, of(&window, ORDERS).run);
            heavy >= Duration::from_millis(30) && light * 2 < heavy && heavy < light * 4
        });
    });
}

#[test]
fn the_times_of_a_worker_add_up_to_the_clock() {
    alone(|| {
        for level in [Level::Off, Level::Slices, Level::Tasks] {
            attempts::some(|| {
                let runtime = runtime(2);
                runtime.handle().set_trace_level(level);
                // The time of a worker begins with its thread.
                wait_until(|| runtime.handle().metrics().parked == 2);
                let before = runtime.handle().usage();
                runtime.run(async {
                    let cell = ColorCell::new(ORDERS, 0_u64);
                    for _ in 0..50 {
                        cell.call(|n| *n += 1).await;
                        colored::time::sleep(Duration::from_millis(1)).await;
                    }
                });
                let after = runtime.handle().usage();
                // Sleeps that are over before they begin set no timer.
                let fired = after.timers.fired - before.timers.fired;
                assert!((1..=50).contains(&fired) && after.timers.turns >= 1, "{fired}");
                let elapsed = after.at - before.at;
                (0..2).all(|worker| {
                    let time = whole(&after, worker) - whole(&before, worker);
                    time.abs_diff(elapsed) < elapsed / 50
                })
            });
        }
    });
}

fn whole(snapshot: &Snapshot, worker: usize) -> Duration {
    let of = &snapshot.workers[worker];
    of.run + of.search + of.io + of.timers + of.parked
}

#[test]
fn tasks_are_counted_while_they_live() {
    alone(|| {
        let runtime = runtime(2);
        let handle = runtime.handle().clone();
        let (before, during) = runtime.run(async move {
            let before = handle.usage().tasks;
            let wait = || spawn_unique(std::future::pending::<()>());
            let tasks: Vec<_> = (0..100).map(|_| wait()).collect();
            let during = handle.usage().tasks;
            tasks.iter().for_each(|task| task.abort());
            for task in tasks {
                assert!(task.await.is_err_and(|error| error.is_cancelled()));
            }
            (before, during)
        });
        assert_eq!(during, before + 100);
        wait_until(|| runtime.handle().usage().tasks == 0);
    });
}
