//! A worker reads the clock in time, also if no lane has more than one thing to run.

use crate::doubles::Clock;
use colored_core::{Color, Park, Scheduler, Step};

#[test]
fn the_clock_is_read_every_eight_lanes_of_one_poll() {
    let clock = Clock::default();
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(clock.clone()));
    let worker = &mut workers[0];
    for _ in 0..100 {
        let clock = clock.clone();
        drop(handle.spawn_colored(Color::unique(), async move {
            clock.spend(1_000);
        }));
    }
    for _ in 0..100 {
        assert_eq!(worker.step(), Step::Ran);
        let late = clock.now() - worker.now();
        assert!(late <= 8_000, "the worker is {late} ns behind");
    }
    handle.scheduler().shut_down();
    while worker.step() != Step::Stopped {}
}
