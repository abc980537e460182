//! A dump of a million waiting tasks: the aims are less than a second, and delays of 1 ms for the others.

use colored::Color;
use colored::time::{Instant, sleep};
use colored_tests::attempts::percentile;
use colored_tests::soak::times;
use colored_tests::{alone, runtime};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Waits for ever, and counts its polls.
async fn wait_for_ever(polls: Arc<AtomicUsize>) {
    std::future::poll_fn(|_| {
        polls.fetch_add(1, Ordering::Relaxed);
        std::task::Poll::Ready(())
    })
    .await;
    pending::<()>().await;
}

/// Shows G14.
#[test]
fn a_dump_of_many_tasks_polls_none_and_delays_others_little() {
    alone(|| {
        let tasks = usize::try_from(times(30_000, 1_000_000)).unwrap();
        let runtime = runtime(2);
        let handle = runtime.handle();
        let polls = Arc::new(AtomicUsize::new(0));
        for n in 0..tasks {
            let future = wait_for_ever(Arc::clone(&polls));
            // A color of its own, one of a thousand, or one for all.
            drop(match n % 4 {
                0 | 1 => handle.spawn_unique(future),
                2 => handle.spawn_colored(1_000 + n as u64 % 1_000, future),
                _ => handle.spawn_colored(5, future),
            });
        }
        colored_tests::wait_until(|| polls.load(Ordering::Relaxed) == tasks);
        // A unique color is listed once a poll in it is over.
        colored_tests::wait_until(|| handle.metrics().parked == handle.workers());
        let stop = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&stop);
        // Of the color that has most tasks.
        let late = handle.spawn_colored(Color::new(5), async move {
            let mut late = Vec::new();
            while !end.load(Ordering::Relaxed) {
                let begin = Instant::now();
                sleep(Duration::from_micros(200)).await;
                late.push(begin.elapsed());
            }
            late
        });
        let mut took = Vec::new();
        // Where other processes take the CPUs, the largest color may take longer than a dump waits for it.
        for _ in 0..50 {
            let dump = handle.dump();
            if !dump.unread().is_empty() {
                continue;
            }
            took.push(dump.took());
            let waiting = dump.tasks().filter(|task| task.id() != late.id());
            assert_eq!(waiting.count(), tasks);
            if took.len() == 5 {
                break;
            }
        }
        assert_eq!(took.len(), 5, "complete dumps of 50");
        stop.store(true, Ordering::Relaxed);
        let late = runtime.run(late).unwrap();
        assert_eq!(polls.load(Ordering::Relaxed), tasks, "a dump has polled");
        let (least, p99) = (*took.iter().min().unwrap(), percentile(late, 99));
        println!("{tasks} tasks: {took:?}; sleeps of 0.2 ms beside the dumps took {p99:?} at p99");
        // Without optimization, and beside other programs, it takes several times as long.
        let limit = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });
        assert!(least < limit, "{least:?}");
    });
}
