//! Workers that sleep, and those who give them work: no lane is left behind (G6). A lost wake-up is
//! a deadlock here.

use super::pool::{Flag, both_come, pool, start, stay_stuck, stop};
use super::{check, check_within};
use crate::color::Color;
use crate::sync::Arc;

#[test]
fn park_against_dispatch() {
    check(|| {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let done = Flag::new();
        let set = Arc::clone(&done);
        drop(handle.spawn_unique(async move { set.set() }));
        done.wait();
        stop(&handle, [thread]);
    });
}

/// Two lanes of which one cannot end before the other has run: both workers must come.
#[test]
fn two_workers_for_two_lanes() {
    check_within(2, || {
        both_come(pool(2));
    });
}

/// A worker makes two lanes runnable and stays in its poll until one of them has run: the other
/// worker is asleep, or about to be, and must come for it.
#[test]
fn a_stuck_worker_is_robbed() {
    check_within(2, || {
        stay_stuck(pool(2));
    });
}

/// The calling thread is a guest: its future goes to and fro between it and the workers.
#[test]
fn guest_against_worker() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let task = handle.spawn(Color::DEFAULT, async { 1 });
        let sum = handle.block_on(async move { task.await.unwrap() + 1 });
        assert_eq!(sum.unwrap().unwrap(), 2);
        stop(&handle, [thread]);
    });
}
