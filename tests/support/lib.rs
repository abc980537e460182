//! Helpers of the tests of the runtime as a whole, which have a folder for each subject.
//!
//! They assert counts and traces. Where a bound is a time, the test runs alone, and the bound must be
//! met by one of a few attempts, whose median may not be far off: a neighbour on the machine can spoil an
//! attempt, a fault of the runtime spoils them all. An attempt that fails while other processes take the CPUs does not
//! count. A test of counts for the whole process runs in a process of its own.

#![allow(
    clippy::new_without_default,
    clippy::len_without_is_empty,
    reason = "the interface is for the tests of this package"
)]

pub mod attempts;
pub mod cells;
pub mod child;
pub mod choice;
mod documents;
pub mod drops;
pub mod echo;
pub mod ending;
pub mod gate;
pub mod keeper;
pub mod meet;
mod neighbours;
pub mod polls;
pub mod process;
pub mod scratch;
pub mod soak;
pub mod storm;
#[cfg(target_os = "linux")]
pub mod terminal;
mod watchdog;
pub mod witness;

use colored::runtime::Tuning;
use colored::{Builder, Color, Runtime};
use colored_core::port::{Point, on_points};
use std::cell::Cell;
use std::env;
use std::fmt::Debug;
use std::panic;
use std::pin::pin;
use std::sync::{Arc, Mutex, Once, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

/// Tests that measure time have the process to themselves.
static TURN: RwLock<()> = RwLock::new(());

/// The text of deliberate panics, which the hook does not print.
pub const ON_PURPOSE: &str = "on purpose";

/// Runs a test beside others.
#[track_caller]
pub fn shared<R>(body: impl FnOnce() -> R) -> R {
    quiet();
    let _turn = TURN.read().unwrap_or_else(PoisonError::into_inner);
    let _watch = watchdog::arm();
    // A test that passes only since a thread is quick fails then.
    if env::var_os("COLORED_DELAYS").is_some() {
        on_points(Some(delay));
    }
    body()
}

/// Now and then, the thread has no CPU before or after it does something to a color. Half a second in all, for storms.
fn delay(_: Point) {
    thread_local!(static LEFT: Cell<u32> = const { Cell::new(500) });
    if LEFT.get() > 0 && fastrand::u8(..) < 8 {
        LEFT.set(LEFT.get() - 1);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Runs a test while no other runs.
#[track_caller]
pub fn alone<R>(body: impl FnOnce() -> R) -> R {
    quiet();
    let _turn = TURN.write().unwrap_or_else(PoisonError::into_inner);
    let _watch = watchdog::arm();
    body()
}

/// Runs a test that uses little of the machine, beside other tests, also beside tests that measure
/// time.
#[track_caller]
pub fn watched<R>(body: impl FnOnce() -> R) -> R {
    quiet();
    let _watch = watchdog::arm();
    body()
}

/// A runtime on which so many threads run tasks. It has no spare workers: where the machine is busy, a spare would take
/// the place of a worker that has lost its CPU, or of one that a gate holds, and the order of colors would be another.
pub fn runtime(workers: usize) -> Runtime {
    build(Runtime::builder().workers(workers).tuning(Tuning::new().spare_workers(0)))
}

/// A runtime with so many workers, and the spare workers that it has by default.
pub fn runtime_with_spares(workers: usize) -> Runtime {
    build(Runtime::builder().workers(workers))
}

/// Its threads are delayed as this one is.
fn build(builder: Builder) -> Runtime {
    let look = on_points(None);
    on_points(look);
    let builder = builder.on_thread_start(move || {
        on_points(look);
    });
    builder.build().expect("the runtime starts")
}

/// Waits until all that was scheduled under the color so far has had its turn, and the color is idle.
#[track_caller]
pub fn settle(runtime: &Runtime, color: impl Into<Color>) {
    let color = color.into();
    runtime.run(async move { colored::spawn_colored(color, async {}).await.unwrap() });
    // The task is inside its turn still.
    let cell = runtime.handle().cell(color, ());
    wait_until(|| polls::poll_once(pin!(cell.call(|()| ()))).is_ready());
}

/// Runs a main future, beside other tests, on a runtime with so many workers.
#[track_caller]
pub fn run<F>(workers: usize, main: F) -> F::Output
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    shared(|| runtime(workers).run(main))
}

/// Joins all of these tasks, or calls, which are made before the first one is joined. Returns what they return.
pub async fn join_all<T, E: Debug>(
    tasks: impl IntoIterator<Item: Future<Output = Result<T, E>>>,
) -> Vec<T> {
    let tasks: Vec<_> = tasks.into_iter().collect();
    let mut returned = Vec::new();
    for task in tasks {
        returned.push(task.await.unwrap());
    }
    returned
}

/// Sleeps until `condition` holds. The watchdog ends a wait that has no end, and names the caller.
#[track_caller]
pub fn wait_until(condition: impl Fn() -> bool) {
    let _place = watchdog::Place::enter();
    while !condition() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Blocks this thread, and with it its worker and its color, as a blocking system call would.
pub fn block(time: Duration) {
    thread::sleep(time);
}

/// The text of a panic.
pub fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Runs `f`, which must panic, and returns its text.
pub fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let result = panic::catch_unwind(panic::AssertUnwindSafe(f));
    message(&*result.err().expect("it was to panic"))
}

fn quiet() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !message(info.payload()).contains(ON_PURPOSE) {
                default(info);
            }
        }));
    });
}

/// Small random numbers, the same in every run.
pub struct Dice(u64);

impl Dice {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % bound
    }
}

/// A record of events, in order.
pub struct Trace<T>(Arc<Mutex<Vec<T>>>);

impl<T> Trace<T> {
    /// An empty record.
    pub fn new() -> Self {
        Self(Arc::default())
    }

    /// Adds an event at the end.
    pub fn push(&self, event: T) {
        self.0.lock().unwrap().push(event);
    }

    /// The number of events so far.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// The events so far, which are then forgotten.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl<T> Clone for Trace<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
