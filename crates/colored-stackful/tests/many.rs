//! A hundred thousand suspended tasks, and the memory of their process.
#![cfg(target_os = "linux")]

use colored_stackful as stackful;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const TASKS: usize = 100_000;

/// Resident KiB of this process.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it says so");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").expect("Linux has it").lines().count()
}

/// Without `MADV_GUARD_INSTALL`, the guards of so many stacks are more mappings than the system allows.
fn can_guard_inside_of_a_mapping() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux has it");
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(13))
}

#[test]
fn the_memory_of_suspended_tasks_is_given_back() {
    let tasks = if can_guard_inside_of_a_mapping() { TASKS } else { 20_000 };
    let runtime = colored::Runtime::builder().workers(2).build().unwrap();
    let (before, had) = (resident(), mappings());
    runtime.run(async move {
        for round in 0..2 {
            let begun = Arc::new(AtomicUsize::new(0));
            let handles: Vec<_> = (0..tasks)
                .map(|_| {
                    let begun = Arc::clone(&begun);
                    stackful::spawn_unique(move || {
                        begun.fetch_add(1, Ordering::Relaxed);
                        stackful::wait(pending::<()>());
                    })
                })
                .collect();
            while begun.load(Ordering::Relaxed) < tasks {
                colored::time::sleep(colored::time::Duration::from_millis(5)).await;
            }
            let grown = resident() - before;
            println!("round {round}: {tasks} tasks, {:.2} KiB each", grown as f64 / tasks as f64);
            // Of code without optimization, whose frames are larger.
            assert!(grown < tasks * 16, "{grown} KiB for {tasks} tasks");
            if tasks == TASKS {
                assert!(mappings() < had + 2000, "{} mappings", mappings());
            }
            handles.iter().for_each(stackful::JoinHandle::abort);
            for handle in handles {
                assert!(handle.await.unwrap_err().is_cancelled());
            }
            stackful::release_idle_stacks();
            let left = resident() - before;
            println!("round {round}: {left} KiB are left");
            // The runtime keeps the memory of tasks and colors for later ones.
            assert!(left < grown / 5, "{left} KiB of {grown} are left");
        }
    });
}
