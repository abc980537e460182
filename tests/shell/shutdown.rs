//! The end of a runtime, from any state: its tasks are dropped, waits end with an error, and stuck work delays the
//! shutdown no longer than the time-out.

use colored::io::AsyncReadExt;
use colored::net::TcpStream;
use colored::runtime::Tuning;
use colored::time::{Duration, Instant, sleep};
use colored::{Builder, Color, ColorCell, Runtime, hop, spawn_colored, spawn_unique, yield_now};
use colored_tests::attempts::within;
use colored_tests::drops::{Drops, keep};
use colored_tests::{alone, block, message, panic_of, runtime, shared, wait_until};
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

const RED: u64 = 1;
const LONG: Duration = Duration::from_secs(60);

fn shut_down(runtime: Runtime) {
    runtime.shutdown_timeout(LONG).unwrap();
}

#[test]
fn a_runtime_that_did_nothing_ends() {
    shared(|| {
        for workers in [1, 2, 8] {
            (0..30).for_each(|_| drop(runtime(workers)));
            (0..30).for_each(|_| shut_down(runtime(workers)));
            (0..30).for_each(|_| runtime(workers).shutdown_background());
        }
    });
}

/// A shutdown must miss no task, whatever the workers are doing: with known and unique colors, and tasks that hop,
/// spawn and post.
/// Shows G8.
#[test]
fn shutdown_in_the_middle_of_everything_drops_each_future_once() {
    async fn roam(drops: Drops, seed: u64) {
        for step in seed.. {
            let color = Color::new(step % 7);
            hop(color).await;
            let child = drops.under(color);
            drop(colored::spawn_here(async move {
                let _child = child;
                yield_now().await;
            }));
            let posted = drops.under(step % 5);
            let cell = ColorCell::new(Color::new(step % 5), ());
            cell.post(move |()| drop(posted));
        }
    }
    shared(|| {
        for round in 0..20 {
            let (runtime, drops) = (runtime(4), Drops::default());
            for number in 0..50 {
                drop(runtime.handle().spawn_unique(roam(drops.clone(), round + number)));
                let (own, waits) = (drops.clone(), number % 2 == 0);
                drop(runtime.handle().spawn_unique(async move {
                    let _own = own.under(Color::current().unwrap());
                    if waits { pending().await } else { sleep(LONG).await }
                }));
            }
            thread::sleep(Duration::from_millis(round % 4));
            shut_down(runtime);
            drops.assert_all();
        }
    });
}

/// Shows G8.
#[test]
fn tasks_that_foreign_threads_spawn_during_shutdown_are_dropped_too() {
    shared(|| {
        for _ in 0..20 {
            let (runtime, drops) = (runtime(4), Drops::default());
            let over = Arc::new(AtomicBool::new(false));
            let spawners: Vec<_> = (0..3)
                .map(|_| {
                    let (handle, drops) = (runtime.handle().clone(), drops.clone());
                    let over = Arc::clone(&over);
                    thread::spawn(move || {
                        for number in 0.. {
                            let waits = keep(drops.under(number % 9), pending::<()>());
                            let task = handle.spawn_colored(number % 9, waits);
                            if over.load(Ordering::Acquire) {
                                return task;
                            }
                            // The spawners are ahead by no more than this; the first wait ends when the shutdown
                            // begins.
                            while number % 64 == 63 && !task.is_finished() {
                                thread::yield_now();
                            }
                        }
                        unreachable!("it ends when it is told to")
                    })
                })
                .collect();
            thread::sleep(Duration::from_millis(2));
            shut_down(runtime);
            over.store(true, Ordering::Release);
            // A spawner may have left its task to another thread that held the color.
            let last: Vec<_> =
                spawners.into_iter().map(|spawner| spawner.join().unwrap()).collect();
            assert!(last.iter().all(|task| task.is_finished()));
            drops.assert_all();
        }
    });
}

/// A task, or a blocking call, that ends only when `over` is set.
fn stuck(runtime: &Runtime, drops: &Drops, blocking: bool) -> Sender<()> {
    let (end, ended) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    if blocking {
        drop(runtime.handle().spawn_blocking(move || {
            begun.send(()).unwrap();
            let _ = ended.recv();
        }));
    } else {
        let guard = drops.under(RED);
        drop(runtime.handle().spawn_colored(RED, async move {
            let _guard = guard;
            begun.send(()).unwrap();
            let _ = ended.recv();
            pending::<()>().await;
        }));
    }
    begins.recv().unwrap();
    end
}

#[test]
fn stuck_work_delays_shutdown_for_the_timeout_and_no_more() {
    const TIMEOUT: Duration = Duration::from_millis(50);
    alone(|| {
        for blocking in [false, true] {
            within(TIMEOUT + Duration::from_millis(30), || {
                let (runtime, drops) = (runtime(2), Drops::default());
                let handle = runtime.handle().clone();
                drop(handle.spawn_colored(2, keep(drops.under(2), pending::<()>())));
                let end = stuck(&runtime, &drops, blocking);
                let begin = Instant::now();
                let error = runtime.shutdown_timeout(TIMEOUT).unwrap_err();
                let took = begin.elapsed();
                assert_eq!(error.timeout, TIMEOUT);
                assert!(error.to_string().contains("50ms"), "{error}");
                assert_eq!(
                    (error.polls.len(), error.calls.len()),
                    if blocking { (0, 1) } else { (1, 0) }
                );
                assert!(took >= TIMEOUT, "gave up after {took:?}");
                // All other tasks are gone, and the stuck ones end when they can.
                wait_until(|| drops.count() == 1);
                end.send(()).unwrap();
                wait_until(|| drops.count() == if blocking { 1 } else { 2 });
                drops.assert_all();
                took
            });
        }
    });
}

/// The error names each poll, destructor and blocking call that goes on, and no work that has ended.
#[test]
fn an_error_names_what_is_stuck() {
    const TIMEOUT: Duration = Duration::from_millis(500);
    shared(|| {
        let (runtime, drops) = (runtime(3), Drops::default());
        let own = runtime.run(async {
            let class = colored::task::BlockingClass::new("thumbs", 1).unwrap();
            class.spawn(|| ()).await.unwrap();
            class
        });
        let (end, ended) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        let in_class = begun.clone();
        let class_line = line!() + 1;
        let call = own.spawn(move || {
            in_class.send(()).unwrap();
            let _ = ended.recv();
        });
        // A task whose destructor is stuck: the shutdown itself begins it.
        let (drop_end, drop_ended) = mpsc::channel::<()>();
        let stuck_drop = OnDrop(Some(move || drop_ended.recv().unwrap_or_default()));
        let dropped_line = line!() + 1;
        let dropped = runtime.handle().spawn_colored(7, async move {
            let _stuck_drop = stuck_drop;
            begun.send(()).unwrap();
            pending::<()>().await;
        });
        begins.iter().take(2).for_each(drop);
        let poll_end = stuck(&runtime, &drops, false);
        let call_end = stuck(&runtime, &drops, true);
        let error = runtime.shutdown_timeout(TIMEOUT).unwrap_err();

        let polls: Vec<_> = error.polls.iter().map(|poll| (poll.color, poll.task)).collect();
        let by_color = |color| polls.iter().find(|(of, _)| *of == Color::new(color)).unwrap().1;
        assert_eq!(polls.len(), 2, "{error}");
        assert_eq!(by_color(7), Some(dropped.id()));
        assert!(by_color(RED).is_some());
        assert_ne!(error.polls[0].worker, error.polls[1].worker);
        let mut classes: Vec<_> = error.calls.iter().map(|call| &*call.class).collect();
        classes.sort_unstable();
        assert_eq!(classes, ["spawn_blocking", "thumbs"]);
        assert!(error.calls.iter().all(|call| call.time >= TIMEOUT && call.spawned.is_some()));
        let text = error.to_string();
        for line in [class_line, dropped_line] {
            assert!(text.contains(&format!("shutdown.rs:{line}:")), "{text}");
        }
        assert!(!text.contains('\n'), "{text}");

        drop((end, drop_end, poll_end, call_end));
        wait_until(|| call.is_finished() && dropped.is_finished() && drops.count() == 1);
        drops.assert_all();
    });
}

/// Runs the closure when it is dropped.
struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.take().unwrap()();
    }
}

#[test]
fn shutdown_background_waits_for_no_thread() {
    alone(|| {
        within(Duration::from_millis(20), || {
            let (runtime, drops) = (runtime(2), Drops::default());
            let ends = [false, true].map(|blocking| stuck(&runtime, &drops, blocking));
            let begin = Instant::now();
            runtime.shutdown_background();
            let took = begin.elapsed();
            drop(ends);
            wait_until(|| drops.count() == 1);
            drops.assert_all();
            took
        });
    });
}

/// As when a process ends while a task computes.
#[test]
fn a_poll_that_outlasts_the_shutdown_may_go_on_to_a_timer() {
    shared(|| check_up_to_a_timer(Runtime::builder().workers(2), |_| ()));
}

#[test]
fn so_may_a_poll_on_a_spare_worker() {
    shared(|| {
        // Ends when the test does, and holds the only worker.
        let (_end, held) = mpsc::channel::<()>();
        check_up_to_a_timer(
            Runtime::builder().workers(1).tuning(Tuning::new().spare_workers(1)),
            |runtime| {
                let (begin, begun) = mpsc::channel();
                let _detached = runtime.handle().spawn_unique(async move {
                    begin.send(()).unwrap();
                    held.recv().unwrap_err();
                });
                begun.recv().unwrap();
            },
        );
    });
}

fn check_up_to_a_timer(builder: Builder, first: impl FnOnce(&Runtime)) {
    let (panics, drops) = (Arc::new(AtomicU64::new(0)), Drops::default());
    let counted = Arc::clone(&panics);
    let builder = builder.on_task_panic(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let runtime = builder.build().unwrap();
    first(&runtime);
    let (go_on, wait) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    let guard = drops.under(RED);
    let mut task = runtime.handle().spawn_colored(RED, async move {
        let _guard = guard;
        begin.send(()).unwrap();
        wait.recv().unwrap_err();
        sleep(Duration::from_millis(1)).await;
    });
    begun.recv().unwrap();
    runtime.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
    drop(go_on);
    wait_until(|| drops.count() == 1);
    drops.assert_all();
    wait_until(|| task.is_finished());
    assert!(task.try_take().unwrap().unwrap_err().is_cancelled());
    assert_eq!(panics.load(Ordering::Relaxed), 0);
}

#[test]
fn dropping_a_runtime_waits_for_polls_and_blocking_calls() {
    shared(|| {
        let runtime = runtime(2);
        let (done, begun) = (Arc::new(AtomicU64::new(0)), mpsc::channel());
        let work = || {
            let (done, begun) = (Arc::clone(&done), begun.0.clone());
            move || {
                begun.send(()).unwrap();
                block(Duration::from_millis(50));
                done.fetch_add(1, Ordering::Relaxed);
            }
        };
        let (call, poll) = (work(), work());
        drop(runtime.handle().spawn_blocking(call));
        drop(runtime.handle().spawn(async move { poll() }));
        begun.1.iter().take(2).for_each(drop);
        drop(runtime);
        assert_eq!(done.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn blocking_calls_that_have_not_begun_are_cancelled() {
    shared(|| {
        let runtime = Runtime::builder().workers(1).blocking_threads(1).build().unwrap();
        let end = stuck(&runtime, &Drops::default(), true);
        let token = Arc::new(());
        let calls: Vec<_> = (0..10)
            .map(|_| {
                let token = Arc::clone(&token);
                runtime.handle().spawn_blocking(move || drop(token))
            })
            .collect();
        let handle = runtime.handle().clone();
        runtime.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
        assert_eq!(Arc::strong_count(&token), 1, "what they held is gone");
        for mut call in calls {
            assert!(call.try_take().unwrap().unwrap_err().is_cancelled());
        }
        let mut late = handle.spawn_blocking(|| ());
        assert!(late.try_take().unwrap().unwrap_err().is_cancelled());
        end.send(()).unwrap();
    });
}

#[test]
fn waits_for_the_runtime_end_with_an_error() {
    shared(|| {
        let (runtime, waits) = (runtime(2), mpsc::channel());
        let (handle, begun) = (runtime.handle().clone(), waits.0.clone());
        let guest = thread::spawn(move || {
            panic_of(|| {
                handle.block_on(async {
                    begun.send(()).unwrap();
                    pending::<()>().await;
                });
            })
        });
        // A task on another runtime, which waits for a task of the runtime that ends.
        let task = runtime.handle().spawn_colored(RED, async move {
            waits.0.send(()).unwrap();
            pending::<()>().await;
        });
        let other = colored_tests::runtime(1);
        let waiter = other.handle().spawn(task);
        waits.1.iter().take(2).for_each(drop);
        shut_down(runtime);
        assert!(other.run(waiter).unwrap().unwrap_err().is_cancelled());
        assert_eq!(guest.join().unwrap(), "the runtime was shut down while `block_on` waited");
    });
}

#[test]
fn a_call_that_can_no_longer_run_panics_and_says_why() {
    shared(|| {
        let (runtime, other) = (runtime(1), runtime(1));
        let end = stuck(&runtime, &Drops::default(), false);
        let cell = runtime.handle().cell(RED, ());
        let (begun, begins) = mpsc::channel();
        let caller = other.handle().spawn(async move {
            let mut call = std::pin::pin!(cell.call(|()| ()));
            std::future::poll_fn(|cx| {
                let polled = call.as_mut().poll(cx);
                let _ = begun.send(());
                polled
            })
            .await;
        });
        begins.recv().unwrap();
        runtime.shutdown_background();
        end.send(()).unwrap();
        let error = other.run(caller).unwrap_err();
        assert!(message(&*error.into_panic()).contains("shut down before the call of a cell of"));
    });
}

#[test]
fn a_runtime_may_be_dropped_on_its_own_threads() {
    shared(|| {
        for _ in 0..20 {
            let drops = Drops::default();
            for place in 0..3 {
                let owned = Arc::new(Mutex::new(Some(runtime(2))));
                let handle = owned.lock().unwrap().as_ref().unwrap().handle().clone();
                drop(handle.spawn_colored(RED, keep(drops.under(RED), pending::<()>())));
                let (done, over) = mpsc::channel();
                let end = move || {
                    drop(owned.lock().unwrap().take());
                    done.send(()).unwrap();
                };
                match place {
                    0 => drop(handle.spawn(async move { end() })),
                    1 => drop(handle.spawn_blocking(end)),
                    _ => handle.cell(RED, ()).post(move |()| end()),
                }
                over.recv().unwrap();
            }
            wait_until(|| drops.count() == 3);
            drops.assert_all();
        }
    });
}

#[test]
fn sockets_and_timers_outlive_the_runtime_and_say_so() {
    shared(|| {
        let (first, second) = (runtime(1), runtime(1));
        let address = colored_tests::echo::serve(second.handle());
        let (mut stream, timer) = first.run(async move {
            (TcpStream::connect(address).await.unwrap(), Box::pin(sleep(LONG)))
        });
        shut_down(first);
        let text = second.run(async move { stream.read(&mut [0]).await.unwrap_err().to_string() });
        assert!(text.starts_with("the runtime of this socket has shut down"), "{text}");
        drop(timer);
    });
}

/// A runtime has no cycle of references: the values that its tasks share are freed.
#[test]
fn a_runtime_whose_tasks_hold_its_handle_is_freed() {
    shared(|| {
        let token = Arc::new(());
        for _ in 0..10 {
            let runtime = runtime(2);
            for color in 0..20 {
                let (handle, ours) = (runtime.handle().clone(), Arc::clone(&token));
                let cell = runtime.handle().cell(color, Arc::clone(&token));
                drop(runtime.handle().spawn_colored(color, async move {
                    let held = (handle, ours, cell.clone());
                    spawn_unique(async move { cell.call(|_| ()).await }).await.unwrap();
                    pending::<()>().await;
                    drop(held);
                }));
            }
            runtime.run(async { spawn_colored(19, async {}).await.unwrap() });
            shut_down(runtime);
        }
        assert_eq!(Arc::strong_count(&token), 1);
    });
}
