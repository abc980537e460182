//! [`Limit`]: a limit on the work of a color.
//!
//! The limit counts [`Permit`]s. A [`semaphore`](crate::semaphore) grants a permit, which moves
//! into the admitted task or callback and is released when that is dropped, also by an abort, a
//! panic or a shutdown. The limit is in front of the lane and does not change the lane: a color without a limit pays
//! nothing.

mod cell;
mod futures;
mod permit;

pub use self::cell::{LimitedCell, Post};
pub use self::futures::{CheckedReserve, Reserve, Spawn};
pub use self::permit::Permit;

use crate::delay::Delay;
use crate::error::{TrySendError, TrySpawnError};
use crate::semaphore::{Refused, Semaphore};
use colored_core::port::sync::Arc;
use colored_core::port::{Room, WaitId, Ways};
use colored_core::{Address, Color, JoinHandle, SchedulerHandle};
use std::fmt;
use std::task::Waker;
use std::time::Duration;

/// A limit on the work of one color: at most `capacity` items at a time.
///
/// | an item is | it is counted |
/// |---|---|
/// | a task, from [`spawn`](Self::spawn) | from its admission until its future has been dropped |
/// | a call or post of a [`cell`](Self::cell) | from its admission until its closure has run or been dropped |
/// | a [`Permit`] | until it is used, or dropped |
///
/// So the capacity limits waiting and running items together: the length of the color's queue, and
/// the memory of its tasks. The limit counts only items that come through it or its clones; another
/// limit of the same color has a count of its own.
///
/// **Order.** The limit admits waiters in the order of their first polls. No sender overtakes:
/// while senders wait, the `try_` functions return [`Full`](TrySendError::Full). Admitted items
/// take their places in the color's order (G2).
///
/// **Sends to the own color do not wait.** The limit admits senders that run under its own color at
/// once, over the capacity and before all waiters, because they would wait for themselves. So
/// [`depth`](Self::depth) may exceed the capacity by the number of such items; the limit admits no
/// other sender until the depth is below the capacity again. So senders from outside wait for as long
/// as the color's own items overlap and fill the limit: where tasks of the color take permits in a
/// loop, give the loop another color, or take fewer permits at a time than there are. Two limits whose tasks wait for room
/// under each other can still wait for ever, and so can an admitted task that has hopped to another
/// color and waits for room from there: these need a `try_` function, or a post from outside a
/// task. Callbacks do not await, so they cannot wait for ever.
///
/// **The end.** After [`close`](Self::close) the limit admits nothing: waiting and later senders
/// get their items back. Dropping the last clone does not close the limit.
///
/// **Costs**, in atomic read-modify-writes of the common case: 2 to enter and leave, 2 for the
/// count of clones. A queued item takes 2 more to be counted, and reads the clock twice (some 20 ns
/// each on Linux); a call that runs at once does not. Waiting costs a lock on both sides, and one
/// wake-up. Work that does not pass the limit pays nothing.
///
/// A color without a limit has no depth to read: a count would be one more cache line that every
/// scheduling and every poll writes, in every program. To measure the delay of such a color, time
/// an empty task under it.
///
/// ```
/// # use colored_core::{Color, Park, Scheduler, Step};
/// # use colored_limit::{Limit, TrySpawnError};
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
    address: Address,
    delay: Delay,
    /// The handle of the scheduler, for its clock.
    handle: SchedulerHandle,
}

impl Room for Inner {
    fn address(&self) -> &Address {
        &self.address
    }

    fn ways(&self) -> Option<Ways> {
        self.semaphore.ways()
    }

    fn take_waker(&self, wait: WaitId) -> Option<Waker> {
        self.semaphore.take_waker(wait)
    }
}

impl Inner {
    /// Releases a permit by `leave`, which returns true if other senders wait.
    #[inline]
    fn release(&self, leave: impl FnOnce(&Semaphore) -> bool) {
        if leave(&self.semaphore) {
            self.stir();
        }
    }

    /// Has the waits searched for a cycle soon: after the change that was just made, perhaps only blocked items can
    /// release room.
    fn stir(&self) {
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
        let Some(handle) = SchedulerHandle::with_current(|handle| handle.cloned()) else {
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
    pub fn new_in(handle: &SchedulerHandle, color: impl Into<Color>, capacity: usize) -> Self {
        let semaphore = Semaphore::new(capacity);
        let (address, handle) = (Address::new(handle, color.into()), handle.clone());
        Self { inner: Arc::new(Inner { semaphore, address, delay: Delay::new(), handle }) }
    }

    /// Waits for room, then spawns a task under the color. From under the color itself, spawns at
    /// once.
    ///
    /// Cancel safe: a future that is dropped before it is ready has spawned nothing, and leaves the
    /// line.
    ///
    /// # Errors
    ///
    /// [`Closed`](crate::Closed), with the future, if the limit is closed before there is room.
    ///
    /// # Panics
    ///
    /// When it is polled, if there would never be room ([`Deadlock`](colored_core::Deadlock)): all items
    /// inside can go on only under the color, and a section ([`exclusive`](colored_core::exclusive()))
    /// holds the color and waits, directly or through other waits, for the caller.
    /// [`checked_reserve`](Self::checked_reserve) returns an error instead.
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
            Err(refused) => Err(give_back(refused, future)),
        }
    }

    /// Waits for room, and takes a permit before there is an item. Cancel safe: a future that is
    /// dropped before it is ready leaves the line, and passes a permit that it has got meanwhile to
    /// the next waiter.
    ///
    /// # Errors
    ///
    /// [`Closed`](crate::Closed) if the limit is closed before there is room.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn reserve(&self) -> Reserve<'_> {
        Reserve::new(self)
    }

    /// As [`reserve`](Self::reserve), with an error in place of the panic for a wait that would
    /// never end, and as cancel safe. A waiter that gets the error has left the line.
    ///
    /// # Errors
    ///
    /// [`RoomError`](crate::RoomError): the limit is closed before there is room, or there would never be any.
    ///
    /// # Examples
    ///
    /// ```
    /// # use colored_limit::{Limit, RoomError};
    /// # async fn example(disk: Limit) {
    /// match disk.checked_reserve().await {
    ///     Ok(permit) => drop(permit.spawn(async { /* reads a block */ })),
    ///     Err(RoomError::Deadlock(deadlock)) => eprintln!("not read: {deadlock}"),
    ///     Err(error) => eprintln!("not read: {error}"),
    /// }
    /// # }
    /// ```
    #[track_caller]
    pub fn checked_reserve(&self) -> CheckedReserve<'_> {
        CheckedReserve::new(self)
    }

    /// Takes a permit if there is room now, or the caller runs under the color.
    ///
    /// # Errors
    ///
    /// [`TrySendError`].
    pub fn try_reserve(&self) -> Result<Permit, TrySendError<()>> {
        self.enter().map_err(|refused| give_back(refused, ()))
    }

    /// Makes a cell with `value`, under the color and behind this limit.
    #[must_use]
    #[track_caller]
    pub fn cell<T: Send + 'static>(&self, value: T) -> LimitedCell<T> {
        LimitedCell::new(self.clone(), value)
    }

    /// The color.
    #[must_use]
    pub fn color(&self) -> Color {
        self.inner.address.color()
    }

    /// How many items may be inside at a time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.inner.semaphore.capacity()
    }

    /// How many items are inside: scheduled items, running items, and [`Permit`]s. The number
    /// exceeds the capacity if the color has sent to itself. It may be outdated when the function
    /// returns.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.inner.semaphore.inside()
    }

    /// How many senders wait for room. Takes the lock of the line.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inner.semaphore.waiting()
    }

    /// How many items are scheduled under the color and have not begun: the length of the queue.
    /// Running items and [`Permit`]s count in [`depth`](Self::depth), but not here. The number may
    /// be outdated when the function returns.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.inner.delay.queued()
    }

    /// How long the color delays its items, without the time spent waiting for room: the time for
    /// which the item that began last had been scheduled; or, if items are [`queued`](Self::queued)
    /// and none has begun for longer than that, the time since one began. The result is at least
    /// half of the age of the oldest queued item, and exact if the color has been stuck since
    /// before the queue began. It is zero while nothing is inside. Reads the clock.
    #[must_use]
    pub fn waited(&self) -> Duration {
        if self.depth() == 0 {
            return Duration::ZERO;
        }
        let now = self.inner.handle.scheduler().now();
        Duration::from_nanos(self.inner.delay.at(now))
    }

    /// Closes the limit, for all clones and cells. Waiting and later senders get their items back.
    /// Items inside go on; when [`depth`](Self::depth) is 0 afterwards, all of them are done and no
    /// item will follow.
    pub fn close(&self) {
        self.inner.semaphore.close();
    }

    /// The ways in which there can be room, if they are known for all items inside.
    #[cfg(all(test, colored_loom))]
    pub(crate) fn ways(&self) -> Option<Ways> {
        self.inner.semaphore.ways()
    }

    /// Whether the limit has been closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.semaphore.is_closed()
    }
}

/// Gives a refused item back.
pub(crate) fn give_back<T>(refused: Refused, item: T) -> TrySendError<T> {
    match refused {
        Refused::Full => TrySendError::Full(item),
        Refused::Closed => TrySendError::Closed(item),
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
