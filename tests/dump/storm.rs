//! Dumps beside tasks that come, hop, wake each other and end.

use super::json;
use colored::task::Id;
use colored::{Color, exclusive, hop, yield_now};
use colored_tests::soak::times;
use colored_tests::{runtime, shared};
use std::collections::HashSet;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const COLORS: u64 = 16;

/// Colors that only tasks have which wait in a section.
const KEPT: u64 = 1000;

async fn busy(n: u64, stop: Arc<AtomicBool>, turns: Arc<AtomicU64>) {
    let mut color = n;
    while !stop.load(Ordering::Relaxed) {
        turns.fetch_add(1, Ordering::Relaxed);
        color = (color * 7 + 1) % COLORS;
        match color % 4 {
            0 => hop(Color::new(color)).await,
            1 => yield_now().await,
            2 => drop(colored::spawn_colored(color, yield_now()).await),
            _ => exclusive(yield_now()).await,
        }
    }
}

/// Shows G14.
#[test]
fn no_task_is_twice_in_a_dump_and_none_is_missing_that_waits_all_the_time() {
    shared(|| {
        let runtime = runtime(2);
        let handle = runtime.handle();
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let waiting = (0..600).map(|n| match n % 3 {
            0 => handle.spawn_unique(pending::<()>()),
            1 => handle.spawn_colored(n % COLORS, pending::<()>()),
            _ => handle.spawn_colored(KEPT + n, exclusive(pending::<()>())),
        });
        let waiting: Vec<Id> = waiting.map(|task| task.id()).collect();
        for n in 0..40 {
            drop(handle.spawn_colored(n % COLORS, busy(n, Arc::clone(&stop), Arc::clone(&turns))));
        }
        // Every one of them has been polled, and waits.
        let complete = |ids: &HashSet<Id>| waiting.iter().all(|id| ids.contains(id));
        let mut seen = 0;
        let mut begun = false;
        while seen < times(30, 1000) {
            let dump = handle.dump();
            let ids: HashSet<Id> = dump.tasks().map(|task| task.id()).collect();
            assert_eq!(ids.len(), dump.tasks().len(), "a task is there twice");
            json::check(&dump.to_json());
            if !dump.unread().is_empty() {
                // Another process had the CPUs.
                continue;
            }
            assert!(!begun || complete(&ids), "a task that waits is missing");
            begun |= complete(&ids);
            seen += u64::from(begun);
        }
        assert!(turns.load(Ordering::Relaxed) > 100, "the others went on");
        stop.store(true, Ordering::Relaxed);
    });
}
