//! Polls that hold their workers: the other colors go on, and the runtime says which poll it was.

use colored::diagnose::Options;
use colored::metrics::LongPoll;
use colored::runtime::Tuning;
use colored::sync::mpsc;
use colored::time::{Duration, Instant, MissedTickBehavior, interval, sleep};
use colored::{Builder, Color, Handle, Runtime, block_in_place, spawn_colored, spawn_unique};
use colored_tests::attempts::{percentile, some, within};
use colored_tests::{
    alone, child, join_all, process, runtime, runtime_with_spares, shared, wait_until,
};
use std::sync::{Arc, Mutex};
use std::{hint, thread};

/// How long 1,000 tasks of other colors take that are spawned right before `blocks` holds the only worker.
fn others_beside(runtime: &Runtime, blocks: fn()) -> Duration {
    runtime.run(async move {
        let begin = Instant::now();
        let holder = spawn_colored(1, async move { blocks() });
        join_all((0..1000).map(|_| spawn_unique(async {}))).await;
        let others = begin.elapsed();
        holder.await.unwrap();
        others
    })
}

fn spare_threads() -> usize {
    process::threads().values().filter(|thread| thread.name.starts_with("held-s")).count()
}

/// Blocks the thread until the runtime has noticed a long poll.
fn until_reported() {
    let handle = Handle::current();
    wait_until(|| handle.metrics().long_polls.polls >= 1);
}

fn one_worker() -> Builder {
    Builder::new().workers(1).thread_name("held")
}

/// Two of the bounds: the announced poll, and the poll that the runtime has to notice. One spare is enough.
/// Shows G6.
#[test]
fn other_colors_go_on_beside_a_poll_that_blocks() {
    alone(|| {
        let runtime = one_worker().build().unwrap();
        within(Duration::from_millis(20), || {
            others_beside(&runtime, || block_in_place(|| thread::sleep(Duration::from_millis(200))))
        });
        within(Duration::from_millis(60), || {
            others_beside(&runtime, || thread::sleep(Duration::from_millis(200)))
        });
        assert!(runtime.metrics().long_polls.polls >= 1);
        assert_eq!(spare_threads(), 1);
    });
}

/// The worker that sleeps and wakes up all the time does not keep the reactor thread from looking at the stuck one.
#[test]
fn a_long_poll_is_noticed_beside_a_worker_that_wakes_up_all_the_time() {
    alone(|| {
        within(Duration::from_millis(25), || {
            let (hears, heard) = std::sync::mpsc::channel();
            let options = Options::new().on_long_poll(move |poll| {
                let _ = hears.send(poll.time);
            });
            let runtime = Builder::new().workers(2).diagnose(options).build().unwrap();
            runtime.run(async move {
                let ticks = spawn_unique(async {
                    for _ in 0..150 {
                        sleep(Duration::from_millis(1)).await;
                    }
                });
                sleep(Duration::from_millis(20)).await;
                let stuck = spawn_unique(async { thread::sleep(Duration::from_millis(80)) });
                stuck.await.unwrap();
                ticks.await.unwrap();
            });
            heard.recv_timeout(Duration::from_secs(1)).unwrap_or(Duration::MAX)
        });
    });
}

/// The part of the longest poll in which its thread had a CPU, or was in line for one. None where the system does not say.
fn part_on_cpu(blocks: fn()) -> Option<f64> {
    let runtime = one_worker().build().unwrap();
    runtime.run(async move { spawn_colored(1, async move { blocks() }).await.unwrap() });
    let longest = runtime.metrics().long_polls.longest?;
    let on_cpu = longest.cpu? + longest.delayed?;
    Some(on_cpu.as_secs_f64() / longest.time.as_secs_f64())
}

/// Where the system says how long a thread had a CPU. It counts by ticks, and the watch sees a part of the poll.
#[test]
fn a_poll_that_computes_is_told_from_one_that_blocks() {
    alone(|| {
        let told = || {
            let computes = part_on_cpu(|| {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(100) {
                    hint::spin_loop();
                }
            });
            let blocks = part_on_cpu(|| thread::sleep(Duration::from_millis(100)));
            println!("on a CPU: {computes:?} and {blocks:?}");
            let tells = cfg!(any(target_os = "linux", target_os = "android"));
            // A busy machine gives the watch one look, and a part of a poll needs two.
            computes.zip(blocks).map_or(!tells, |(computes, blocks)| computes > 0.6 && blocks < 0.4)
        };
        some(told);
    });
}

/// A ticker of another color beside a poll that computes.
/// Shows G10.
#[test]
fn a_ticker_is_punctual_beside_a_poll_that_computes() {
    alone(|| {
        let runtime = one_worker().build().unwrap();
        within(Duration::from_millis(5), || {
            runtime.run(async {
                let busy = spawn_colored(1, async {
                    sleep(Duration::from_millis(200)).await;
                    let begin = Instant::now();
                    while begin.elapsed() < Duration::from_millis(500) {
                        hint::spin_loop();
                    }
                });
                let period = Duration::from_millis(10);
                let late = spawn_colored(2, async move {
                    let mut ticker = interval(period);
                    ticker.set_missed_tick_behavior(MissedTickBehavior::Skip);
                    let mut late = Vec::new();
                    while late.len() < 150 {
                        let due = ticker.tick().await;
                        late.push(due.elapsed());
                    }
                    late
                });
                let late = late.await.unwrap();
                busy.await.unwrap();
                percentile(late, 99)
            })
        });
    });
}

/// Each long poll is reported once, while it goes on, with its color, its task and the place of the spawn.
#[test]
fn a_long_poll_is_reported_once_with_its_task() {
    type Seen = Arc<Mutex<Vec<(Instant, LongPoll)>>>;
    alone(|| {
        let seen = Seen::default();
        let hears = Arc::clone(&seen);
        let options = Options::new()
            .on_long_poll(move |poll| hears.lock().unwrap().push((Instant::now(), poll.clone())));
        let runtime = one_worker().diagnose(options).build().unwrap();
        within(Duration::from_millis(60), || {
            seen.lock().unwrap().clear();
            let (begin, id, line) = runtime.run(async {
                let line = line!() + 1;
                let task = spawn_colored(Color::named("stuck"), async {
                    let begin = Instant::now();
                    thread::sleep(Duration::from_millis(300));
                    begin
                });
                let id = task.id();
                (task.await.unwrap(), id, line)
            });
            let seen = seen.lock().unwrap();
            let of_task: Vec<_> = seen.iter().filter(|(_, poll)| poll.task == Some(id)).collect();
            assert_eq!(of_task.len(), 1, "{seen:?}");
            let (when, poll) = of_task[0];
            assert_eq!(poll.color, Color::named("stuck"));
            assert!(poll.worker <= 1, "{poll:?}");
            let spawned = poll.spawned.unwrap();
            assert_eq!((spawned.file(), spawned.line()), (file!(), line));
            let text = poll.to_string();
            assert!(text.contains("held.rs") && text.contains("color \"stuck\""), "{text}");
            *when - begin
        });
        let longest = runtime.metrics().long_polls.longest.unwrap();
        assert!(longest.time >= Duration::from_millis(50), "{longest:?}");
        assert_eq!(longest.color, Color::named("stuck"));
    });
}

/// An announced poll is not reported. A neighbour may hold the worker up before the announcement.
#[test]
fn an_announced_poll_is_not_reported() {
    alone(|| {
        let is_silent = || {
            let runtime = one_worker().build().unwrap();
            others_beside(&runtime, || block_in_place(|| thread::sleep(Duration::from_millis(50))));
            let metrics = runtime.metrics().long_polls;
            metrics.hand_offs >= 1 && metrics.polls == 0
        };
        some(is_silent);
    });
}

/// A callback has no task.
#[test]
fn a_long_callback_is_reported_by_its_color() {
    shared(|| {
        let runtime = one_worker().build().unwrap();
        let cell = runtime.handle().cell(Color::named("closure"), ());
        runtime.run(async move {
            cell.call(|()| ()).await;
            cell.post(|()| until_reported());
            cell.call(|()| ()).await;
        });
        let longest = runtime.metrics().long_polls.longest.unwrap();
        assert_eq!((longest.color, longest.task), (Color::named("closure"), None));
        assert!(longest.to_string().contains("a closure under"), "{longest}");
    });
}

/// Polls that hold the worker one after the other: the spare worker comes and goes.
/// Shows G6.
#[test]
fn polls_that_sleep_again_and_again_lose_nothing() {
    shared(|| {
        let runtime = runtime_with_spares(1);
        runtime.run(async {
            for round in 0..20 {
                let sleeper = spawn_colored(1, async { thread::sleep(Duration::from_millis(25)) });
                join_all((0..200).map(|_| {
                    spawn_unique(async {
                        sleep(Duration::from_millis(1)).await;
                        colored::yield_now().await;
                    })
                }))
                .await;
                sleeper.await.unwrap();
                if round % 3 == 0 {
                    sleep(Duration::from_millis(15)).await;
                }
            }
        });
        assert!(runtime.metrics().long_polls.hand_offs >= 1);
        runtime.shutdown_timeout(Duration::from_secs(30)).unwrap();
    });
}

/// More polls block than there are spare workers: what is behind them waits, and nothing is lost. Spares block too.
/// Shows G6.
#[test]
fn more_polls_block_than_there_are_spares() {
    alone(|| {
        let runtime = one_worker().tuning(Tuning::new().spare_workers(2)).build().unwrap();
        runtime.run(async {
            let blocks = || async { thread::sleep(Duration::from_millis(60)) };
            join_all((0..10).map(|_| spawn_unique(blocks()))).await;
        });
        assert!(runtime.metrics().long_polls.hand_offs >= 1);
        assert!(spare_threads() <= 2);
        runtime.shutdown_timeout(Duration::from_secs(30)).unwrap();
    });
}

/// Without spares the runtime reports, and the others wait.
#[test]
fn a_runtime_without_spares_starts_no_thread() {
    alone(|| {
        let runtime = one_worker().tuning(Tuning::new().spare_workers(0)).build().unwrap();
        runtime.run(async {
            let holder = spawn_colored(1, async { until_reported() });
            spawn_unique(async {}).await.unwrap();
            holder.await.unwrap();
        });
        assert_eq!((runtime.metrics().long_polls.hand_offs, spare_threads()), (0, 0));
    });
}

/// A closure that panics, or is nested, leaves no announcement behind, and values pass.
#[test]
fn block_in_place_is_a_call() {
    shared(|| {
        let text = String::from("borrowed");
        assert_eq!(block_in_place(|| text.len()), 8, "outside a runtime");
        runtime(1).run(async {
            let inner = block_in_place(|| block_in_place(|| 1) + 1);
            assert_eq!(inner, 2);
            let task = spawn_unique(async { block_in_place(|| panic!("on purpose")) });
            assert!(task.await.unwrap_err().is_panic());
            let same = Color::current();
            assert_eq!(block_in_place(Color::current), same);
        });
    });
}

/// A task that blocks for ever is named, with what to do, where the program has no hook of its own: once.
#[test]
#[expect(clippy::disallowed_methods, reason = "the mistake of this test")]
fn a_blocking_receive_in_a_task_says_what_is_wrong() {
    const TEST: &str = "a_blocking_receive_in_a_task_says_what_is_wrong";
    let said = child::said("", module_path!(), TEST, || {
        for hook in [false, true] {
            let options = Options::new();
            let options = if hook { options.on_long_poll(|_| ()) } else { options };
            let runtime = one_worker().diagnose(options).build().unwrap();
            for _ in 0..if hook { 1 } else { 2 } {
                let (send, mut receive) = mpsc::channel(1);
                let blocked = async move { receive.blocking_recv() };
                let task = runtime.spawn_colored(Color::named("till"), blocked);
                thread::sleep(Duration::from_millis(1_500));
                send.blocking_send(7).unwrap();
                assert_eq!(runtime.block_on(task).unwrap(), Some(7));
            }
        }
    });
    let Some((_, cried)) = said else { return };
    let lines: Vec<_> =
        cried.lines().filter(|line| line.starts_with("colored: worker 0 ")).collect();
    let [line] = lines[..] else { panic!("{cried}") };
    for part in ["under color \"till\"", "held.rs:", "await the method without `blocking_`"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}
