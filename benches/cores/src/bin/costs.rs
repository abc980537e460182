//! Measures what the model's costs are: medians of a few rounds, on this machine.

use colored_figures::machine::{machine, today};
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 9;

/// The median of some rounds, of nanoseconds.
fn median(mut round: impl FnMut() -> f64) -> f64 {
    let mut all: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    all.sort_by(f64::total_cmp);
    all[ROUNDS / 2]
}

/// Nanoseconds of one call, of many.
fn each(calls: u32, mut f: impl FnMut()) -> f64 {
    median(|| {
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    })
}

/// Two threads change a word in turn: each turn is two moves of its line.
fn line() -> f64 {
    const TURNS: usize = 200_000;
    median(|| {
        let turn = Arc::new(AtomicUsize::new(0));
        let play = |me: usize, turn: &AtomicUsize| {
            for at in (me..TURNS).step_by(2) {
                // Ordering: the time counts.
                while turn.load(Ordering::Acquire) != at {
                    spin_loop();
                }
                turn.store(at + 1, Ordering::Release);
            }
        };
        let start = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| play(1, &turn));
            play(0, &turn);
        });
        start.elapsed().as_nanos() as f64 / TURNS as f64
    })
}

/// The call that wakes a thread, and the time until the thread runs.
fn wake() -> (f64, f64) {
    let start = Instant::now();
    let now = move || start.elapsed().as_nanos() as u64;
    let (ran, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let (mut calls, mut latencies) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            // Ordering: one thread waits for the other.
            while !over.load(Ordering::Acquire) {
                thread::park();
                ran.store(now(), Ordering::Release);
            }
        });
        for _ in 0..2_000 {
            ran.store(0, Ordering::Release);
            // Until it sleeps.
            thread::sleep(Duration::from_micros(100));
            let before = now();
            sleeper.thread().unpark();
            let after = now();
            let woken = loop {
                match ran.load(Ordering::Acquire) {
                    0 => spin_loop(),
                    time => break time,
                }
            };
            calls.push((after - before) as f64);
            latencies.push(woken.saturating_sub(before) as f64);
        }
        over.store(true, Ordering::Release);
        sleeper.thread().unpark();
    });
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    (middle(calls), middle(latencies))
}

/// A look at the selector that finds nothing, and one that finds an event.
#[cfg(target_os = "linux")]
fn poll() -> (f64, f64) {
    use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
    let selector = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a selector");
    let fds: Vec<_> =
        (0..32).map(|_| eventfd(1, EventfdFlags::CLOEXEC).expect("a descriptor")).collect();
    let mut events = Vec::with_capacity(64);
    let look = |events: &mut Vec<epoll::Event>| {
        events.clear();
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let spare = rustix::buffer::spare_capacity(events);
        epoll::wait(&selector, spare, Some(&none)).expect("a look");
    };
    let nothing = each(20_000, || look(&mut events));
    for (index, fd) in fds.iter().enumerate() {
        let data = epoll::EventData::new_u64(index as u64);
        epoll::add(&selector, fd, data, epoll::EventFlags::IN).expect("added");
    }
    let all = each(20_000, || look(&mut events));
    (nothing, (all - nothing) / fds.len() as f64)
}

fn main() {
    println!("{}, {}", today(), machine());
    let show = |name: &str, nanos: f64| println!("{name:<52} {nanos:>8.1} ns");
    let word = AtomicU64::new(0);
    // Ordering: the time counts.
    show(
        "read-modify-write of a line that the core has",
        each(1_000_000, || {
            black_box(word.fetch_add(1, Ordering::AcqRel));
        }),
    );
    show(
        "a fence after a store",
        each(1_000_000, || {
            word.store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }),
    );
    let lock = Mutex::new(0_u64);
    show("a lock, taken and given back", each(1_000_000, || *lock.lock().expect("no panic") += 1));
    show("a line from the other core", line());
    show(
        "a look at the clock",
        each(1_000_000, || {
            black_box(Instant::now());
        }),
    );
    let (call, latency) = wake();
    show("the call that wakes a thread", call);
    show("from its begin until the thread runs", latency);
    show("a pause", each(1_000_000, spin_loop));
    #[cfg(target_os = "linux")]
    {
        let (look, event) = poll();
        show("a look at the selector", look);
        show("each of 32 events", event);
    }
}
