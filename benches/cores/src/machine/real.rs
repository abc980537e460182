//! This machine: a thread for each worker.

use super::Port;
use super::{Load, Outcome, Size, live, window};
use colored_core::Scheduler;
use std::collections::BTreeMap;
use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// A place where a thread sleeps: with a token, as of `std`'s `park`.
#[derive(Default)]
struct Seat(Mutex<bool>, Condvar);

#[derive(Default)]
struct Run {
    seats: Vec<Seat>,
    done: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    ops: u64,
}

static RUN: Mutex<Option<&'static Run>> = Mutex::new(None);

std::thread_local!(static OF_THREAD: OnceLock<&'static Run> = const { OnceLock::new() });

fn run_of_thread() -> &'static Run {
    let current = || RUN.lock().expect("no panic").expect("a run goes on");
    OF_THREAD.with(|of| *of.get_or_init(current))
}

pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Works for so long.
pub(crate) fn work(nanos: u64) {
    let end = now() + nanos;
    while nanos > 0 && now() < end {
        hint::spin_loop();
    }
}

/// An operation is done.
pub(crate) fn done() {
    let run = run_of_thread();
    let (first, last) = window(run.ops);
    // Ordering: a figure.
    match run.done.fetch_add(1, Ordering::Relaxed) + 1 {
        // Ordering: read when the threads have ended.
        n if n == first => run.first.store(now(), Ordering::Relaxed),
        n if n == last => run.last.store(now(), Ordering::Relaxed),
        n if n == run.ops => unpark(run.seats.len() - 1),
        _ => {}
    }
}

/// A thread sleeps until it is unparked.
pub(crate) fn sleep(thread: usize, limit: Option<u64>) {
    let Seat(token, signal) = &run_of_thread().seats[thread];
    let guard = token.lock().expect("no panic");
    let limit = Duration::from_nanos(limit.unwrap_or(1_000_000_000));
    let (mut token, _) =
        signal.wait_timeout_while(guard, limit, |token| !*token).expect("no panic");
    *token = false;
}

pub(crate) fn unpark(thread: usize) {
    let Seat(token, signal) = &run_of_thread().seats[thread];
    *token.lock().expect("no panic") = true;
    signal.notify_one();
}

/// Only a simulated machine has a network.
pub(crate) fn wake_at(_thread: usize, _nanos: u64) {}

/// Runs the load.
pub(crate) fn run(size: Size, load: &dyn Load) -> Outcome {
    let Size { workers, ops, .. } = size;
    let seats = (0..=workers).map(|_| Seat::default()).collect();
    let run: &'static Run = Box::leak(Box::new(Run { seats, ops, ..Run::default() }));
    *RUN.lock().expect("no panic") = Some(run);
    let (handle, all) = Scheduler::with_workers(workers, 1, Box::new(Port));
    thread::scope(|scope| {
        for worker in all {
            scope.spawn(move || live(worker, load));
        }
        scope.spawn(move || {
            load.begin(&handle);
            // Ordering: as in `done`.
            while run.done.load(Ordering::Relaxed) < ops {
                sleep(workers, None);
            }
            handle.scheduler().shut_down();
        });
    });
    let (first, last) = window(ops);
    // Ordering: the threads have ended.
    let nanos = run.last.load(Ordering::Relaxed) - run.first.load(Ordering::Relaxed);
    let nanos = nanos as f64 / (last - first) as f64;
    Outcome { nanos, places: BTreeMap::new(), total: 1, asleep: 0 }
}
