//! Futures that stay on one thread, where that is hardest: in a call to another runtime's cell,
//! beside a guest's own future, and at shutdown.

use colored::time::{Duration, sleep};
use colored::{
    Color, spawn_blocking, spawn_colored, spawn_here, spawn_local, spawn_unique, yield_now,
};
use colored_tests::drops::{Drops, keep};
use colored_tests::{join_all, runtime, shared};
use std::collections::HashSet;
use std::future::pending;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::thread;

/// The worker that calls holds the other runtime's lane, whose workers are other threads.
#[test]
fn a_task_spawned_in_a_call_to_another_runtime_stays_here() {
    shared(|| {
        let (ours, other) = (runtime(1), runtime(1));
        let cell = other.handle().cell(Color::new(3), ());
        let (send, receive) = channel();
        ours.run(async move {
            let spawn = move |(): &mut ()| {
                let (here, not_send) = (thread::current().id(), Rc::new(()));
                drop(spawn_local(async move {
                    drop(not_send);
                    send.send((here, thread::current().id())).unwrap();
                }));
            };
            cell.call(spawn).await;
        });
        let (made, polled) = receive.recv().unwrap();
        assert_eq!(made, polled);
    });
}

/// A guest looks at its own future between slices, and so its slices must end.
#[test]
fn an_endless_local_task_does_not_keep_a_guest() {
    shared(|| {
        let runtime = runtime(1);
        let number = runtime.handle().block_on(async {
            drop(spawn_local(async {
                loop {
                    yield_now().await;
                }
            }));
            5
        });
        assert_eq!(number, 5);
    });
}

/// Futures of two workers under one color, and the first to be cancelled is slow: the other worker has nothing to do
/// meanwhile, and must not count as ended.
/// Shows G8.
#[test]
fn local_tasks_of_two_workers_are_dropped_at_shutdown() {
    shared(|| {
        for _ in 0..10 {
            let (runtime, drops) = (runtime(2), Drops::default());
            let all = drops.clone();
            runtime.run(async move {
                let color = Color::new(9);
                let pin_two = async move {
                    let mut seen = HashSet::new();
                    while seen.len() < 2 {
                        if seen.insert(thread::current().id()) {
                            drop(spawn_local(keep(all.under(color), pending::<()>())));
                        }
                        // Moves the color between the workers: the worker that is done last wakes it, and runs it.
                        join_all([spawn_unique(sleepy()), spawn_unique(sleepy())]).await;
                    }
                    let slow = (Slow, all.under(color));
                    drop(spawn_here(keep(slow, pending::<()>())));
                    sleep(Duration::from_millis(2)).await;
                };
                spawn_colored(color, pin_two).await.unwrap();
            });
            runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
            drops.assert_exact(3);
        }
    });
}

async fn sleepy() {
    thread::sleep(Duration::from_micros(300));
}

struct Slow;

impl Drop for Slow {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(20));
    }
}

/// A guest whose runtime shuts down runs its pinned tasks, and then its `block_on` panics.
#[test]
fn a_guest_with_local_tasks_returns_at_shutdown() {
    shared(|| {
        let (runtime, drops) = (runtime(1), Drops::default());
        let handle = runtime.handle().clone();
        let own = [0; 3].map(|_| drops.under(Color::DEFAULT));
        let (ready, is_ready) = channel();
        let guest = thread::spawn(move || {
            handle.block_on(async move {
                let [first, unpinned, last] = own;
                drop(spawn_local(keep(first, pending::<()>())));
                yield_now().await;
                drop(colored::spawn(keep(unpinned, pending::<()>())));
                spawn_blocking(|| ()).await.unwrap();
                drop(spawn_local(keep(last, pending::<()>())));
                yield_now().await;
                ready.send(()).unwrap();
                pending::<()>().await;
            });
        });
        is_ready.recv().unwrap();
        runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
        assert!(guest.join().is_err(), "the future was cancelled, so there is no output");
        drops.assert_exact(3);
    });
}
