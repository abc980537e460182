//! Helpers of these tests.

use colored::runtime::Tuning;
use colored::task::JoinHandle;
use colored::time::Duration;
use colored::{Color, Runtime};
use colored_stackful as stackful;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
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

    /// Each kind beside each.
    pub(crate) fn pairs() -> impl Iterator<Item = (Self, Self)> {
        KINDS.into_iter().flat_map(|one| KINDS.map(|other| (one, other)))
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

/// Spawns the same code under a color, as a future or as a stackful task. In it, `wait!(future)` waits for a future, and
/// `hold!({ .. })` runs a block while the color is held.
macro_rules! spawn_as {
    (($d:tt) $kind:expr, $color:expr, $code:tt) => {
        match $kind {
            $crate::support::Kind::Future => {
                #[allow(unused_macros)]
                macro_rules! wait {
                    ($d future:expr) => { $d future.await };
                }
                #[allow(unused_macros)]
                macro_rules! hold {
                    ($d code:tt) => { colored::exclusive(async $d code).await };
                }
                colored::spawn_colored($color, async move $code)
            }
            $crate::support::Kind::Stackful => {
                #[allow(unused_macros)]
                macro_rules! wait {
                    ($d future:expr) => { colored_stackful::wait($d future) };
                }
                #[allow(unused_macros)]
                macro_rules! hold {
                    ($d code:tt) => { colored_stackful::exclusive(|| $d code) };
                }
                colored_stackful::spawn($color, move || $code)
            }
        }
    };
    ($kind:expr, $color:expr, $code:tt) => { $crate::support::spawn_as!(($) $kind, $color, $code) };
}
pub(crate) use spawn_as;

/// A color that is held inside of a poll.
pub(crate) struct Gate {
    opens: Arc<Barrier>,
    holder: JoinHandle<()>,
}

impl Gate {
    /// Blocks until the color is held: another worker has to be free.
    pub(crate) fn close(color: impl Into<Color>) -> Self {
        let (is_closed, opens) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (closes, opened) = (Arc::clone(&is_closed), Arc::clone(&opens));
        let holder = colored::spawn_colored(color, async move {
            closes.wait();
            opened.wait();
        });
        is_closed.wait();
        Self { opens, holder }
    }

    pub(crate) async fn open(self) {
        self.opens.wait();
        self.holder.await.unwrap();
    }
}

/// A worker that is stuck in a poll.
pub(crate) struct Held {
    is_over: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Held {
    pub(crate) async fn take(worker: usize) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (has_begun, over) = (Arc::new(AtomicBool::new(false)), Arc::clone(&is_over));
        let begins = Arc::clone(&has_begun);
        let stuck = || async move {
            begins.store(true, Ordering::Relaxed);
            wait_until(|| over.load(Ordering::Relaxed));
        };
        let task = colored::spawn_pinned(worker, Color::unique(), stuck).unwrap();
        until(|| has_begun.load(Ordering::Relaxed)).await;
        Self { is_over, task }
    }

    pub(crate) async fn release(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
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
