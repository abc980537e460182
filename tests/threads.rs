//! The threads of a runtime: all have names, and none is left when it has ended.

use crate::support::{block, child, process, shared, wait_until};
use colored::time::Duration;
use colored::{Runtime, net, spawn_blocking, spawn_unique};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

/// The names of all threads that are not in `known`.
fn names(known: &BTreeMap<u32, process::Thread>) -> Vec<String> {
    let new = process::threads().into_iter().filter(|(number, _)| !known.contains_key(number));
    let mut names: Vec<_> = new.map(|(_, thread)| thread.name).collect();
    names.sort();
    names
}

/// A thread of every kind, then the names, then none.
fn life(builder: colored::Builder, expected: &[&str]) {
    let known = process::threads();
    let runtime = builder.workers(3).build().unwrap();
    let calls = runtime.run(async {
        let _ = net::lookup_host("localhost:1").await;
        let meeting = Arc::new(Barrier::new(2));
        let call = |meeting: Arc<Barrier>| spawn_blocking(move || meeting.wait().is_leader());
        [call(Arc::clone(&meeting)), call(meeting)]
    });
    for call in calls {
        runtime.run(call).unwrap();
    }
    // A thread names itself, when it first runs.
    wait_until(|| names(&known) == expected);
    runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
    // It has been joined, and yet the system may list it for a moment.
    wait_until(|| names(&known).is_empty());
}

#[test]
fn every_thread_has_a_name_and_none_is_left_behind() {
    shared(|| {
        child::run(module_path!(), "every_thread_has_a_name_and_none_is_left_behind", || {
            let expected = [
                "colored-blk-0",
                "colored-blk-1",
                "colored-dns-0",
                "colored-reactor",
                "colored-w0",
                "colored-w1",
                "colored-w2",
            ];
            life(Runtime::builder(), &expected);
            let expected = [
                "api-blk-0",
                "api-blk-1",
                "api-dns-0",
                "api-reactor",
                "api-w0",
                "api-w1",
                "api-w2",
            ];
            life(Runtime::builder().thread_name("api").pin(true), &expected);
        });
    });
}

static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Counts the end of the thread that it belongs to.
struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        // Whoever does not wait for the threads returns long before this.
        block(Duration::from_millis(20));
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local!(static LAST: RefCell<Option<Last>> = const { RefCell::new(None) });

fn mark() {
    LAST.with(|last| last.replace(Some(Last)));
}

#[test]
fn shutdown_waits_for_the_very_end_of_every_thread() {
    shared(|| {
        child::run(module_path!(), "shutdown_waits_for_the_very_end_of_every_thread", || {
            let ends: [fn(Runtime); 2] =
                [|runtime| runtime.shutdown_timeout(Duration::from_secs(60)).unwrap(), drop];
            for end in ends {
                let runtime = crate::support::runtime(4);
                runtime.run(async {
                    let meeting = Arc::new(Barrier::new(4));
                    let mut marks = Vec::new();
                    for _ in 0..4 {
                        let meeting = Arc::clone(&meeting);
                        marks.push(spawn_unique(async move {
                            // All four are inside at once, so each is on another worker.
                            meeting.wait();
                            mark();
                        }));
                    }
                    for mark in marks {
                        mark.await.unwrap();
                    }
                    spawn_blocking(mark).await.unwrap();
                });
                let before = ENDED.load(Ordering::Relaxed);
                end(runtime);
                assert_eq!(ENDED.load(Ordering::Relaxed) - before, 5);
            }
        });
    });
}
