//! G10: no stuck worker delays sockets or timers.

use colored::Runtime;
use colored::net::TcpStream;
use colored::runtime::Tuning;
use colored::time::{Instant, sleep};
use colored_tests::attempts::{percentile, some, within};
use colored_tests::soak::repeat;
use colored_tests::{alone, block, echo, join_all, runtime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const SOCKETS: usize = 100;
const BUSY: Duration = Duration::from_millis(200);
const BOUND: Duration = Duration::from_millis(15);

/// As [`block`], but the worker is busy all the time. Where there are fewer cores than such workers,
/// it lets the system run other threads on its core, which stands for the cores that are missing.
fn spin(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        thread::yield_now();
    }
}

/// The second worst of a hundred round trips, while `disturb` runs again and again.
fn disturbed(
    clients: &Runtime,
    streams: Vec<TcpStream>,
    rounds: usize,
    mut disturb: impl FnMut(),
) -> Duration {
    let measured = clients.handle().spawn(echo::measure(streams, rounds as u64));
    while !measured.is_finished() {
        disturb();
    }
    let times = clients.run(measured).unwrap();
    assert_eq!(times.len(), SOCKETS * rounds, "each was answered");
    percentile(times, 99)
}

/// `busy` of the server's workers are each inside one poll of 200 ms, over and over.
fn beside_busy_polls(workers: usize, busy: usize, poll: fn(Duration)) {
    alone(|| {
        let (server, clients) = (runtime(workers), runtime(1));
        let address = echo::serve(server.handle());
        within(BOUND, || {
            let streams = echo::connect(&clients, address, SOCKETS);
            disturbed(&clients, streams, repeat(20, 80), || {
                let stuck: Vec<_> = (0..busy)
                    .map(|_| server.handle().spawn_unique(async move { poll(BUSY) }))
                    .collect();
                clients.run(join_all(stuck));
            })
        });
    });
}

/// Shows G10.
#[test]
fn echoes_beside_one_of_two_workers_blocked() {
    beside_busy_polls(2, 1, block);
}

/// Shows G10.
#[test]
fn echoes_beside_one_of_two_workers_spinning() {
    beside_busy_polls(2, 1, spin);
}

/// Shows G10.
#[test]
fn echoes_beside_all_workers_but_one_blocked() {
    beside_busy_polls(8, 7, block);
}

/// Shows G10.
#[test]
fn echoes_beside_all_workers_but_one_spinning() {
    beside_busy_polls(8, 7, spin);
}

/// Shows G10.
#[test]
fn echoes_beside_a_whole_shard_blocked() {
    beside_a_busy_shard(block);
}

/// Shows G10.
#[test]
fn echoes_beside_a_whole_shard_spinning() {
    beside_a_busy_shard(spin);
}

/// Sixteen workers have two shards, and those with even numbers poll the first.
fn beside_a_busy_shard(poll: fn(Duration)) {
    const WORKERS: usize = 16;
    alone(|| {
        let server = Runtime::builder()
            .workers(WORKERS)
            .tuning(Tuning::new().spare_workers(0))
            .build()
            .unwrap();
        let clients = runtime(1);
        let address = echo::serve(server.handle());
        within(BOUND, || {
            let streams = echo::connect(&clients, address, SOCKETS);
            disturbed(&clients, streams, repeat(20, 80), || {
                // When all are in here, each is on another worker.
                let meeting = Arc::new(Barrier::new(WORKERS));
                let meet = || {
                    let meeting = Arc::clone(&meeting);
                    server.handle().spawn_unique(async move {
                        meeting.wait();
                        let even = number_of_this_worker().is_multiple_of(2);
                        if even {
                            poll(BUSY);
                        }
                        even
                    })
                };
                let polls: Vec<_> = (0..WORKERS).map(|_| meet()).collect();
                let blocked = polls.into_iter().map(|poll| clients.run(poll).unwrap());
                let blocked = blocked.filter(|blocked| *blocked).count();
                assert_eq!(blocked, WORKERS / 2, "the whole shard, and nobody else");
            })
        });
    });
}

fn number_of_this_worker() -> usize {
    let thread = thread::current();
    let name = thread.name().expect("a worker has a name");
    name.rsplit_once("-w").and_then(|(_, number)| number.parse().ok()).expect("it ends with -wN")
}

/// The timer lies in the wheel of a worker that then gets stuck.
/// Shows G10.
#[test]
fn a_timer_fires_while_its_worker_is_stuck() {
    alone(|| {
        let runtime =
            Runtime::builder().workers(2).tuning(Tuning::new().spare_workers(0)).build().unwrap();
        within(BOUND, || {
            let (armed, arming) = std::sync::mpsc::channel();
            let over = Arc::new(AtomicBool::new(false));
            let ours = Arc::clone(&over);
            let late = runtime.handle().spawn_unique(async move {
                let due = Instant::now() + Duration::from_millis(20);
                let timer = colored::spawn_unique(async move {
                    armed.send(thread::current().id()).unwrap();
                    sleep(due.saturating_duration_since(Instant::now())).await;
                    ours.store(true, Ordering::Release);
                    Instant::now().saturating_duration_since(due)
                });
                timer.await.unwrap()
            });
            let worker = arming.recv().unwrap();
            // Both workers take one of these at first; the one that armed the timer stays.
            let meeting = Arc::new(Barrier::new(2));
            let stuck = [(); 2].map(|()| {
                let meeting = Arc::clone(&meeting);
                runtime.handle().spawn_unique(async move {
                    meeting.wait();
                    if thread::current().id() == worker {
                        block(Duration::from_millis(100));
                    }
                })
            });
            let late = runtime.run(late).unwrap();
            // The next attempt has a rendezvous of its own: a worker that stayed in each would wait for ever.
            stuck.into_iter().for_each(|stuck| runtime.run(stuck).unwrap());
            late
        });
    });
}

/// Shows G10.
#[test]
fn all_is_delivered_when_all_workers_have_been_stuck() {
    alone(|| {
        let server =
            Runtime::builder().workers(2).tuning(Tuning::new().spare_workers(0)).build().unwrap();
        let clients = runtime(1);
        let address = echo::serve(server.handle());
        // No worker can answer while all block; nothing is lost by it. A pause of this thread before
        // it disturbs may be longer than the rounds.
        some(|| {
            let streams = echo::connect(&clients, address, SOCKETS);
            let worst = disturbed(&clients, streams, 5, || {
                let stuck = [(); 2].map(|()| server.handle().spawn_unique(async { block(BUSY) }));
                stuck.into_iter().for_each(|stuck| clients.run(stuck).unwrap());
            });
            worst >= Duration::from_millis(50)
        });
    });
}
