//! Reactor shards: readiness of sockets to wakers.
//!
//! A [`Shard`] is one mio `Poll` behind a lock. Possession of the lock is the right to poll, and it is
//! a value: a [`PollTurn`]. An idle worker takes a turn and blocks in it; a thread that finds the turn
//! taken knows that the shard is looked after. Registering, dropping and using sockets never needs the
//! turn.
//!
//! Locks, in the order in which they are taken: the turn, the table of the shard, the waiters of
//! one entry. No waker is called, cloned or dropped under the last two.

use std::io;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::Waker;
use std::time::{Duration, Instant};

#[cfg(unix)]
use mio::unix::SourceFd;
use mio::{Events, Poll, Registry, Token};

use self::alarm::Alarm;
pub(crate) use self::entry::{Entry, ListedWaiter};
pub(crate) use self::readiness::Snapshot;
pub use self::ready::{Interest, Ready};
pub(crate) use self::socket::Socket;
pub(crate) use self::table::Key;
use self::table::Table;
pub(crate) use self::watched::Watched;
use super::simulated::{Machine, Simulated};
use crate::error_context::with_context;

mod alarm;
mod entry;
mod readiness;
mod ready;
mod socket;
mod table;
#[cfg(test)]
mod tests;
mod waiters;
mod watched;

/// The token of [`Shard::wake`]. No socket has it: see [`Table::insert`].
const WAKE: Token = Token(usize::MAX);

/// The token of the [`Alarm`]. No socket has it either.
const ALARM: Token = Token(usize::MAX >> 1);

/// How many events one poll fetches. It bounds how long the table is locked; the remaining events come with the next
/// poll. The value is out of thin air.
const EVENTS: usize = 1024;

/// One mio `Poll` and the sockets registered with it.
#[repr(align(128))]
pub(crate) struct Shard {
    /// In a simulation there is none: its sockets are of no system.
    selector: Result<Selector, Simulated<()>>,
    /// A wake is on its way that no poll has answered yet; more of them would be the same.
    woken: AtomicBool,
    sockets: Mutex<Sockets>,
    /// A thread is inside [`PollTurn::poll`].
    polled: AtomicBool,
    /// How many polls have ended.
    polls: AtomicU64,
}

/// What the system has of a shard.
struct Selector {
    poller: Mutex<Poller>,
    registry: Registry,
    waker: mio::Waker,
}

/// The state that the turn gives access to.
struct Poller {
    poll: Poll,
    events: Events,
    alarm: Alarm,
}

#[derive(Default)]
struct Sockets {
    table: Table,
    shut_down: bool,
}

/// The right to poll a shard.
pub(crate) struct PollTurn<'a> {
    shard: &'a Shard,
    poller: MutexGuard<'a, Poller>,
}

impl Shard {
    /// A shard without sockets.
    ///
    /// # Errors
    ///
    /// When the system refuses a selector: two descriptors are needed, three on Linux.
    pub(crate) fn new() -> io::Result<Shard> {
        Shard::with_capacity(EVENTS)
    }

    /// A shard whose polls fetch at most `events` events each.
    fn with_capacity(events: usize) -> io::Result<Shard> {
        let poll = Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let alarm = Alarm::new(&registry, ALARM)?;
        Ok(Shard::of(Ok(Selector {
            waker: mio::Waker::new(&registry, WAKE)?,
            poller: Mutex::new(Poller { poll, events: Events::with_capacity(events), alarm }),
            registry,
        })))
    }

    /// A shard for sockets of a machine. Nobody polls it.
    pub(crate) fn simulated(machine: &Machine) -> Shard {
        Shard::of(Err(machine.as_ref().map(drop)))
    }

    fn of(selector: Result<Selector, Simulated<()>>) -> Shard {
        Shard {
            selector,
            woken: AtomicBool::new(false),
            sockets: Mutex::default(),
            polled: AtomicBool::new(false),
            polls: AtomicU64::new(0),
        }
    }

    /// Takes the right to poll, or answers at once that another thread has it.
    pub(crate) fn try_turn(&self) -> Option<PollTurn<'_>> {
        let poller = match self.selector.as_ref().ok()?.poller.try_lock() {
            Ok(poller) => poller,
            // The events that a panic left behind are cleared by the next poll.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(PollTurn { shard: self, poller })
    }

    /// Ends the poll that is under way; if there is none, the next one ends at once.
    ///
    /// The caller's earlier writes are visible to the polling thread when its poll has ended. Costs an atomic
    /// operation, and a system call unless an earlier wake has not been answered yet.
    pub(crate) fn wake(&self) {
        // Ordering: Release pairs with the Acquire of the swap in `PollTurn::poll`, also when an
        // earlier wake makes the system call; Acquire keeps the swaps of several wakers in a row.
        if !self.woken.swap(true, Ordering::AcqRel)
            && let Some(Err(error)) =
                self.selector.as_ref().ok().map(|selector| selector.waker.wake())
        {
            // An eventfd is full after 2^64 - 1 wakes; nothing else is known to fail.
            unreachable!("cannot wake a reactor shard: {error}");
        }
    }

    /// The descriptor of the selector: readable while events wait for a poll.
    #[cfg(unix)]
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.selector.as_ref().expect("a simulation has no event loop").registry.as_fd()
    }

    /// The number of polls that have ended. If it does not change, no thread polls the shard, or a thread is blocked in
    /// it.
    pub(crate) fn polls(&self) -> u64 {
        // Ordering: hint only.
        self.polls.load(Ordering::Relaxed)
    }

    /// True while a thread is inside [`PollTurn::poll`].
    pub(crate) fn is_polled(&self) -> bool {
        // Ordering: hint only.
        self.polled.load(Ordering::Relaxed)
    }

    /// Registers a socket for `watched`, and takes it for `ready` until the first event.
    ///
    /// # Errors
    ///
    /// When the runtime has shut down, or the system refuses: on Linux past
    /// `/proc/sys/fs/epoll/max_user_watches`.
    pub(crate) fn register(
        &self,
        socket: &mut impl Socket,
        ready: Ready,
        watched: Watched,
    ) -> io::Result<(Key, Arc<Entry>)> {
        let entry = Arc::new(Entry::new(ready, socket.number()));
        let key = {
            let mut sockets = self.sockets();
            if sockets.shut_down {
                return Err(entry::shut_down());
            }
            sockets.table.insert(entry.clone())?
        };
        let registered = self
            .with_registry(|registry| registry.register(socket, key.token(), watched.interest()));
        match registered {
            Ok(()) => Ok((key, entry)),
            Err(error) => {
                self.sockets().table.remove(key);
                Err(refused(error))
            }
        }
    }

    /// From now on there are events for everything. If the system would tell of room, it does at once.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    #[cfg(unix)]
    pub(crate) fn watch_room(&self, socket: &impl Socket, key: Key) -> io::Result<()> {
        let (number, everything) = (socket.number().cast_signed(), Watched::EVERYTHING.interest());
        self.with_registry(|registry| {
            registry.reregister(&mut SourceFd(&number), key.token(), everything)
        })
    }

    /// Ends the registration that [`register`](Shard::register) began; the socket must be open still. When it returns, no
    /// event reaches the entry any more, also if another thread is inside a poll that has fetched one.
    ///
    /// # Errors
    ///
    /// When the socket has another descriptor by now, or the system does not know it. It is forgotten all the same.
    pub(crate) fn deregister(&self, socket: &mut impl Socket, key: Key) -> io::Result<()> {
        let entry = self.sockets().table.remove(key);
        // The registration of another descriptor is not this socket's to end.
        match entry.is_of(socket.number()) {
            true => match &self.selector {
                Ok(selector) => selector.registry.deregister(socket),
                Err(_) => Err(kept()),
            },
            false => Err(changed()),
        }
    }

    /// Appends all wakers. From now on every operation on a socket of this shard fails with a clear
    /// error, and so does [`register`](Shard::register).
    pub(crate) fn shut_down(&self, wakers: &mut Vec<Waker>) {
        let mut sockets = self.sockets();
        sockets.shut_down = true;
        sockets.table.iter().for_each(|entry| entry.shut_down(wakers));
    }

    /// Tells the system something. In a simulation there is nobody to be told.
    fn with_registry(&self, f: impl FnOnce(&Registry) -> io::Result<()>) -> io::Result<()> {
        match &self.selector {
            Ok(selector) => f(&selector.registry),
            Err(_) => Ok(()),
        }
    }

    fn sockets(&self) -> MutexGuard<'_, Sockets> {
        // No code of others runs under this lock: nothing can be left half done.
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PollTurn<'_> {
    /// Waits up to `timeout`, or without it until an event or [`Shard::wake`], and answers how many
    /// events of sockets there were. Marks the sockets ready and appends the wakers to call; the
    /// caller gives up the turn and wakes afterwards. A signal counts as an end of the wait, and so
    /// does an alarm that [`poll_until`](PollTurn::poll_until) has set.
    ///
    /// Linux rounds the timeout up to milliseconds. The poll fetches at most [`EVENTS`] events.
    ///
    /// # Errors
    ///
    /// Errors of the system's selector; a selector in good order has none that are known.
    pub(crate) fn poll(
        &mut self,
        timeout: Option<Duration>,
        wakers: &mut Vec<Waker>,
    ) -> io::Result<usize> {
        let Poller { poll, events, alarm } = &mut *self.poller;
        let shard = self.shard;
        // Ordering: hint only, for both.
        shard.polled.store(true, Ordering::Relaxed);
        let polled = poll.poll(events, timeout);
        shard.polled.store(false, Ordering::Relaxed);
        // Ordering: hint only. Only the holder of the turn writes.
        shard.polls.store(shard.polls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        match polled {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(0),
            polled => polled?,
        }
        Ok(shard.dispatch(events, alarm, wakers))
    }

    /// As [`poll`](PollTurn::poll), without a wait. If there are no wakers to call, no event is left: no poll was full.
    ///
    /// # Errors
    ///
    /// As [`poll`](PollTurn::poll).
    pub(crate) fn poll_all(&mut self, wakers: &mut Vec<Waker>) -> io::Result<()> {
        // A wake and an alarm take places, too.
        let full = self.poller.events.capacity() - 2;
        while self.poll(Some(Duration::ZERO), wakers)? >= full && wakers.is_empty() {}
        Ok(())
    }

    /// Has the selector report an event at `deadline`, where the system can.
    pub(crate) fn arm(&mut self, deadline: Instant) -> io::Result<()> {
        self.poller.alarm.set(deadline).map(drop)
    }

    /// As [`poll`](PollTurn::poll), but waits no longer than to `deadline`, to the microsecond as far as
    /// the system can.
    ///
    /// # Errors
    ///
    /// As [`poll`](PollTurn::poll).
    pub(crate) fn poll_until(
        &mut self,
        timeout: Option<Duration>,
        deadline: Instant,
        wakers: &mut Vec<Waker>,
    ) -> io::Result<usize> {
        let left = self.poller.alarm.set(deadline)?;
        let timeout = match (timeout, left) {
            (Some(timeout), Some(left)) => Some(timeout.min(left)),
            (timeout, left) => timeout.or(left),
        };
        self.poll(timeout, wakers)
    }
}

impl Shard {
    /// Hands out one batch of events.
    fn dispatch(&self, events: &Events, alarm: &mut Alarm, wakers: &mut Vec<Waker>) -> usize {
        let mut count = 0;
        let mut sockets = None;
        for event in events {
            if event.token() == WAKE {
                // Ordering: Acquire pairs with the Release in `wake`. A wake that finds the flag
                // still set comes before this swap, and is answered by the end of this poll.
                self.woken.swap(false, Ordering::AcqRel);
                continue;
            }
            if event.token() == ALARM {
                alarm.rang();
                continue;
            }
            count += 1;
            let sockets = sockets.get_or_insert_with(|| self.sockets());
            if let Some(entry) = sockets.table.get(event.token()) {
                entry.mark(event, wakers);
            }
        }
        count
    }
}

/// The error of a value that has not kept its descriptor.
#[cold]
fn changed() -> io::Error {
    let text = "the value has another descriptor than the one that is registered; it must keep it";
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// The error of a simulated socket that is to be given away.
#[cold]
fn kept() -> io::Error {
    let text = "a simulated socket cannot be given away: it has no descriptor. Keep the type of `colored::net`";
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// The error of a socket that the system does not watch.
#[cold]
fn refused(error: io::Error) -> io::Error {
    let limit = match error.kind() {
        io::ErrorKind::StorageFull => {
            "; this user may watch as many sockets as /proc/sys/fs/epoll/max_user_watches says"
        }
        io::ErrorKind::PermissionDenied => {
            "; regular files and directories are always ready, and no system watches them"
        }
        _ => "",
    };
    let text = format!("the reactor cannot watch the descriptor: {error}{limit}");
    with_context(text, error)
}
