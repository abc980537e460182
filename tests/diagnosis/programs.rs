//! A report names the fault of small programs whose shapes `examples/faults` does not have, and none of healthy ones.

mod waits;

use colored::diagnose::Options;
use colored::diagnose::report::Fault;
use colored::time::{Duration, sleep};
use colored::{
    Builder, Color, ColorCell, block_in_place, exclusive, spawn, spawn_blocking, spawn_colored,
    spawn_unique, when, yield_now,
};
use colored_tests::{alone, attempts};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Instant;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Spawns so many tasks, each under the color that its number gives.
fn each<F>(count: u64, color: impl Fn(u64) -> Color, task: impl Fn(u64) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    for number in 0..count {
        let _detached = spawn_colored(color(number), task(number));
    }
}

fn unique(_: u64) -> Color {
    Color::unique()
}

/// Eight colors that do something now and then.
fn visitors() {
    each(
        8,
        |n| Color::new(1000 + n),
        async |_| {
            loop {
                sleep(ms(2)).await;
                compute(us(30));
            }
        },
    );
}

/// The report of a program names this fault first, or none.
#[track_caller]
fn assert_named(fault: Option<Fault>, program: impl Fn() + Copy + Send + 'static) {
    alone(|| {
        attempts::some(|| {
            let quiet = Options::new().warnings(false);
            let runtime = Builder::new().workers(2).diagnose(quiet).build().expect("it starts");
            runtime.run(async move {
                program();
                sleep(ms(50)).await;
            });
            let report = runtime.handle().observe_blocking(ms(400));
            println!("{report}");
            runtime.shutdown_background();
            report.fault() == fault
        });
    });
}

#[test]
fn workers_that_wait_for_a_lock_of_the_standard_library_are_blocked() {
    assert_named(Some(Fault::BlockedWorker), || {
        visitors();
        let lock = Arc::new(Mutex::new(0));
        each(6, unique, |_| {
            let lock = Arc::clone(&lock);
            async move {
                loop {
                    {
                        let mut guard = lock.lock().expect("no task panics");
                        *guard += 1;
                        thread::sleep(ms(3));
                    }
                    sleep(ms(1)).await;
                }
            }
        });
    });
}

#[test]
fn a_worker_that_waits_for_a_channel_of_the_standard_library_is_blocked() {
    assert_named(Some(Fault::BlockedWorker), || {
        visitors();
        let (send, receive) = mpsc::channel::<()>();
        let _detached = spawn_unique(async move {
            // Until the runtime ends: then the test has an end too.
            let _ = receive.recv_timeout(ms(3000));
            drop(send);
        });
    });
}

#[test]
fn a_task_of_the_default_color_that_blocks_is_no_matter_of_colors() {
    assert_named(Some(Fault::BlockedWorker), || {
        drop(spawn(async {
            loop {
                sleep(ms(10)).await;
                thread::sleep(ms(40));
            }
        }));
        for _ in 0..8 {
            drop(spawn(async {
                loop {
                    sleep(ms(2)).await;
                    compute(us(30));
                }
            }));
        }
    });
}

#[test]
fn a_poll_that_does_not_end_is_long() {
    assert_named(Some(Fault::LongPoll), || {
        visitors();
        let _detached = spawn_unique(async { compute(ms(1500)) });
    });
}

#[test]
fn a_loop_over_a_channel_of_another_crate_that_is_never_empty_is_a_long_poll() {
    assert_named(Some(Fault::LongPoll), || {
        // tokio's own, which takes no unit of the budget.
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
        each(4, unique, |_| {
            let send = send.clone();
            async move {
                loop {
                    for line in 0..20 {
                        let _ = send.send(line);
                    }
                    sleep(ms(1)).await;
                }
            }
        });
        let _detached = spawn_colored(Color::named("consumer"), async move {
            while receive.recv().await.is_some() {
                compute(us(25));
            }
        });
    });
}

#[test]
fn a_cell_that_every_when_wants_is_hot() {
    assert_named(Some(Fault::HotColor), || {
        let bank = ColorCell::new(Color::named("bank"), 0_u64);
        each(20, unique, |account| {
            let (bank, own) = (bank.clone(), ColorCell::new(Color::new(account + 5), 0_u64));
            async move {
                loop {
                    compute(us(5));
                    when((&bank, &own), |bank, own| {
                        compute(us(60));
                        (*bank, *own) = (*bank + 1, *own + 1);
                    })
                    .await;
                }
            }
        });
    });
}

#[test]
fn a_section_that_calls_another_color_is_a_convoy() {
    assert_named(Some(Fault::Convoy), || {
        let stock = ColorCell::new(Color::named("stock"), 0_u64);
        each(
            20,
            |_| Color::named("keeper"),
            |_| {
                let stock = stock.clone();
                async move {
                    loop {
                        exclusive(async {
                            stock.call(|stock| *stock += 1).await;
                            sleep(ms(1)).await;
                        })
                        .await;
                        yield_now().await;
                    }
                }
            },
        );
    });
}

#[test]
fn a_color_that_gets_tasks_faster_than_it_runs_them_has_a_queue_that_grows() {
    assert_named(Some(Fault::UnboundedQueue), || {
        let _detached = spawn_unique(async {
            loop {
                each(20, |_| Color::named("audit"), async |_| compute(us(100)));
                sleep(ms(1)).await;
            }
        });
    });
}

#[test]
fn blocking_threads_and_announced_blocks_are_no_fault() {
    assert_named(None, || {
        visitors();
        each(2, unique, async |_| {
            loop {
                let _ = spawn_blocking(|| thread::sleep(ms(20))).await;
            }
        });
        each(1, unique, async |_| {
            loop {
                sleep(ms(5)).await;
                block_in_place(|| thread::sleep(ms(20)));
            }
        });
    });
}

#[test]
fn a_fan_out_with_pauses_is_no_fault() {
    assert_named(None, || {
        each(1, unique, async |_| {
            loop {
                let tasks: Vec<_> =
                    (0..40).map(|_| spawn_unique(async { compute(us(400)) })).collect();
                for task in tasks {
                    let _ = task.await;
                }
                sleep(ms(5)).await;
            }
        });
    });
}
