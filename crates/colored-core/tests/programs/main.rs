//! `programs`: small programs made from seeds, on real threads, for Miri and the sanitizers.
//!
//! A seed makes a text ([`plan`]), which uses every public type from worker and foreign threads, with and without
//! reuse of memory, with aborts, panics, shutdown and leaks in the middle of every kind of wait. Each program
//! checks ([`task`], [`value`], [`witness`], [`world`]) that colors exclude, that the posts of one thread or task
//! come in their order, that everything is dropped once, and that the program ends.
//!
//! | variable | |
//! |---|---|
//! | `COLORED_PROGRAM_SEEDS` | how many programs; or `1000..2000`, which ones |
//! | `COLORED_PROGRAM_SEED` | one program; `COLORED_PROGRAM_SEEDS` says how often |
//! | `COLORED_PROGRAM_LIMIT` | after how many seconds a program hangs, in place of 30 |
//!
//! The threads are real, so a seed that has failed once may need many runs to fail again. Under Miri the schedule
//! too is from a seed: `-Zmiri-seed`. The names of threads begin with the seed, for the reader of a sanitizer's
//! report.
#![cfg(not(colored_loom))]

mod act;
#[allow(dead_code, reason = "the simulator's, which needs more of it")]
#[path = "../simulator/chance.rs"]
mod chance;
mod chest;
mod foreign;
mod generate;
mod here;
mod plan;
mod run;
mod shell;
mod spawn;
mod step;
mod task;
mod value;
mod visit;
mod wait;
mod witness;
mod world;

use std::any::Any;
use std::env;
use std::io::Write;
use std::num::NonZero;
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How many programs run unless a variable says how many.
const SEEDS: u64 = if cfg!(miri) { 4 } else { 300 };

/// The seconds after which a program hangs. The clock of Miri goes much faster than its programs.
const LIMIT: u64 = if cfg!(miri) { 3600 } else { 30 };

/// The panics of the runtime that programs may cause, by parts of their texts.
const ALLOWED: [&str; 9] = [
    "the runtime shut down before",
    "this wait would never end",
    "this `ColorCell` belongs to",
    "this `ColorCell` is in use",
    "outside a task",
    "beside a section of the same task",
    "inside the section of",
    "cannot begin",
    "cannot go on",
];

#[test]
fn programs_keep_all_guarantees() {
    let seeds = seeds();
    let default = panic::take_hook();
    // A thread belongs to no program any more when it drops its thread-locals.
    let stray = Arc::new(AtomicUsize::new(0));
    let strays = Arc::clone(&stray);
    panic::set_hook(Box::new(move |panic| {
        if !is_allowed(panic) {
            match here::program() {
                Some(world) => world.fail(format!("{:?}: {panic}", thread::current().name())),
                None => {
                    strays.fetch_add(1, Ordering::Relaxed);
                    default(panic);
                }
            }
        }
    }));
    let (queue, failures) = (Mutex::new(seeds), Mutex::new(Vec::new()));
    let drive = || {
        loop {
            let Some(seed) = world::lock(&queue).next() else { return };
            if cfg!(miri) {
                say(&format!("program {seed}\n"));
            }
            if let Err(failure) = run_alone(seed) {
                say(&format!("{failure}\n{}", again(seed)));
                world::lock(&failures).push(seed);
            }
        }
    };
    let drivers =
        if cfg!(miri) { 1 } else { thread::available_parallelism().map_or(1, NonZero::get) };
    thread::scope(|scope| {
        for _ in 0..drivers {
            scope.spawn(drive);
        }
    });
    drop(panic::take_hook());
    let mut failures = world::lock(&failures);
    failures.sort_unstable();
    failures.dedup();
    assert!(failures.is_empty(), "these programs have failed: {failures:?}");
    assert_eq!(stray.load(Ordering::Relaxed), 0, "threads have panicked as they ended");
}

/// Runs a program in a thread of its own, with its name and its thread-locals.
fn run_alone(seed: u64) -> Result<(), String> {
    let (told, ended) = mpsc::channel();
    let run = move || {
        let result = run::program(seed);
        // The program has emptied the stash. The other thread-locals go when the thread ends.
        told.send(result).expect("somebody waits for it");
    };
    let thread = thread::Builder::new().name(format!("{seed} main")).spawn(run);
    let thread = thread.expect("there is room for a thread");
    match ended.recv_timeout(limit()) {
        Ok(result) => {
            thread.join().expect("it has ended");
            result
        }
        Err(RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("it has ended without a result");
            Err(text_of(&*panic).into())
        }
        // Its threads cannot be ended, so they stay.
        Err(RecvTimeoutError::Timeout) => Err(format!("{}\nit hangs", run::text(seed))),
    }
}

/// How to run it again.
fn again(seed: u64) -> String {
    format!(
        "program {seed} has failed; again: COLORED_PROGRAM_SEED={seed} COLORED_PROGRAM_SEEDS=1000 \
         cargo test -p colored-core --test programs\n"
    )
}

/// Writes directly, because the process may be about to end.
fn say(text: &str) {
    let _best_effort = std::io::stderr().write_all(text.as_bytes());
}

fn limit() -> Duration {
    let limit = env::var("COLORED_PROGRAM_LIMIT").ok();
    Duration::from_secs(limit.map_or(LIMIT, |limit| number(&limit)))
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// The seeds of the programs that are to be run.
fn seeds() -> Box<dyn Iterator<Item = u64> + Send> {
    let how_many = env::var("COLORED_PROGRAM_SEEDS").ok();
    if let Ok(seed) = env::var("COLORED_PROGRAM_SEED") {
        let times = how_many.map_or(1, |times| number(&times));
        let seed = number(&seed);
        return Box::new((0..times).map(move |_| seed));
    }
    let seeds = match how_many.as_deref().map(|seeds| seeds.split_once("..").ok_or(seeds)) {
        None => 0..SEEDS,
        Some(Ok((from, to))) => number(from)..number(to),
        Some(Err(count)) => 0..number(count),
    };
    Box::new(seeds)
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text")
}

fn is_allowed(panic: &PanicHookInfo<'_>) -> bool {
    let text = text_of(panic.payload());
    ALLOWED.iter().any(|allowed| text.contains(allowed))
}
