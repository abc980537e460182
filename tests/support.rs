//! Helpers that the suites share.

pub(crate) mod attempts;
pub(crate) mod cells;
pub(crate) mod child;
pub(crate) mod choice;
pub(crate) mod drops;
pub(crate) mod echo;
pub(crate) mod ending;
pub(crate) mod gate;
pub(crate) mod keeper;
pub(crate) mod meet;
mod neighbours;
pub(crate) mod polls;
pub(crate) mod process;
pub(crate) mod scratch;
pub(crate) mod soak;
pub(crate) mod storm;
#[cfg(target_os = "linux")]
pub(crate) mod terminal;
mod watchdog;
pub(crate) mod witness;

use colored::runtime::Tuning;
use colored::{Color, Runtime};
use std::panic;
use std::sync::{Arc, Mutex, Once, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

/// Tests that measure time have the process to themselves.
static TURN: RwLock<()> = RwLock::new(());

/// The text of deliberate panics, which the hook does not print.
pub(crate) const ON_PURPOSE: &str = "on purpose";

/// Runs a test beside others.
#[track_caller]
pub(crate) fn shared<R>(body: impl FnOnce() -> R) -> R {
    quiet();
    let _turn = TURN.read().unwrap_or_else(PoisonError::into_inner);
    let _watch = watchdog::arm();
    body()
}

/// Runs a test while no other runs.
#[track_caller]
pub(crate) fn alone<R>(body: impl FnOnce() -> R) -> R {
    quiet();
    let _turn = TURN.write().unwrap_or_else(PoisonError::into_inner);
    let _watch = watchdog::arm();
    body()
}

/// Runs a test that uses little of the machine, beside other tests, also beside tests that measure
/// time.
#[track_caller]
pub(crate) fn watched<R>(body: impl FnOnce() -> R) -> R {
    quiet();
    let _watch = watchdog::arm();
    body()
}

/// A runtime on which so many threads run tasks. It has no spare workers: where the machine is busy, a spare would take
/// the place of a worker that has lost its CPU, or of one that a gate holds, and the order of colors would be another.
pub(crate) fn runtime(workers: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers).tuning(Tuning::new().spare_workers(0));
    builder.build().expect("the runtime starts")
}

/// A runtime with so many workers, and the spare workers that it has by default.
pub(crate) fn runtime_with_spares(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("the runtime starts")
}

/// Waits until all that was scheduled under the color so far has had its turn.
pub(crate) fn settle(runtime: &Runtime, color: impl Into<Color>) {
    let color = color.into();
    runtime.run(async move { colored::spawn_colored(color, async {}).await.unwrap() });
}

/// Runs a main future, beside other tests, on a runtime with so many workers.
#[track_caller]
pub(crate) fn run<F>(workers: usize, main: F) -> F::Output
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    shared(|| runtime(workers).run(main))
}

/// Sleeps until `condition` holds. The watchdog ends a wait that has no end, and names the caller.
#[track_caller]
pub(crate) fn wait_until(condition: impl Fn() -> bool) {
    let _place = watchdog::Place::enter();
    while !condition() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Blocks this thread, and with it its worker and its color, as a blocking system call would.
pub(crate) fn block(time: Duration) {
    thread::sleep(time);
}

/// The text of a panic.
pub(crate) fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Runs `f`, which must panic, and returns its text.
pub(crate) fn panic_of<R>(f: impl FnOnce() -> R) -> String {
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
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % bound
    }
}

/// A record of events, in order.
pub(crate) struct Trace<T>(Arc<Mutex<Vec<T>>>);

impl<T> Trace<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn push(&self, event: T) {
        self.0.lock().unwrap().push(event);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl<T> Clone for Trace<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
