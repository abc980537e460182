//! A million tasks that wait when their runtime ends: each future is dropped once, and soon.

use colored::{Color, JoinHandle, Runtime, spawn_unique};
use colored_tests::gate::Gate;
use colored_tests::shared;
use colored_tests::soak::repeat;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A group of tasks, of four.
fn group() -> u64 {
    repeat(50_000, 250_000) as u64
}

/// Much more time than the end takes, even on a busy machine without optimization.
const SOON: Duration = Duration::from_secs(120);

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

/// Counts its drops.
struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

async fn wait_for_ever(_counted: Counted) {
    pending::<()>().await;
}

/// Stacks are small: ending one task inside the end of another would overflow them.
fn runtime() -> Runtime {
    Runtime::builder().workers(2).thread_stack_size(1 << 18).build().unwrap()
}

/// Ends the runtime, and lets the gate go when that has begun.
fn end(runtime: Runtime, gate: Gate) {
    let begin = Instant::now();
    runtime.shutdown_background();
    gate.open();
    println!("the caller has waited for {:?}", begin.elapsed());
}

/// Shows G8.
#[test]
fn a_million_tasks_are_dropped_at_shutdown() {
    shared(|| {
        let (runtime, dropped) = (runtime(), Arc::new(AtomicU64::new(0)));
        let counted = || Counted(Arc::clone(&dropped));
        let group = group();
        for number in 0..group {
            // A color of its own, one of a thousand, and one for all.
            drop(runtime.spawn_unique(wait_for_ever(counted())));
            drop(runtime.spawn_colored(1_000 + number % 1_000, wait_for_ever(counted())));
            drop(runtime.spawn_colored(RED, wait_for_ever(counted())));
        }
        // These are never polled.
        let gate = Gate::close(runtime.handle(), BLUE);
        for _ in 0..group {
            drop(runtime.spawn_colored(BLUE, wait_for_ever(counted())));
        }
        let begin = Instant::now();
        end(runtime, gate);
        while dropped.load(Ordering::Relaxed) < 4 * group {
            assert!(
                begin.elapsed() < SOON,
                "{} are left",
                4 * group - dropped.load(Ordering::Relaxed)
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        println!("dropped after {:?}", begin.elapsed());
        // Time for a second drop to show.
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(dropped.load(Ordering::Relaxed), 4 * group);
        assert_eq!(Arc::strong_count(&dropped), 1);
    });
}

/// Each task joins the next one. The end of the last task ends all joins.
#[test]
fn a_long_chain_of_joins_ends_with_the_runtime() {
    async fn wait_for(next: JoinHandle<()>, _counted: Counted) {
        // The runtime has ended.
        let _cancelled = next.await;
    }
    shared(|| {
        let length = repeat(30_000, 100_000) as u64;
        for whole in [true, false] {
            let (runtime, dropped) = (runtime(), Arc::new(AtomicU64::new(0)));
            let count = Arc::clone(&dropped);
            let chain = async move {
                let last = spawn_unique(wait_for_ever(Counted(Arc::clone(&count))));
                let end = last.abort_handle();
                let mut next = last;
                for _ in 1..length {
                    next = spawn_unique(wait_for(next, Counted(Arc::clone(&count))));
                }
                (next, end)
            };
            let (first, end) = runtime.run(chain);
            if whole {
                end.abort();
                runtime.run(first).unwrap();
            }
            runtime.shutdown_timeout(SOON).unwrap();
            assert_eq!(dropped.load(Ordering::Relaxed), length);
            assert_eq!(Arc::strong_count(&dropped), 1);
        }
    });
}
