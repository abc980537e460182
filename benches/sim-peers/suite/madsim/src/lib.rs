//! The names of `colored` that the bug suite uses, over madsim: so the same programs run there. A turn is a poll of a task; an
//! access to a cell is one of its own, although madsim has no such type. Colors have no meaning: each task is alone.
#![cfg(madsim)]

extern crate self as colored;

mod cell;
#[path = "../../kernels.rs"]
mod suite;

pub use self::cell::{Color, ColorCell};
use madsim::runtime::Runtime;
pub use madsim::task::JoinHandle;
pub use madsim::time;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
pub use tokio::task::yield_now;
pub use tokio::{join, pin, select, sync};

/// What the kernels name of `colored::task`.
pub mod task {
    pub use tokio::task::yield_now as consume_budget;
}

/// What the kernels name of `colored::sim`.
pub mod sim {
    /// A number by the seed.
    #[must_use]
    pub fn random() -> u64 {
        madsim::rand::random()
    }
}

/// What madsim says of a program that waits for ever.
const HANGS: &str = "all tasks will block forever";

/// Spawns a task.
pub fn spawn_unique<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    madsim::task::spawn(future)
}

/// Spawns a task, which does not wait for others of that color.
pub fn spawn_colored<F>(_color: u64, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    madsim::task::spawn(future)
}

const RUNS: u64 = 1000;

/// How many of at most a thousand runs the search of that number needs to find the bug.
#[must_use]
pub fn runs_until_bug(kernel: &str, search: u64) -> Option<u64> {
    let first = suite::first_seed(kernel, search);
    let kernel = suite::by_name(kernel);
    let (run, message) = (1..=RUNS).find_map(|run| {
        failure(|| (kernel.program)(true), first + run).map(|message| (run, message))
    })?;
    message.contains(kernel.text).then_some(run)
}

/// Whether a thousand runs of the twin without the bug pass. Some kernels need colors.
#[must_use]
pub fn is_twin_right(kernel: &str) -> bool {
    let kernel = suite::by_name(kernel);
    (1..=RUNS).all(|seed| failure(|| (kernel.program)(false), seed).is_none())
}

/// The message of the run of that seed, if it fails.
fn failure<F: Future<Output = ()>>(program: impl FnOnce() -> F, seed: u64) -> Option<String> {
    let run = || {
        let runtime = Runtime::with_seed_and_config(seed, madsim::Config::default());
        runtime.block_on(async { program().await });
    };
    catch_unwind(AssertUnwindSafe(run)).err().map(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
