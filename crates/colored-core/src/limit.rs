//! [`Limit`]: admission to a color, so that it is not given more than it can do.
//!
//! Whoever has a [`Permit`] is counted. A permit is taken at a semaphore ([`semaphore`]), moves into the task or
//! the callback that is admitted, and is given back when that is gone: by whichever way it goes, so
//! aborts, panics and shutdowns give it back as well. The limit stands before the lane and leaves
//! the lane alone: a color without a limit pays nothing.

mod cell;
pub(crate) mod delay;
mod error;
mod futures;
mod items;
mod permit;
pub(crate) mod semaphore;
mod state;
mod wait_queue;

pub use self::cell::LimitedCell;
pub use self::error::{Closed, RoomError, TrySendError, TrySpawnError};
pub use self::futures::{Post, Reserve, Spawn, TryWait};
pub use self::permit::Permit;
pub use self::wait_queue::{WaitQueue, WaiterId, WaiterState};

use self::delay::Delay;
use self::semaphore::{Refused, Semaphore};
use crate::color::Color;
use crate::lane::{LanePtr, LaneRef};
use crate::sched::Handle;
use crate::spawn::JoinHandle;
use crate::sync::{Arc, arc_dyn};
use crate::task::{Cause, Record};
use crate::wait::room::{Room, Ways};
use crate::wait::{Kind, Target};
use std::fmt;
use std::ptr::NonNull;
use std::task::Waker;
use std::time::Duration;

/// A limit to what one color is given: at most `capacity` items at a time.
///
/// | an item is | it is counted |
/// |---|---|
/// | a task, from [`spawn`](Self::spawn) | from its admission until its future has been dropped |
/// | a call or post of a [`cell`](Self::cell) | from its admission until its closure has run or been dropped |
/// | a [`Permit`] | until it is used, or dropped |
///
/// So the limit limits what waits and what is under way together: the length of the color's queue,
/// and the memory of its tasks. Only what comes through the limit or its clones is counted; another
/// limit of the same color has a count of its own.
///
/// **Order.** Whoever waits for room is admitted in the order of the first polls. Nobody overtakes:
/// while there is a line, `try_` says [`Full`](TrySendError::Full). Once admitted, items take their
/// places in the color's order (G2).
///
/// **Sends to oneself do not wait.** What runs under the limit's own color is admitted at once, over
/// the capacity and past the line: it would wait for itself. So [`depth`](Self::depth) may exceed
/// the capacity, by the number of such items; nobody else is admitted until it is below again. This
/// does not help two limits whose tasks each wait to be admitted by the other, nor a task that was
/// admitted, hopped away, and waits for admission from there: they need `try_`, or a
/// post from outside a task. Callbacks do not await, and so cannot get into this.
///
/// **The end.** [`close`](Self::close) ends admission: whoever waits, or comes later, gets the item
/// back. Dropping the last clone closes nothing.
///
/// **Costs**, in atomic read-modify-writes of the common case: 2 to come and go, 2 for the count of
/// clones. What is queued takes 2 more to be counted, and reads the clock twice (some 20 ns each on
/// Linux); a call that runs at once does not. Waiting costs a lock on both sides, and one wake-up. The
/// color itself, and all others, pay nothing.
///
/// A color without a limit has no depth that could be read: a count would be one more line that all
/// write who schedule something under it, and each of its polls again, in every program. How long a
/// color makes work wait can be had without: time an empty task under it.
///
/// ```
/// # use colored_core::{Limit, Color, TrySpawnError};
/// # use colored_core::{Park, Scheduler, Step};
/// # struct NoPark;
/// # impl Park for NoPark { fn unpark(&self, _: usize) {} fn now(&self) -> u64 { 0 } }
/// # let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
/// # let _entered = handle.enter();
/// let disk = Limit::new(Color::named("disk"), 1);
/// let first = disk.try_spawn(async { 1 });
/// assert!(first.is_ok());
/// assert_eq!(disk.depth(), 1);
/// match disk.try_spawn(async { 2 }) {
///     Err(TrySpawnError::Full(_later)) => {}
///     other => panic!("{other:?}"),
/// }
/// # while workers[0].step() == Step::Ran {}
/// assert_eq!(disk.depth(), 0);
/// ```
#[derive(Clone)]
pub struct Limit {
    inner: Arc<Inner>,
}

struct Inner {
    semaphore: Semaphore,
    lane: LaneRef,
    delay: Delay,
    /// For the clock.
    handle: Handle,
}

impl Room for Inner {
    fn ways(&self) -> Option<Ways> {
        self.semaphore.ways()
    }

    fn lane(&self) -> LanePtr {
        self.lane.ptr()
    }

    fn take_waker(&self, record: NonNull<Record>) -> Option<Waker> {
        self.semaphore.take_waker(record)
    }
}

impl Inner {
    /// How to ask a limit what is waited for.
    const KIND: &Kind = &Kind { target: Self::target, waker: |_| None };

    unsafe fn target(cause: &Cause) -> Option<Target> {
        let inner: *const Self = cause.what.cast();
        // SAFETY: made by `TryWait::waits`, from an `Arc` that is kept beside the record.
        unsafe { Arc::increment_strong_count(inner) };
        // SAFETY: just counted.
        let inner = unsafe { Arc::from_raw(inner) };
        Some(Target::Room(arc_dyn!(inner => dyn Room)))
    }

    /// Gives a permit back, by `leave`: true if somebody waits.
    #[inline]
    fn has_left(&self, leave: impl FnOnce(&Semaphore) -> bool) {
        if leave(&self.semaphore) {
            self.has_changed();
        }
    }

    /// Room may come only by some who are kept from going on now: that may have closed a cycle.
    fn has_changed(&self) {
        self.handle.scheduler().stir();
    }
}

impl Limit {
    /// A limit of `capacity` items for `color`, in the runtime that the calling thread works for.
    ///
    /// # Panics
    ///
    /// Outside a runtime: `Handle::limit` names one. If the capacity is 0, or more than 2⁶⁰.
    #[must_use]
    #[track_caller]
    pub fn new(color: impl Into<Color>, capacity: usize) -> Self {
        let color = color.into();
        let Some(handle) = Handle::with_current(|handle| handle.cloned()) else {
            panic!(
                "`Limit::new({color}, {capacity})` outside a runtime: call it inside one, or use \
                 `Handle::limit`"
            )
        };
        Self::new_in(&handle, color, capacity)
    }

    /// A limit of `capacity` items for `color` in the runtime of `handle`.
    ///
    /// # Panics
    ///
    /// If the capacity is 0, or more than 2⁶⁰.
    #[must_use]
    #[track_caller]
    pub fn new_in(handle: &Handle, color: impl Into<Color>, capacity: usize) -> Self {
        let semaphore = Semaphore::new(capacity);
        let (lane, handle) = (handle.lane(color.into()), handle.clone());
        Self { inner: Arc::new(Inner { semaphore, lane, delay: Delay::new(), handle }) }
    }

    /// Waits for room, then spawns a task under the color. At once from under the color itself.
    ///
    /// Cancel safe: dropped before it is ready, it has spawned nothing, and leaves the line.
    ///
    /// # Errors
    ///
    /// [`Closed`], with the future, if the limit is closed before there is room.
    ///
    /// # Panics
    ///
    /// When it is polled, if there would never be room ([`Deadlock`](crate::Deadlock)): all inside can
    /// go on under the color only, and that is held by a section ([`exclusive`](crate::exclusive()))
    /// which waits, in the end, for the caller. [`try_wait`](Self::try_wait) gives an error instead.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> Spawn<'_, F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Spawn::new(self, future)
    }

    /// Spawns a task under the color if there is room now, or the caller runs under the color.
    ///
    /// # Errors
    ///
    /// [`TrySpawnError`], with the future.
    pub fn try_spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, TrySpawnError<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.enter() {
            Ok(permit) => Ok(permit.spawn(future)),
            Err(refused) => Err(refused.with(future)),
        }
    }

    /// Waits for room, and takes it before there is an item. Cancel safe: dropped before it is ready,
    /// it leaves the line, and a permit that it was given on the way goes to the next.
    ///
    /// # Errors
    ///
    /// [`Closed`] if the limit is closed before there is room.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn reserve(&self) -> Reserve<'_> {
        Reserve::new(self)
    }

    /// As [`reserve`](Self::reserve), with an error in place of the panic for a wait without end. Who
    /// was told has left the line.
    ///
    /// # Errors
    ///
    /// [`RoomError`]: the limit is closed before there is room, or there would never be any.
    ///
    /// # Examples
    ///
    /// ```
    /// # use colored_core::{Limit, RoomError};
    /// # async fn example(disk: Limit) {
    /// match disk.try_wait().await {
    ///     Ok(permit) => drop(permit.spawn(async { /* reads a block */ })),
    ///     Err(RoomError::Deadlock(deadlock)) => eprintln!("not read: {deadlock}"),
    ///     Err(error) => eprintln!("not read: {error}"),
    /// }
    /// # }
    /// ```
    #[track_caller]
    pub fn try_wait(&self) -> TryWait<'_> {
        TryWait::new(self)
    }

    /// Takes room for an item if there is any now, or the caller runs under the color.
    ///
    /// # Errors
    ///
    /// [`TrySendError`].
    pub fn try_reserve(&self) -> Result<Permit, TrySendError<()>> {
        self.enter().map_err(|refused| refused.with(()))
    }

    /// Gives `value` to the color, behind this limit.
    #[must_use]
    #[track_caller]
    pub fn cell<T: Send + 'static>(&self, value: T) -> LimitedCell<T> {
        LimitedCell::new(self.clone(), value)
    }

    /// The color.
    #[must_use]
    pub fn color(&self) -> Color {
        self.inner.lane.color()
    }

    /// How many items may be inside.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.inner.semaphore.capacity()
    }

    /// How many items are inside: scheduled, under way, or a [`Permit`]. More than the capacity if
    /// the color has sent to itself. A figure of a moment that may be over.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.inner.semaphore.inside()
    }

    /// How many wait for room. Takes the lock of the line.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inner.semaphore.waiting()
    }

    /// How many items are scheduled under the color and have not begun: the length of the queue. What
    /// is under way, or a [`Permit`], is in [`depth`](Self::depth) and not in here. A figure of a moment
    /// that may be over.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.inner.delay.queued()
    }

    /// How long the color makes items wait, without the time spent waiting for room: how long the one
    /// that began last had been scheduled; or, if some are [`queued`](Self::queued) and none has begun
    /// for longer than that, for how long. That is at least half of the age of the oldest one queued,
    /// and exact if the color has been stuck since before the queue began. Zero while nothing is
    /// inside. Reads the clock.
    #[must_use]
    pub fn waited(&self) -> Duration {
        if self.depth() == 0 {
            return Duration::ZERO;
        }
        let now = self.inner.handle.scheduler().now();
        Duration::from_nanos(self.inner.delay.at(now))
    }

    /// Ends admission, for all clones and cells. Whoever waits gets the item back, as do all that
    /// come later. What is inside goes on; when [`depth`](Self::depth) is 0 afterwards, it has all
    /// gone and nothing comes any more.
    pub fn close(&self) {
        self.inner.semaphore.close();
    }

    /// By what room comes, if that is known of all who are inside.
    #[cfg(all(test, colored_loom))]
    pub(crate) fn ways(&self) -> Option<Ways> {
        self.inner.semaphore.ways()
    }

    /// Whether it has been closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.semaphore.is_closed()
    }
}

impl Refused {
    fn with<T>(self, item: T) -> TrySendError<T> {
        match self {
            Self::Full => TrySendError::Full(item),
            Self::Closed => TrySendError::Closed(item),
        }
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limit")
            .field("color", &self.color())
            .field("capacity", &self.capacity())
            .field("depth", &self.depth())
            .field("queued", &self.queued())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
