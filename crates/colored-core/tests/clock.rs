//! A worker sees the time go by, also if no lane has more than one thing to run.

use colored_core::{Color, Park, Scheduler, Step};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

struct Port(Arc<AtomicU64>);

impl Park for Port {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn the_clock_is_read_every_eight_lanes_of_one_poll() {
    let time = Arc::new(AtomicU64::new(0));
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(Port(Arc::clone(&time))));
    let worker = &mut workers[0];
    for _ in 0..100 {
        let time = Arc::clone(&time);
        drop(handle.spawn_colored(Color::unique(), async move {
            time.fetch_add(1_000, Ordering::Relaxed);
        }));
    }
    for _ in 0..100 {
        assert_eq!(worker.step(), Step::Ran);
        let late = time.load(Ordering::Relaxed) - worker.now();
        assert!(late <= 8_000, "the worker is {late} ns behind");
    }
    handle.scheduler().shut_down();
    while worker.step() != Step::Stopped {}
}
