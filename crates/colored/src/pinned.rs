//! Values and futures that stay on one thread: a [`PinnedCell`] is a value that all threads can use,
//! and [`spawn_pinned`] spawns a future.
//!
//! The value of a cell is a local variable of a task of [`spawn_local`](crate::spawn_local) on that
//! thread. This task, the *owner*, runs the closures that the handles send. So the value is made, used
//! and dropped on the thread of the task. The value ends with the task: when the last handle is
//! dropped, when the `block_on` of the thread ends, or when the runtime shuts down.

mod mailbox;
mod spawn;

pub use self::spawn::spawn_pinned;
pub(crate) use self::spawn::spawn_pinned_in;

use self::mailbox::{Receiver, Sender, mailbox};
use crate::task::consume_budget;
use colored_core::{
    Address, CallError, Color, Deadlock, RemoteCallWait, SchedulerHandle, contain, spawn_local,
};
use std::fmt;
use std::future::poll_fn;
use std::panic::{Location, resume_unwind};
use std::task::Poll;

/// A value that need not be `Send`: it is made, used and dropped on one thread, under one color. Its
/// handles can be sent to any thread.
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
/// Closures run one after another, in the order in which they were sent, and never in parallel with
/// anything else of the color. When the owner has its turn it runs all closures that wait, at most 128
/// before other work of the color has its turn. So a closure that is sent while others wait takes the
/// place of the first of them in the order of the *color*.
///
/// Clones share the value. The owner drops the value on its thread, under its color, when the last
/// clone has been dropped and all closures that were sent have run; when the `block_on` in which it was
/// made ends; and at shutdown. The owner then drops the remaining closures too, and their callers get
/// [`Gone`].
///
/// A use costs two allocations, a lock, and a switch to the thread unless the caller runs there. For a
/// `Send` value use a [`ColorCell`](crate::ColorCell).
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

/// Why a [`PinnedCell`] did not call a closure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinnedError {
    /// The wait would never end: a section ([`exclusive`](crate::exclusive())) holds the color, and
    /// waits, directly or through other waits, for the caller.
    Deadlock(Deadlock),
    /// The value is gone, or was dropped before the closure had run.
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

/// The runtime has no worker with that number.
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
    /// Makes a value on this thread, a worker or one that is inside `block_on`, under the color of the
    /// caller. In `block_on` this is the default color, unless the caller is in a
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

    /// Makes a value on a worker of this runtime, counted from 0, under a color, behind the work that
    /// is already scheduled there. Returns at once; closures that are sent meanwhile wait for the
    /// value.
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
        let Some(handle) = SchedulerHandle::with_current(|handle| handle.cloned()) else {
            panic!(
                "`PinnedCell::on_worker({worker}, {color}, ..)` outside a runtime: call it inside \
                 one, or use `Handle::pinned_cell`"
            )
        };
        Self::new_in(&handle, worker, color, make)
    }

    pub(crate) fn new_in(
        handle: &SchedulerHandle,
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
    /// Cancel safe: a call that is dropped before its first poll drops `f` at once. A call that has
    /// been sent drops `f` on the value's thread, unless `f` has begun; then `f` goes on.
    ///
    /// # Panics
    ///
    /// With the panic of `f`, which affects neither the value nor its task; and where
    /// [`checked_call`](Self::checked_call) returns an error.
    #[track_caller]
    pub fn call<R, F>(&self, f: F) -> impl Future<Output = R> + Send + use<T, R, F>
    where
        F: FnOnce(&mut T) -> R + Send + 'static,
        R: Send + 'static,
    {
        let (site, call) = (Location::caller(), self.checked_call(f));
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

    /// As [`call`](Self::call), with an error in place of its own panic, and as cancel safe.
    ///
    /// # Errors
    ///
    /// If the value is gone before `f` has run; and if its turn would never come ([`Deadlock`]). `f` is
    /// dropped, on the value's thread if it was sent there.
    #[track_caller]
    pub fn checked_call<R, F>(
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
            let (mut call, remote) = RemoteCallWait::new(f, waker);
            // The message that is given back is dropped, which ends the wait.
            drop(cell.sender.send(Box::new(move |value| remote.run(|f| f(value)))));
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
    /// The panic hook reports a panic of `f`, which goes no further. If the value is gone, or is
    /// dropped before `f` has run, `f` is dropped.
    pub fn post<F: FnOnce(&mut T) + Send + 'static>(&self, f: F) {
        drop(self.sender.send(Box::new(f)));
    }

    /// Whether the value is gone for good.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.sender.is_closed()
    }
}

/// Its fields are dropped in this order: the messages that are left in the mailbox are dropped while the value is still
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
