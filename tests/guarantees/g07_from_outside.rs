//! G7: work from a foreign thread, the blocking pool, a timer or a socket has its turn beside tasks that never end.

use colored::time::{Duration, Instant, sleep};
use colored::{Color, Runtime, hop, spawn_blocking, spawn_local, spawn_unique, yield_now};
use colored_tests::attempts::{percentile, within};
use colored_tests::{Trace, alone, block, echo, join_all, runtime, shared, wait_until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn spin(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Tasks that work for so long in each poll and yield, until this is dropped.
struct Busy {
    over: Arc<AtomicBool>,
    polls: Arc<AtomicU64>,
}

impl Busy {
    fn start(runtime: &Runtime, tasks: usize, work: Duration) -> Self {
        let busy = Self { over: Arc::default(), polls: Arc::default() };
        for _ in 0..tasks {
            let (over, polls) = (Arc::clone(&busy.over), Arc::clone(&busy.polls));
            drop(runtime.handle().spawn_unique(async move {
                while !over.load(Ordering::Relaxed) {
                    polls.fetch_add(1, Ordering::Relaxed);
                    spin(work);
                    yield_now().await;
                }
            }));
        }
        wait_until(|| busy.polls() > 1_000);
        busy
    }

    fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Four colors, two for each worker.
const BUSY: usize = 4;

/// Waits until so many have ended, and returns how often the busy ones were polled meanwhile.
fn polls_until(done: &AtomicU64, count: u64, busy: &Busy) -> u64 {
    let before = busy.polls();
    while done.load(Ordering::Relaxed) < count {
        std::hint::spin_loop();
        std::thread::yield_now();
    }
    busy.polls() - before
}

/// While 500 tasks come and run, a worker goes round its two busy lanes a few times, and not once for each
/// task: a slice is 10 polls of 20 us, so with one task in 61 slices there were 300,000 polls. The bound is on
/// polls, so it holds on a slow machine; this thread may be late by some slices when it looks.
/// Shows G7.
#[test]
fn five_hundred_spawns_from_outside_beside_tasks_that_never_end() {
    shared(|| {
        let runtime = runtime(2);
        let busy = Busy::start(&runtime, BUSY, Duration::from_micros(20));
        let done = Arc::new(AtomicU64::new(0));
        for _ in 0..500 {
            let done = Arc::clone(&done);
            drop(runtime.handle().spawn_unique(async move {
                done.fetch_add(1, Ordering::Relaxed);
            }));
        }
        let polls = polls_until(&done, 500, &busy);
        assert!(polls < 20_000, "{polls} polls of busy tasks meanwhile");
    });
}

/// A blocking thread wakes each of 300 tasks. The blocking threads take turns for some milliseconds; each result waits
/// for a round.
/// Shows G7.
#[test]
fn results_of_blocking_calls_beside_tasks_that_never_end() {
    shared(|| {
        let runtime = Runtime::builder().workers(2).blocking_threads(8).build().unwrap();
        let busy = Busy::start(&runtime, BUSY, Duration::from_micros(20));
        let done = Arc::new(AtomicU64::new(0));
        let all = Arc::clone(&done);
        drop(runtime.handle().spawn_unique(async move {
            for _ in 0..300 {
                let done = Arc::clone(&all);
                drop(spawn_unique(async move {
                    spawn_blocking(|| block(Duration::from_micros(50))).await.unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }));
            }
        }));
        let polls = polls_until(&done, 300, &busy);
        assert!(polls < 20_000, "{polls} polls of busy tasks meanwhile");
    });
}

/// A busy worker looks for events and due timers by the clock, not by the number of its slices: a slice is 200 us long
/// here, so a round of two is 0.4 ms.
/// Shows G7.
#[test]
fn timers_and_sockets_beside_full_slices() {
    alone(|| {
        let (server, clients) = (runtime(2), runtime(1));
        let address = echo::serve(server.handle());
        let _busy = Busy::start(&server, BUSY, Duration::from_micros(100));
        within(Duration::from_millis(5), || {
            let sleeper = server.handle().spawn_unique(async {
                let mut late = Vec::new();
                for _ in 0..50 {
                    let begin = Instant::now();
                    sleep(Duration::from_millis(2)).await;
                    late.push(begin.elapsed().saturating_sub(Duration::from_millis(2)));
                }
                late
            });
            let streams = echo::connect(&clients, address, 4);
            let echoes = clients.run(echo::measure(streams, 50));
            let late = server.run(sleeper).unwrap();
            percentile(late, 50).max(percentile(echoes, 50))
        });
    });
}

/// A thread inside `block_on` ends a slice by its time too.
/// Shows G7.
#[test]
fn a_turn_of_slow_polls_has_few_where_a_thread_blocks_on_them() {
    shared(|| {
        let (runtime, trace) = (runtime(1), Trace::new());
        runtime.block_on(async {
            join_all([1, 2].map(|color| {
                let trace = trace.clone();
                spawn_local(async move {
                    hop(Color::new(color)).await;
                    for _ in 0..50 {
                        trace.push(color);
                        block(Duration::from_millis(1));
                        yield_now().await;
                    }
                })
            }))
            .await;
        });
        let trace = trace.take();
        // When one task has ended the other one is alone.
        let last = *trace.last().expect("there are events");
        let end = trace.iter().rposition(|color| *color != last).map_or(0, |at| at + 1);
        let longest = trace[..end].chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0);
        assert!((1..=9).contains(&longest), "a turn of {longest} polls of a millisecond");
    });
}
