//! [`Registered`]: a socket and its registration, which are one value.
//!
//! The invariant: **a registration ends while its descriptor is open.** The system knows a registration by the number of
//! the descriptor and by the open file behind it. A number whose descriptor was closed may be a fresh socket's: a
//! late end of the old registration ends that socket's, and its task sleeps for ever. And if a second descriptor
//! shares the open file, the registration stays, and the system refuses the next one of this number and this file.
//!
//! So [`Registered`] owns what keeps the descriptor open: the socket, or a counted reference to it. Its drop and
//! [`into_inner`](Registered::into_inner) deregister, and then drop the socket or give it away. Nothing else deregisters,
//! so no order of fields can be wrong. The places where the two end, or change owner:
//!
//! | place | what happens |
//! |---|---|
//! | sockets and pipes of `net`: `from_std`, `into_std` | They own a `Registered`. `into_std` deregisters, and gives the socket away. |
//! | a dropped `connect` | The socket is registered while it connects: the same drop. |
//! | halves, `reunite` | They count references to the connection. The last one drops it, and `reunite` takes it out, registered as it is. |
//! | a constructor that fails | The system has refused, so nothing is registered. The table forgets the key, and the socket is closed, or returned by `AsyncFd::try_new`. Of a pair, the first socket is dropped. |
//! | `AsyncFd` | Owns a `Registered`. A value that was exchanged for one with another descriptor is not deregistered: that would end the registration of somebody else. The system forgets the old descriptor when it is closed. |
//! | `fs::File`, pipes of children | The first wait registers a counted reference. `into_std` deregisters, and takes the file out; beside an operation that is not over it gives a duplicate away, and the end of the operation deregisters. |
//! | `try_clone` | A descriptor of its own, with a registration of its own. |
//! | the end of a child | It owns an `AsyncFd`. |
//! | `signal` | Owns a `UnixStream`. The end that the handler writes to is not registered. |
//! | hyper | A connection owns its socket and returns it, registered as it is. |
//! | the end of the runtime | Operations fail. A socket keeps the driver, and so the selector: the drop deregisters as before. |
//! | another runtime | Tasks of any runtime may wait. The registration stays where it was made. |
//! | the alarm, the waker and the io_uring of a shard | Nothing deregisters them: they are closed together with the selector. |
//! | the timer of the reactor thread | It is not registered: the thread reads it. |
//! | sockets of the inspector | They are in a selector of its thread. It deregisters nothing, and closes them. |

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};

use crate::budget;
use crate::driver::Driver;
use crate::driver::reactor::{
    Entry, Interest, Key, ListedWaiter, Ready, Shard, Snapshot, Socket, Watched,
};
use crate::services::current;

/// A socket that is registered with a shard of the runtime for as long as this lives: see the [module](self).
///
/// It keeps the driver, not the runtime, so dropping it after the runtime is fine; using it then
/// is an error. The shard is the home of the worker that registers.
pub(crate) struct Registered<S: Socket> {
    /// Empty only while `drop` and `into_inner` take it out.
    socket: Option<S>,
    entry: Arc<Entry>,
    key: Key,
    shard: usize,
    driver: Arc<Driver>,
    room: WritableEvents,
}

/// mio has epoll here, or kqueue. Elsewhere it asks again for the events for which a socket was registered.
#[cfg(unix)]
const CAN_WATCH_LATER: bool = cfg!(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd",
));

/// When the system is asked for events of room for data.
enum WritableEvents {
    On,
    /// When an operation has found no room. `on` says whether that has happened.
    #[cfg(unix)]
    Later {
        on: AtomicBool,
    },
}

impl<S: Socket> Registered<S> {
    /// Registers `socket` with the runtime of this thread and takes it for `ready` until the first
    /// event: an operation that is likely to go ahead then does so without a round through the
    /// reactor.
    ///
    /// # Errors
    ///
    /// See [`Shard::register`].
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub(crate) fn new(socket: S, ready: Ready) -> io::Result<Registered<S>> {
        current::with(|context| Registered::within(context, socket, ready))
    }

    /// As [`new`](Registered::new), for a socket that can take data and of which the system would tell
    /// each time that its peer has read: Unix sockets. They are watched for room from when there is
    /// none; most never are.
    ///
    /// # Errors
    ///
    /// See [`Shard::register`].
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn with_room(socket: S) -> io::Result<Registered<S>> {
        if !CAN_WATCH_LATER || socket.is_simulated() {
            return Registered::new(socket, Ready::READABLE | Ready::WRITABLE);
        }
        let later = WritableEvents::Later { on: AtomicBool::new(false) };
        let ready = Ready::READABLE | Ready::WRITABLE;
        current::with(|context| {
            Registered::watched(context, socket, ready, Watched::ALL_BUT_ROOM, later)
        })
    }

    /// As [`new`](Registered::new), for the events of `watched` only, and an error returns the socket.
    ///
    /// # Errors
    ///
    /// See [`Shard::register`].
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn try_new(
        socket: S,
        ready: Ready,
        watched: Watched,
    ) -> Result<Registered<S>, (S, io::Error)> {
        current::with(|context| {
            Registered::try_watched(context, socket, ready, watched, WritableEvents::On)
        })
    }

    /// As [`new`](Registered::new), with the runtime of another thread.
    ///
    /// # Errors
    ///
    /// See [`Shard::register`].
    pub(crate) fn within(
        context: &current::Context,
        socket: S,
        ready: Ready,
    ) -> io::Result<Registered<S>> {
        Registered::watched(context, socket, ready, Watched::EVERYTHING, WritableEvents::On)
    }

    fn watched(
        context: &current::Context,
        socket: S,
        ready: Ready,
        watched: Watched,
        room: WritableEvents,
    ) -> io::Result<Registered<S>> {
        let registered = Registered::try_watched(context, socket, ready, watched, room);
        registered.map_err(|(_, error)| error)
    }

    fn try_watched(
        context: &current::Context,
        mut socket: S,
        ready: Ready,
        watched: Watched,
        room: WritableEvents,
    ) -> Result<Registered<S>, (S, io::Error)> {
        if context.services.machine.is_some() != socket.is_simulated() {
            return Err((socket, refused_by_simulation()));
        }
        let driver = Arc::clone(&context.driver);
        let shard = driver.shards.choose(context.worker);
        match driver.shards.get(shard).register(&mut socket, ready, watched) {
            Ok((key, entry)) => {
                socket.attach(&entry);
                Ok(Registered { socket: Some(socket), entry, key, shard, driver, room })
            }
            Err(error) => Err((socket, error)),
        }
    }
}

/// Before something of the system is made that a simulation does not have.
///
/// # Errors
///
/// In a simulation.
#[cfg(unix)]
#[track_caller]
pub(crate) fn refuse_in_simulation() -> io::Result<()> {
    match current::with(|context| context.services.machine.is_some()) {
        true => Err(refused_by_simulation()),
        false => Ok(()),
    }
}

#[cold]
fn refused_by_simulation() -> io::Error {
    let text = "a simulation has sockets that `colored::net` makes inside of it, but for `UnixDatagram`; it has no pipes, \
                signals, children, and descriptors from elsewhere: give the code under test a stream in memory, such as \
                `tokio::io::duplex`";
    io::Error::new(io::ErrorKind::Unsupported, text)
}

impl<S: Socket> Registered<S> {
    /// The socket.
    pub(crate) fn get(&self) -> &S {
        self.socket.as_ref().expect("the socket is taken out only by value")
    }

    /// The socket. It must keep its descriptor.
    #[cfg(unix)]
    pub(crate) fn get_mut(&mut self) -> &mut S {
        self.socket.as_mut().expect("the socket is taken out only by value")
    }

    /// Ends the registration and gives the socket back, still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// When the socket has another descriptor by now, or the system does not know it. It is then closed.
    pub(crate) fn into_inner(mut self) -> io::Result<S> {
        let mut socket = self.socket.take().expect("the socket is taken out only by value");
        self.shard().deregister(&mut socket, self.key)?;
        Ok(socket)
    }

    /// Runs `operation` once the socket is ready in the direction of `interest`, again as long as
    /// it answers `WouldBlock`. Waits in the slot of the direction: the last task to poll is woken.
    ///
    /// Takes one unit of the budget, and returns it when the operation has to wait. The snapshot is
    /// for [`note_drained`](Registered::note_drained).
    pub(crate) fn poll_io<T>(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        operation: impl FnMut(&S) -> io::Result<T>,
    ) -> Poll<io::Result<(Snapshot, T)>> {
        self.drive(cx, interest, |cx| self.entry.poll_slot(cx, interest), operation)
    }

    /// Like [`poll_io`](Registered::poll_io) for any number of tasks at once. Cancel safe: the
    /// operation has not run, or has not succeeded, unless this returns.
    pub(crate) async fn io<T>(
        &self,
        interest: Interest,
        mut operation: impl FnMut(&S) -> io::Result<T>,
    ) -> io::Result<(Snapshot, T)> {
        let mut waiter = ListedWaiter::new(&self.entry, interest);
        poll_fn(|cx| self.drive(cx, interest, |cx| waiter.poll(cx), &mut operation)).await
    }

    /// Waits until the socket is ready for part of `interest`, and returns that part. Cancel safe.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.entry.know(interest);
        let mut waiter = ListedWaiter::new(&self.entry, interest);
        let seen = poll_fn(|cx| metered(cx, |cx| waiter.poll(cx))).await?;
        Ok(seen.ready().and(interest.answered_by()))
    }

    /// Waits like [`ready`](Registered::ready), in the slot of the direction of `interest`.
    pub(crate) fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
    ) -> Poll<io::Result<()>> {
        self.entry.know(interest);
        metered(cx, |cx| self.entry.poll_slot(cx, interest)).map_ok(|_| ())
    }

    /// Runs `operation` once, without waiting, unless the socket is known not to be ready.
    pub(crate) fn try_io<T>(
        &self,
        interest: Interest,
        operation: impl FnOnce(&S) -> io::Result<T>,
    ) -> io::Result<(Snapshot, T)> {
        let seen = self.before_try(interest)?;
        let done = operation(self.get());
        self.after_try(seen, interest, done)
    }

    /// As [`try_io`](Registered::try_io). The socket must keep its descriptor.
    #[cfg(unix)]
    pub(crate) fn try_io_mut<T>(
        &mut self,
        interest: Interest,
        operation: impl FnOnce(&mut S) -> io::Result<T>,
    ) -> io::Result<T> {
        let seen = self.before_try(interest)?;
        let done = operation(self.get_mut());
        self.after_try(seen, interest, done).map(|(_, done)| done)
    }

    fn before_try(&self, interest: Interest) -> io::Result<Snapshot> {
        let seen = self.entry.now()?;
        match seen.ready().and(interest.answered_by()).is_empty() {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => Ok(seen),
        }
    }

    fn after_try<T>(
        &self,
        seen: Snapshot,
        interest: Interest,
        done: io::Result<T>,
    ) -> io::Result<(Snapshot, T)> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.note_exhausted(seen, interest)?;
                Err(error)
            }
            done => Ok((seen, done?)),
        }
    }

    /// Notes that an operation in the direction of `interest` moved fewer bytes than it asked for,
    /// but some. Saves the next one a system call that would answer `WouldBlock`.
    pub(crate) fn note_drained(&self, seen: Snapshot, interest: Interest) {
        // If the system will not tell of room, the next operation asks, and reports that.
        if self.watch_room(interest).is_ok() {
            self.entry.drained(seen, interest);
        }
    }

    /// The socket is shut down in these directions: tasks that wait for them are woken. Not every system tells of that.
    pub(crate) fn end(&self, how: Shutdown) {
        let ready = match how {
            Shutdown::Read => Ready::READABLE,
            Shutdown::Write => Ready::WRITABLE,
            Shutdown::Both => Ready::READABLE | Ready::WRITABLE,
        };
        let mut wakers = Vec::new();
        self.entry.mark_ready(ready, &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn note_exhausted(&self, seen: Snapshot, interest: Interest) -> io::Result<()> {
        self.watch_room(interest)?;
        self.entry.exhausted(seen, interest);
        Ok(())
    }

    /// Before a task waits for `interest`. Several may come here at once, and then ask the system the same; an event
    /// that one of them gets concerns all.
    #[cfg(unix)]
    fn watch_room(&self, interest: Interest) -> io::Result<()> {
        if let (true, WritableEvents::Later { on }) = (interest.is_writable(), &self.room)
            // Ordering: Acquire pairs with the Release below: a thread that need not ask comes after the answer.
            && !on.load(Ordering::Acquire)
        {
            self.shard().watch_room(self.get(), self.key)?;
            on.store(true, Ordering::Release);
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn watch_room(&self, _: Interest) -> io::Result<()> {
        let WritableEvents::On = self.room;
        Ok(())
    }

    fn drive<T>(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        mut wait: impl FnMut(&mut Context<'_>) -> Poll<io::Result<Snapshot>>,
        mut operation: impl FnMut(&S) -> io::Result<T>,
    ) -> Poll<io::Result<(Snapshot, T)>> {
        metered(cx, |cx| {
            loop {
                let seen = ready!(wait(cx))?;
                match operation(self.get()) {
                    Ok(done) => return Poll::Ready(Ok((seen, done))),
                    Err(error) => match error.kind() {
                        io::ErrorKind::WouldBlock => self.note_exhausted(seen, interest)?,
                        io::ErrorKind::Interrupted => {}
                        _ => return Poll::Ready(Err(error)),
                    },
                }
            }
        })
    }

    fn shard(&self) -> &Shard {
        self.driver.shards.get(self.shard)
    }

    /// How many tasks wait in the list.
    #[cfg(test)]
    pub(crate) fn listed(&self) -> usize {
        self.entry.listed()
    }
}

/// Polls with one unit of the budget, which is returned if there was nothing to do.
fn metered<T>(cx: &mut Context<'_>, poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
    ready!(budget::poll_proceed(cx));
    let polled = poll(cx);
    if polled.is_pending() {
        budget::give_back();
    }
    polled
}

impl<S: Socket> fmt::Debug for Registered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("shard", &self.shard).finish_non_exhaustive()
    }
}

impl<S: Socket> Drop for Registered<S> {
    fn drop(&mut self) {
        if let Some(mut socket) = self.socket.take() {
            // The entry is gone either way, and the socket is about to be.
            let _ = self.shard().deregister(&mut socket, self.key);
        }
    }
}
