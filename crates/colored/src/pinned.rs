//! What stays on one thread: [`PinnedCell`], a value for all threads to use, and [`spawn_pinned`], a
//! future.
//!
//! The value of a cell is a local variable of a task of [`spawn_local`](crate::spawn_local) on that thread, its
//! *owner*, which runs the closures that the handles send. So the value is made, used and dropped
//! there because the task is; and it goes when the task does: when the last handle is dropped, when
//! the `block_on` of the thread ends, or when the runtime shuts down.

mod mailbox;
mod spawn;

pub use self::spawn::spawn_pinned;
pub(crate) use self::spawn::spawn_pinned_in;

use self::mailbox::{Receiver, Sender, mailbox};
use crate::task::consume_budget;
use colored_core::{Address, CallError, Color, Deadlock, ErrandCall, Handle, contain, spawn_local};
use std::fmt;
use std::future::poll_fn;
use std::panic::{Location, resume_unwind};
use std::task::Poll;

/// A value that need not be `Send`: it is made, used and dropped on one thread, under one color.
/// Handles to it go anywhere.
///
/// ```
/// use colored::PinnedCell;
/// use std::cell::RefCell;
/// use std::rc::Rc;
///
/// # fn main() -> std::io::Result<()> {
/// let runtime = colored::Runtime::new()?;
/// let sum = runtime.block_on(async {
///     // On the main thread, which is inside `block_on`.
///     let window = PinnedCell::here(|| Rc::new(RefCell::new(0)));
///     let from_elsewhere = window.clone();
///     colored::spawn_unique(async move {
///         from_elsewhere.post(|title| *title.borrow_mut() += 40);
///         from_elsewhere.call(|title| *title.borrow_mut() += 2).await;
///     })
///     .await
///     .unwrap();
///     window.call(|title| *title.borrow()).await
/// });
/// assert_eq!(sum, 42);
/// # Ok(())
/// # }
/// ```
///
/// Closures run one after another, in the order in which they were sent, and never beside anything
/// else of the color. Where it is due the owner runs all that is there, at most 128 closures before
/// others of the color have their turn: so one that is sent while others wait takes its place in the
/// order of the *color* with the first of them.
///
/// Clones share the value. It is dropped on its thread, under its color, when the last clone is gone
/// and what has been sent has run; when the `block_on` in which it was made ends; and at shutdown.
/// Then the closures that are left are dropped there too, and who waits for one gets [`Gone`].
///
/// A use costs two allocations, a lock, and a switch to the thread unless the caller is there; state
/// that is `Send` is better off in a [`ColorCell`](crate::ColorCell).
pub struct PinnedCell<T: 'static> {
    sender: Sender<T>,
}

/// The value of a [`PinnedCell`] is gone: its `block_on` has ended, its runtime has shut down, or it
/// could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone(());

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the value of this `PinnedCell` is gone: the `block_on` of its thread has ended, its \
             runtime was shut down, or the closure that makes it panicked",
        )
    }
}

impl std::error::Error for Gone {}

/// Why a closure was not called by a [`PinnedCell`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinnedError {
    /// To wait for its turn would never end: the color is held by a section
    /// ([`exclusive`](crate::exclusive())) that waits, in the end, for the caller.
    Deadlock(Deadlock),
    /// The value is gone, or went before the closure had run.
    Gone(Gone),
}

impl fmt::Display for PinnedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock(deadlock) => deadlock.fmt(f),
            Self::Gone(gone) => gone.fmt(f),
        }
    }
}

impl std::error::Error for PinnedError {}

/// There is no worker of that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoWorker {
    given: usize,
    workers: usize,
}

impl fmt::Display for NoWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { given, workers } = self;
        write!(f, "there is no worker {given}: this runtime has {workers}, numbered from 0")
    }
}

impl std::error::Error for NoWorker {}

impl<T: 'static> PinnedCell<T> {
    /// Makes a value on this thread, a worker or one that is inside `block_on`, under the color of
    /// the caller. In `block_on` that is the default one, unless the caller is in a
    /// [`ColorCell::call`](crate::ColorCell::call) that runs at once.
    ///
    /// # Panics
    ///
    /// With the panic of `make`; and on a thread that is neither a worker nor inside `block_on`.
    #[must_use]
    #[track_caller]
    pub fn here(make: impl FnOnce() -> T) -> Self {
        let (sender, receiver) = mailbox(Address::local());
        match spawn_local(own(Owner { receiver, value: make() })) {
            Ok(_detached) => Self { sender },
            Err(_) => panic!(
                "`PinnedCell::here` on a thread that is no worker and not inside `block_on`; \
                 `PinnedCell::on_worker` names a worker from anywhere"
            ),
        }
    }

    /// Has a value made on a worker of this runtime, counted from 0, under a color, behind what is
    /// scheduled there. Returns at once; what is sent meanwhile waits for the value.
    ///
    /// If `make` panics, the panic hook reports it and the value is [`Gone`].
    ///
    /// # Errors
    ///
    /// If there is no such worker. `make` is dropped.
    ///
    /// # Panics
    ///
    /// Outside a runtime: [`Handle::pinned_cell`](crate::Handle::pinned_cell) names one.
    #[track_caller]
    pub fn on_worker(
        worker: usize,
        color: impl Into<Color>,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Self, NoWorker> {
        let color = color.into();
        let Some(handle) = Handle::with_current(|handle| handle.cloned()) else {
            panic!(
                "`PinnedCell::on_worker({worker}, {color}, ..)` outside a runtime: call it inside \
                 one, or use `Handle::pinned_cell`"
            )
        };
        Self::new_in(&handle, worker, color, make)
    }

    pub(crate) fn new_in(
        handle: &Handle,
        worker: usize,
        color: Color,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Self, NoWorker> {
        let (sender, receiver) = mailbox(Some(Address::new(handle, color)));
        let begin = move || {
            let owner = spawn_local(own(Owner { receiver, value: make() }));
            debug_assert!(owner.is_ok(), "this is a worker");
        };
        match handle.post_to_worker(worker, color, begin) {
            Ok(()) => Ok(Self { sender }),
            Err(_) => Err(NoWorker { given: worker, workers: handle.scheduler().workers() }),
        }
    }

    /// Uses the value on its thread, under its color, and waits for the result.
    ///
    /// Cancel safe: a call that is dropped before its first poll drops `f` there and then; one that
    /// has been sent drops `f` on the value's thread, unless it has begun, when it goes on.
    ///
    /// # Panics
    ///
    /// With the panic of `f`, which harms neither the value nor its task; and where
    /// [`try_call`](Self::try_call) gives an error.
    #[track_caller]
    pub fn call<R, F>(&self, f: F) -> impl Future<Output = R> + Send + use<T, R, F>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        let (site, call) = (Location::caller(), self.try_call(f));
        async move {
            match call.await {
                Ok(result) => result,
                Err(PinnedError::Gone(gone)) => panic!("{gone}"),
                Err(PinnedError::Deadlock(deadlock)) => {
                    panic!("the call of a `PinnedCell` at {site}: {deadlock}")
                }
            }
        }
    }

    /// As [`call`](Self::call), without the panic of its own.
    ///
    /// # Errors
    ///
    /// If the value is gone before `f` has run; and if its turn would never come ([`Deadlock`]). `f` is
    /// dropped, on the value's thread if it was sent there.
    #[track_caller]
    pub fn try_call<R, F>(
        &self,
        f: F,
    ) -> impl Future<Output = Result<R, PinnedError>> + Send + use<T, R, F>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        let (cell, site) = (self.clone(), Location::caller());
        async move {
            let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
            let (mut call, errand) = ErrandCall::new(f, waker);
            // What is given back goes, and so ends the wait.
            drop(cell.sender.send(Box::new(move |value| errand.run(|f| f(value)))));
            let home = || cell.sender.home();
            let ended = poll_fn(|cx| call.poll(cx, site, home)).await;
            match ended {
                Ok(Ok(result)) => Ok(result),
                Ok(Err(panic)) => resume_unwind(panic),
                Err(CallError::Deadlock(deadlock)) => Err(PinnedError::Deadlock(deadlock)),
                Err(_) => Err(PinnedError::Gone(Gone(()))),
            }
        }
    }

    /// Sends `f` to the value and does not wait for it. Works on any thread.
    ///
    /// A panic of `f` is reported by the panic hook and goes no further. If the value is gone, or
    /// goes before `f` has run, `f` is dropped.
    pub fn post<F: FnOnce(&mut T) + Send + 'static>(&self, f: F) {
        drop(self.sender.send(Box::new(f)));
    }

    /// Whether the value is gone for good.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.sender.is_closed()
    }
}

/// Its fields are dropped in this order: what is left in the mailbox goes while the value is still
/// there.
struct Owner<T> {
    receiver: Receiver<T>,
    value: T,
}

/// The life of the value.
async fn own<T>(mut owner: Owner<T>) {
    while let Some(messages) = poll_fn(|cx| owner.receiver.poll_all(cx)).await {
        for message in messages {
            consume_budget().await;
            contain(|| message(&mut owner.value));
        }
    }
}

impl<T: 'static> Clone for PinnedCell<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone() }
    }
}

impl<T: 'static> fmt::Debug for PinnedCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedCell").field("is_gone", &self.is_gone()).finish_non_exhaustive()
    }
}
