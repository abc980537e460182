//! An idle runtime runs no instruction.
//!
//! A thread that got no CPU between two looks has run no instruction, and so made no system call. Linux counts the
//! nanoseconds and the switches of every thread.

use colored::runtime::Tuning;
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{Runtime, spawn_blocking, spawn_unique};
use colored_tests::drops::keep;
use colored_tests::process::{self, Thread};
use colored_tests::soak::{is_long, repeat};
use colored_tests::{block, child, echo, join_all, runtime, wait_until, watched};
use std::collections::BTreeMap;
use std::future::pending;
use std::thread;

/// All threads but the calling one.
fn others() -> BTreeMap<u32, Thread> {
    let mut threads = process::threads();
    threads.remove(&process::this_thread());
    threads
}

/// Asserts that no other thread runs for `time`.
fn assert_still(time: Duration) {
    let before = others();
    block(time);
    assert_eq!(others(), before, "a thread has run");
}

fn count(prefix: &str) -> usize {
    others().values().filter(|thread| thread.name.starts_with(prefix)).count()
}

/// Two shards, nine workers and a guest: connections, a far timer, waiting tasks; all after some use.
fn settled() -> (Runtime, Vec<Box<dyn Send>>) {
    settled_on(runtime(9))
}

fn settled_on(runtime: Runtime) -> (Runtime, Vec<Box<dyn Send>>) {
    let address = echo::serve(runtime.handle());
    let streams = echo::connect(&runtime, address, 20);
    let held = runtime.handle().spawn_unique(keep(streams, pending::<()>()));
    drop(runtime.handle().spawn(sleep(Duration::from_secs(3600))));
    runtime.run(async {
        join_all((0..1000).map(|_| spawn_unique(colored::yield_now()))).await;
    });
    let handle = runtime.handle().clone();
    let (end, ended) = oneshot::channel::<()>();
    let guest = thread::spawn(move || handle.block_on(async { drop(ended.await) }));
    wait_until(|| runtime.metrics().parked == 9);
    (runtime, vec![Box::new(end), Box::new(guest), Box::new(held)])
}

/// Ticks of the reactor thread until it sleeps, and then some.
const SETTLE: Duration = Duration::from_millis(200);

/// Waits until no thread has run for a while.
fn wait_until_still() {
    wait_until(|| {
        let before = others();
        block(SETTLE);
        others() == before
    });
}

/// Shows G10.
#[test]
fn an_idle_process_makes_no_system_call_for_seconds() {
    let body = || {
        let (runtime, _held) = settled();
        // Pool threads that wait for more; they would retire after ten seconds.
        runtime.run(async { spawn_blocking(|| ()).await.unwrap() });
        wait_until_still();
        assert_eq!((count("colored-w"), count("colored-blk")), (9, 1));
        assert_still(Duration::from_secs(repeat(2, 5) as u64));
    };
    watched(|| {
        child::run(module_path!(), "an_idle_process_makes_no_system_call_for_seconds", body);
    });
}

#[test]
fn pool_threads_retire_and_all_is_still() {
    let body = || {
        let builder = Runtime::builder().workers(9).tuning(Tuning::new().spare_workers(0));
        // CI waits for as long as they wait by default.
        let builder =
            if is_long() { builder } else { builder.thread_keep_alive(Duration::from_secs(1)) };
        let (runtime, _held) = settled_on(builder.build().unwrap());
        runtime.run(async {
            join_all((0..5).map(|_| spawn_blocking(|| block(SETTLE)))).await;
        });
        assert_eq!(count("colored-blk"), 5);
        wait_until(|| count("colored-blk") == 0);
        wait_until_still();
        assert_still(Duration::from_secs(1));
    };
    watched(|| child::run(module_path!(), "pool_threads_retire_and_all_is_still", body));
}

/// The canary: one timer that ticks, and the process is not idle.
#[test]
fn a_ticker_is_noticed() {
    let body = || {
        let (runtime, _held) = settled();
        drop(runtime.handle().spawn(async {
            loop {
                sleep(Duration::from_millis(50)).await;
            }
        }));
        block(SETTLE);
        let before = others();
        block(SETTLE);
        assert_ne!(others(), before);
    };
    watched(|| child::run(module_path!(), "a_ticker_is_noticed", body));
}
