//! The names of `colored` that the bug suite uses, over shuttle-tokio: so the same programs run there. A turn is then the time
//! from one operation of these types to the next one, on any task. Colors have no meaning: each task is alone.

extern crate self as colored;

mod cell;
#[path = "../../kernels.rs"]
mod suite;

pub use self::cell::{Color, ColorCell};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};
pub use shuttle_tokio::task::{JoinHandle, yield_now};
pub use shuttle_tokio::{join, pin, select, sync, time};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What the kernels name of `colored::task`.
pub mod task {
    pub use crate::cell::consume_budget;
}

/// What the kernels name of `colored::sim`.
pub mod sim {
    use shuttle::rand::RngCore;

    /// A number by the seed.
    #[must_use]
    pub fn random() -> u64 {
        shuttle::rand::thread_rng().next_u64()
    }
}

/// What shuttle says of a program that waits for ever.
const HANGS: &str = "deadlock";

/// Spawns a task.
pub fn spawn_unique<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    shuttle_tokio::spawn(future)
}

/// Spawns a task, which does not wait for others of that color.
pub fn spawn_colored<F>(_color: u64, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    shuttle_tokio::spawn(future)
}

/// How shuttle chooses.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// Any runnable task.
    Random,
    /// Priorities, with two changes.
    Pct,
}

/// How many of at most a thousand runs the search of that number needs to find the bug.
#[must_use]
pub fn runs_until_bug(kernel: &str, by: By, search: u64) -> Option<u64> {
    let first = suite::first_seed(kernel, search);
    let kernel = suite::by_name(kernel);
    let (runs, message) = search_for(kernel.program, true, by, first);
    message?.contains(kernel.text).then_some(runs)
}

/// Whether a thousand runs of the twin without the bug pass. Some kernels need a clock, or colors.
#[must_use]
pub fn is_twin_right(kernel: &str) -> bool {
    search_for(suite::by_name(kernel).program, false, By::Random, 0).1.is_none()
}

type Program = fn(bool) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// How many runs there were, and the message of the one that failed.
fn search_for(program: Program, wrong: bool, by: By, seed: u64) -> (u64, Option<String>) {
    const RUNS: usize = 1000;
    match by {
        By::Random => run(RandomScheduler::new_from_seed(seed, RUNS), program, wrong),
        By::Pct => run(PctScheduler::new_from_seed(seed, 3, RUNS), program, wrong),
    }
}

fn run(
    scheduler: impl Scheduler + 'static,
    program: Program,
    wrong: bool,
) -> (u64, Option<String>) {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    let runs = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&runs);
    let body = move || {
        counted.fetch_add(1, Relaxed);
        shuttle::future::block_on(program(wrong));
    };
    let result = catch_unwind(AssertUnwindSafe(|| Runner::new(scheduler, config).run(body)));
    (runs.load(Relaxed), result.err().map(|panic| message(&*panic)))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
