//! [`LocalSet`]: tasks of one thread that end together.

use super::{AbortHandle, JoinHandle, spawn_here_on_thread};
#[cfg(feature = "sim")]
use colored_core::port::OfStack;
use pin_project_lite::pin_project;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Tasks on this thread whose futures need not be `Send`, and which are aborted when the set is dropped.
///
/// For programs that come from tokio. [`spawn_local`](super::spawn_local()) needs no set here: its tasks run on the worker,
/// or inside the `block_on`, that spawns them. A set adds an end: awaiting the set waits for its tasks, and a drop aborts
/// them. The tasks of a set are those of its own [`spawn_local`](Self::spawn_local), and those that the function
/// [`spawn_local`](super::spawn_local()) spawns inside [`run_until`](Self::run_until), inside [`enter`](Self::enter), and
/// inside tasks of the set.
///
/// Three things differ from tokio's. The tasks run under the color of the caller, also while nobody polls the set. A task
/// cannot be spawned before the runtime runs: spawn it inside of `run_until` or [`block_on`](Self::block_on). The end of a
/// `block_on` aborts the tasks that were spawned inside of it, so await the set there.
///
/// ```
/// use colored::task::{LocalSet, spawn_local};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// # #[colored::main(local)]
/// # async fn main() {
/// let (set, count) = (LocalSet::new(), Rc::new(Cell::new(0)));
/// set.run_until(async {
///     for _ in 0..3 {
///         let count = Rc::clone(&count);
///         spawn_local(async move { count.set(count.get() + 1) });
///     }
/// })
/// .await;
/// set.await; // until its tasks have ended
/// assert_eq!(count.get(), 3);
/// # }
/// ```
#[derive(Default)]
pub struct LocalSet {
    tasks: Rc<Tasks>,
}

#[derive(Default)]
pub(crate) struct Tasks {
    /// By their order.
    running: RefCell<BTreeMap<u64, AbortHandle>>,
    spawned: Cell<u64>,
    /// How many have not ended.
    left: Cell<usize>,
    waiting: RefCell<Vec<Waker>>,
}

// The set that `spawn_local` adds to.
thread_local!(static CURRENT: RefCell<Option<Rc<Tasks>>> = const { RefCell::new(None) });

/// Of what runs on this stack.
#[cfg(feature = "sim")]
pub(crate) static CURRENT_OF_STACK: OfStack<RefCell<Option<Rc<Tasks>>>> = OfStack(&CURRENT);

impl LocalSet {
    /// A set without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Spawns a task of the set, as [`spawn_local`](super::spawn_local()) does, under the color of the caller.
    ///
    /// # Panics
    ///
    /// As there: on a thread that is neither a worker nor inside `block_on`.
    #[track_caller]
    pub fn spawn_local<F: Future + 'static>(&self, future: F) -> JoinHandle<F::Output> {
        spawn_in(&self.tasks, future)
    }

    /// Runs the future; what it spawns by [`spawn_local`](super::spawn_local()) belongs to the set. The tasks of the set go on
    /// when the future is done. As cancel safe as the future.
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        Inside { tasks: Rc::clone(&self.tasks), future }.await
    }

    /// Until the guard is dropped, what this thread spawns by [`spawn_local`](super::spawn_local()) belongs to the set.
    #[must_use = "dropping the guard leaves the set"]
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard { _inside: enter(&self.tasks) }
    }
}

/// Ready when no task of the set is left. Cancel safe, if it is polled by reference: a drop of the set aborts its tasks.
impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.tasks.left.get() == 0 {
            return Poll::Ready(());
        }
        let mut waiting = self.tasks.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        let running = self.tasks.running.take();
        running.values().for_each(AbortHandle::abort);
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").field("len", &self.tasks.left.get()).finish_non_exhaustive()
    }
}

/// The guard of [`LocalSet::enter`].
pub struct LocalEnterGuard {
    _inside: Restore,
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish_non_exhaustive()
    }
}

/// Spawns a task of the set that the thread is inside of, if there is one.
#[track_caller]
pub(super) fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    let current = CURRENT.with(|current| current.borrow().clone());
    match current {
        Some(tasks) => spawn_in(&tasks, future),
        None => spawn_here_on_thread(future),
    }
}

#[track_caller]
fn spawn_in<F: Future + 'static>(tasks: &Rc<Tasks>, future: F) -> JoinHandle<F::Output> {
    let number = tasks.spawned.get();
    tasks.spawned.set(number + 1);
    tasks.left.set(tasks.left.get() + 1);
    let member = Member { _ended: Ended { tasks: Rc::clone(tasks), number }, future };
    // If the call panics, the member is dropped, and counts no more.
    let handle = spawn_here_on_thread(Inside { tasks: Rc::clone(tasks), future: member });
    if !handle.is_finished() {
        tasks.running.borrow_mut().insert(number, handle.abort_handle());
    }
    handle
}

/// Dropped when the task's future has been dropped.
struct Ended {
    tasks: Rc<Tasks>,
    number: u64,
}

impl Drop for Ended {
    fn drop(&mut self) {
        let ended = self.tasks.running.borrow_mut().remove(&self.number);
        drop(ended);
        let left = self.tasks.left.get() - 1;
        self.tasks.left.set(left);
        if left == 0 {
            self.tasks.waiting.take().into_iter().for_each(Waker::wake);
        }
    }
}

pin_project! {
    /// A task's future, which is dropped before the rest.
    struct Member<F> {
        #[pin]
        future: F,
        _ended: Ended,
    }
}

impl<F: Future> Future for Member<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}

pin_project! {
    /// A future that is polled inside of the set.
    struct Inside<F> {
        tasks: Rc<Tasks>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Inside<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _inside = enter(this.tasks);
        this.future.poll(cx)
    }
}

/// Makes this the thread's set until the guard is dropped.
fn enter(tasks: &Rc<Tasks>) -> Restore {
    Restore(CURRENT.with(|current| current.replace(Some(Rc::clone(tasks)))))
}

struct Restore(Option<Rc<Tasks>>);

impl Drop for Restore {
    fn drop(&mut self) {
        // While a thread ends, its set may be gone first.
        let _ = CURRENT.try_with(|current| current.replace(self.0.take()));
    }
}
