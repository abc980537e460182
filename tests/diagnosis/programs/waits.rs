//! Programs that wait for locks, and for colors that are kept.

use super::{assert_named, compute, each, ms, unique, us, visitors};
use colored::report::{Fault, Waiting};
use colored::time::sleep;
use colored::{Builder, Color, ColorCell, exclusive, spawn_colored, spawn_unique, sync};
use colored_tests::{alone, attempts};
use std::future::pending;
use std::sync::Arc;

/// Eight tasks that share one lock, and hold it across an await.
#[test]
fn a_lock_that_is_held_all_the_time_limits() {
    assert_named(Some(Fault::LockWait), || {
        visitors();
        let lock = Arc::new(sync::Mutex::new(0));
        each(8, unique, |_| {
            let lock = Arc::clone(&lock);
            async move {
                loop {
                    let mut guard = lock.lock().await;
                    sleep(ms(3)).await;
                    *guard += 1;
                }
            }
        });
    });
}

/// As above, in sections of two colors: both are kept because of the lock.
#[test]
fn a_lock_in_sections_of_two_colors_limits() {
    assert_named(Some(Fault::LockWait), || {
        let lock = Arc::new(sync::Mutex::new(0));
        each(
            8,
            |n| Color::new(n % 2 + 1),
            |_| {
                let lock = Arc::clone(&lock);
                async move {
                    loop {
                        exclusive(async {
                            let _guard = lock.lock().await;
                            sleep(ms(5)).await;
                        })
                        .await;
                    }
                }
            },
        );
    });
}

#[test]
fn a_lock_that_writers_hold_across_awaits_limits() {
    assert_named(Some(Fault::LockWait), || {
        visitors();
        let lock = Arc::new(sync::RwLock::new(0));
        each(6, unique, |n| {
            let lock = Arc::clone(&lock);
            async move {
                loop {
                    if n % 3 == 0 {
                        drop(lock.read().await);
                        sleep(ms(1)).await;
                    } else {
                        let _guard = lock.write().await;
                        sleep(ms(4)).await;
                    }
                }
            }
        });
    });
}

/// Each of two tasks has one lock, and waits for the other's.
#[test]
fn two_locks_in_two_orders_are_named() {
    assert_named(Some(Fault::LockWait), || {
        visitors();
        let locks = [(); 2].map(|()| Arc::new(sync::Mutex::new(())));
        each(2, unique, |n| {
            let [first, second] = [0, 1].map(|at| Arc::clone(&locks[(n as usize + at) % 2]));
            async move {
                let _first = first.lock().await;
                sleep(ms(5)).await;
                let _second = second.lock().await;
            }
        });
    });
}

/// The section waits for a lock that a task of its own color has.
#[test]
fn a_section_that_waits_for_a_lock_of_its_own_color_is_stuck() {
    assert_named(Some(Fault::StuckColor), || {
        visitors();
        let lock = Arc::new(sync::Mutex::new(0));
        each(
            8,
            |_| Color::named("kept"),
            |n| {
                let lock = Arc::clone(&lock);
                async move {
                    loop {
                        if n % 2 == 0 {
                            let _guard = lock.lock().await;
                            sleep(ms(2)).await;
                        } else {
                            exclusive(async { drop(lock.lock().await) }).await;
                        }
                    }
                }
            },
        );
    });
}

/// Most of the tasks never had a turn.
#[test]
fn a_section_that_never_ends_keeps_its_color() {
    assert_named(Some(Fault::StuckColor), || {
        visitors();
        each(5, |_| Color::named("kept"), async |_| exclusive(pending()).await);
    });
}

/// Nobody waits but the calls of others.
#[test]
fn a_section_that_never_ends_keeps_its_cell() {
    assert_named(Some(Fault::StuckColor), || {
        visitors();
        let cell = ColorCell::new(Color::named("kept"), 0);
        let keeper = cell.clone();
        drop(spawn_colored(Color::named("kept"), async move {
            keeper.exclusive(async |_| pending::<()>().await).await;
        }));
        each(5, unique, |_| {
            let cell = cell.clone();
            async move { cell.call(|value| *value += 1).await }
        });
    });
}

#[test]
fn sections_one_after_the_other_keep_their_color() {
    assert_named(Some(Fault::Convoy), || {
        each(
            8,
            |_| Color::named("kept"),
            async |_| {
                loop {
                    exclusive(sleep(ms(20))).await;
                }
            },
        );
    });
}

/// What the runtime does not know is no fault, and is not denied.
#[test]
fn waits_for_something_of_their_own_are_counted_by_the_place_of_the_spawn() {
    alone(|| {
        attempts::some(|| {
            let runtime = Builder::new().workers(2).warnings(false).build().expect("it starts");
            let line = runtime.run(async {
                let line = line!() + 1;
                (0..7).for_each(|_| drop(spawn_unique(pending::<()>())));
                sleep(ms(50)).await;
                line
            });
            let report = runtime.handle().observe_blocking(ms(200));
            println!("{report}");
            runtime.shutdown_background();
            let is_own = |wait: &&Waiting| wait.what == "other" && wait.spawned.line() == line;
            let own = report.waits.iter().find(is_own);
            let text = report.to_string();
            report.fault().is_none()
                && own.is_some_and(|wait| wait.tasks >= 6.9 && wait.part >= 0.99)
                && text.contains("7 tasks spawned at ")
                && !text.contains("nothing limits")
        });
    });
}

#[test]
fn a_lock_that_is_free_half_of_the_time_is_no_fault() {
    assert_named(None, || {
        let lock = Arc::new(sync::Mutex::new(0));
        each(4, unique, |n| {
            let lock = Arc::clone(&lock);
            async move {
                loop {
                    {
                        let _guard = lock.lock().await;
                        sleep(ms(1)).await;
                    }
                    sleep(ms(8 + n)).await;
                }
            }
        });
    });
}

/// One of them has the lock, and waits for a job.
#[test]
fn workers_that_share_a_receiver_by_a_lock_are_idle() {
    assert_named(None, || {
        let (send, receive) = sync::mpsc::channel::<u64>(8);
        let receive = Arc::new(sync::Mutex::new(receive));
        each(4, unique, |_| {
            let receive = Arc::clone(&receive);
            async move {
                loop {
                    let job = receive.lock().await.recv().await;
                    if job.is_none() {
                        return;
                    }
                    compute(us(20));
                }
            }
        });
        // Now and then there is one.
        each(1, unique, move |_| {
            let send = send.clone();
            async move {
                while send.send(1).await.is_ok() {
                    sleep(ms(700)).await;
                }
            }
        });
    });
}

/// At any time some task waits for the lock of some key.
#[test]
fn a_lock_for_each_key_is_no_fault() {
    assert_named(None, || {
        let locks: Arc<Vec<_>> = Arc::new((0..64).map(|_| sync::Mutex::new(0)).collect());
        each(64, unique, |n| {
            let locks = Arc::clone(&locks);
            async move {
                for round in 0_u64.. {
                    let key = (n * 31 + round * (2 * n + 1) * 7) % 64;
                    let _guard = locks[key as usize].lock().await;
                    sleep(ms(20)).await;
                }
            }
        });
    });
}

#[test]
fn permits_that_bound_what_runs_are_no_fault() {
    assert_named(None, || {
        let permits = Arc::new(sync::Semaphore::new(3));
        each(12, unique, |_| {
            let permits = Arc::clone(&permits);
            async move {
                loop {
                    let _permit = permits.acquire().await;
                    sleep(ms(3)).await;
                }
            }
        });
    });
}
