//! A hundred thousand suspended tasks, and the memory of their process.
// The addresses of so many stacks are 26 GB.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use colored_stackful as stackful;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// In CI.
const TASKS: usize = 100_000;

fn tasks() -> usize {
    let is_long = std::env::var_os("COLORED_LONG_TESTS").is_some();
    if is_long && can_guard_inside_of_a_mapping() { TASKS } else { 20_000 }
}

/// A line of the process's status, in KiB.
fn status(of: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with(of)).expect("it says so");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

/// Resident KiB of this process.
fn resident() -> usize {
    status("VmRSS:")
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

/// Has the allocator give back what no allocation uses; by itself it keeps most of that for later.
fn trim() {
    // SAFETY: the function may be called at any time.
    unsafe { libc::malloc_trim(0) };
}

/// Lets the others run now and then: a poll with all these spawns, or aborts, would be a long one.
async fn give_way(index: usize) {
    if index.is_multiple_of(100) {
        colored::yield_now().await;
    }
}

/// Spawns so many tasks, which have begun and wait when this returns.
async fn spawn_waiting(tasks: usize) -> Vec<stackful::JoinHandle<()>> {
    let begun = Arc::new(AtomicUsize::new(0));
    let mut handles = Vec::with_capacity(tasks);
    for index in 0..tasks {
        let begun = Arc::clone(&begun);
        handles.push(stackful::spawn_unique(move || {
            begun.fetch_add(1, Ordering::Relaxed);
            stackful::wait(pending::<()>());
        }));
        give_way(index).await;
    }
    while begun.load(Ordering::Relaxed) < tasks {
        colored::time::sleep(colored::time::Duration::from_millis(5)).await;
    }
    handles
}

/// Spawns and aborts so many tasks, and returns the KiB that they took and those that are left.
async fn round(tasks: usize, before: usize, had: usize) -> (usize, usize) {
    let handles = spawn_waiting(tasks).await;
    let grown = resident() - before;
    println!("{tasks} tasks, {:.2} KiB each", grown as f64 / tasks as f64);
    // Of code without optimization, whose frames are larger.
    assert!(grown < tasks * 16, "{grown} KiB for {tasks} tasks");
    if can_guard_inside_of_a_mapping() {
        assert!(mappings() < had + 2000, "{} mappings", mappings());
    }
    for (index, handle) in handles.iter().enumerate() {
        handle.abort();
        give_way(index).await;
    }
    for handle in handles {
        assert!(handle.await.unwrap_err().is_cancelled());
    }
    stackful::release_idle_stacks();
    println!("{} KiB are left, page tables of {} KiB", resident() - before, status("VmPTE:"));
    trim();
    (grown, resident() - before)
}

#[test]
fn the_memory_of_suspended_tasks_is_given_back() {
    let tasks = tasks();
    let runtime = colored::Runtime::builder().workers(2).build().unwrap();
    let (before, had) = (resident(), mappings());
    runtime.run(async move {
        // While other processes take the CPUs, some of the tasks' memory is freed later.
        let mut given_back = 0;
        for _ in 0..8 {
            let (grown, left) = round(tasks, before, had).await;
            println!("{left} KiB are left behind the allocator's own");
            // The free lists of the runtime, some megabytes for each size of block, and the list of stacks.
            given_back += usize::from(left < grown / 8);
            if given_back == 2 {
                return;
            }
        }
        panic!("the memory was given back in {given_back} rounds of 8");
    });
}
