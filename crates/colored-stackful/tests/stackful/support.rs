//! Helpers of these tests.

use colored::runtime::Tuning;
use colored::task::JoinHandle;
use colored::time::Duration;
use colored::{Color, Runtime};
use colored_stackful as stackful;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Without spare workers: a worker that is held stays the only one that may run what is pinned to it.
pub(crate) fn runtime(workers: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers).tuning(Tuning::new().spare_workers(0));
    builder.build().expect("the runtime starts")
}

/// Runs a future on a runtime of its own.
pub(crate) fn run<F>(workers: usize, future: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    runtime(workers).run(future)
}

/// What happened, in order.
#[derive(Clone, Default)]
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
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Notices two threads inside at a time.
#[derive(Default)]
pub(crate) struct Witness {
    is_inside: AtomicBool,
    count: AtomicUsize,
}

impl Witness {
    pub(crate) fn touch(&self) {
        assert!(!self.is_inside.swap(true, Ordering::AcqRel), "two at a time");
        let count = self.count.load(Ordering::Relaxed);
        std::hint::spin_loop();
        self.count.store(count + 1, Ordering::Relaxed);
        assert!(self.is_inside.swap(false, Ordering::AcqRel));
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// Calls a closure when it is dropped.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Both kinds of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Future,
    Stackful,
}

pub(crate) const KINDS: [Kind; 2] = [Kind::Future, Kind::Stackful];

impl Kind {
    /// The kind of task number `index`: each second one is stackful.
    pub(crate) fn of(index: usize) -> Self {
        KINDS[index % 2]
    }

    /// A task that calls `step` with 0, 1, ... in turns of its own.
    pub(crate) fn spawn_steps<F>(self, color: Color, steps: usize, mut step: F) -> JoinHandle<()>
    where
        F: FnMut(usize) + Send + 'static,
    {
        match self {
            Self::Future => colored::spawn_colored(color, async move {
                for number in 0..steps {
                    step(number);
                    colored::yield_now().await;
                }
            }),
            Self::Stackful => stackful::spawn(color, move || {
                for number in 0..steps {
                    step(number);
                    stackful::yield_now();
                }
            }),
        }
    }

    /// A task that begins, and then waits for ever with `kept`.
    pub(crate) fn spawn_waiting<T: Send + 'static>(self, color: Color, kept: T) -> JoinHandle<()> {
        match self {
            Self::Future => colored::spawn_colored(color, async move {
                let _kept = kept;
                std::future::pending::<()>().await;
            }),
            Self::Stackful => stackful::spawn(color, move || {
                let _kept = kept;
                stackful::wait(std::future::pending::<()>());
            }),
        }
    }
}

/// As [`wait_until`], in a task.
pub(crate) async fn until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "it has not come");
        colored::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Waits up to ten seconds.
#[track_caller]
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "it has not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}
