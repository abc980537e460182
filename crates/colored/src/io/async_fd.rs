//! [`AsyncFd`]: descriptors that this crate has no type for.

mod error;
#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod priority;

pub use self::error::AsyncFdTryNewError;

use crate::driver::descriptor::Descriptor;
use crate::driver::reactor::{Interest, Ready, Watched};
use crate::error_context::{Listening, NamedError};
use crate::registration::Registered;
use std::fmt;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll};

/// A value with a descriptor that the reactor watches: an event counter, a device, a socket of another library.
///
/// The value must be in non-blocking mode, and must keep its descriptor open, and the same, for as long as it is in here:
/// a number (`RawFd`) does not, and if its descriptor is closed before the `AsyncFd` is dropped, the drop may end the
/// registration of another one that has got the number. Tasks may share an `AsyncFd`, and each that waits is woken.
/// Dropping it ends the registration, and then drops the value.
///
/// # Examples
///
/// ```
/// use colored::io::{AsyncFd, Interest};
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// let (mut near, far) = UnixStream::pair()?;
/// far.set_nonblocking(true)?;
/// let far = AsyncFd::new(far)?;
/// near.write_all(b"hello")?;
/// let mut bytes = [0; 10];
/// let n = far.async_io(Interest::READABLE, |mut far| far.read(&mut bytes)).await?;
/// assert_eq!(&bytes[..n], b"hello");
/// # Ok(())
/// # }
/// ```
pub struct AsyncFd<T: AsRawFd> {
    inner: Registered<Descriptor<T>>,
}

impl<T: AsRawFd> AsyncFd<T> {
    /// Registers the descriptor with the runtime of this thread.
    ///
    /// # Errors
    ///
    /// The system's: it watches neither regular files nor directories
    /// ([`PermissionDenied`](io::ErrorKind::PermissionDenied)), nor one descriptor twice
    /// ([`AlreadyExists`](io::ErrorKind::AlreadyExists)). The value is dropped then.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn new(value: T) -> io::Result<Self> {
        Self::try_new(value).map_err(io::Error::from)
    }

    /// As [`new`](Self::new), but the system watches for `interest` only: tasks that wait for another may wait for ever.
    /// [`new`](Self::new) watches for all.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn with_interest(value: T, interest: Interest) -> io::Result<Self> {
        Self::try_with_interest(value, interest).map_err(io::Error::from)
    }

    /// As [`new`](Self::new), and an error returns the value.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), with the value.
    ///
    /// # Panics
    ///
    /// Outside a runtime; the value is dropped.
    #[track_caller]
    pub fn try_new(value: T) -> Result<Self, AsyncFdTryNewError<T>> {
        Self::try_with_interest(value, Interest::READABLE | Interest::WRITABLE)
    }

    /// As [`with_interest`](Self::with_interest), and an error returns the value.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), with the value.
    ///
    /// # Panics
    ///
    /// Outside a runtime; the value is dropped.
    #[track_caller]
    pub fn try_with_interest(value: T, interest: Interest) -> Result<Self, AsyncFdTryNewError<T>> {
        // The system tells at once for what it is ready.
        let listening = Listening::begin();
        match Registered::try_new(Descriptor(value), Ready::EMPTY, Watched::of(interest)) {
            Ok(inner) => Ok(Self { inner }),
            Err((Descriptor(value), cause)) => {
                Err(AsyncFdTryNewError { value, cause: NamedError::of(cause, listening.end()) })
            }
        }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.inner.get().0
    }

    /// The value. Its descriptor must stay the same.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner.get_mut().0
    }

    /// Ends the registration, and returns the value.
    ///
    /// # Errors
    ///
    /// When the value has another descriptor than the one that is registered, or the system does not know it; the value is
    /// dropped then.
    pub fn into_inner(self) -> io::Result<T> {
        self.inner.into_inner().map(|descriptor| descriptor.0)
    }

    /// Waits until there is something to read, which may be the end. Cancel safe.
    ///
    /// This is a hint, and stays so until an operation inside [`try_io`](Self::try_io) or
    /// [`async_io`](Self::async_io) has answered `WouldBlock`.
    pub async fn readable(&self) -> io::Result<()> {
        self.ready(Interest::READABLE).await.map(|_| ())
    }

    /// Waits until something can be written. Cancel safe. A hint like [`readable`](Self::readable).
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(Interest::WRITABLE).await.map(|_| ())
    }

    /// Waits until the descriptor is ready for part of `interest`, and returns that part. Cancel safe. A hint like
    /// [`readable`](Self::readable).
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.inner.ready(interest).await
    }

    /// Like [`readable`](Self::readable); only the last task to poll for reading is woken.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(cx, Interest::READABLE)
    }

    /// Like [`writable`](Self::writable); only the last task to poll for writing is woken.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(cx, Interest::WRITABLE)
    }

    /// Runs `operation` once, unless the descriptor is known not to be ready for `interest`.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if the descriptor is not ready. When `operation` returns this error, the
    /// descriptor counts as not ready for all of `interest` until the system reports an event. So `operation` must return
    /// it only if the system did, and `interest` must cover no more than the system call that failed.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        operation: impl FnOnce(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.inner.try_io(interest, |descriptor| operation(&descriptor.0)).map(|(_, done)| done)
    }

    /// Runs `operation` when the descriptor is ready for part of `interest`, and again as long as it returns
    /// [`WouldBlock`](io::ErrorKind::WouldBlock); [`try_io`](Self::try_io) lists its obligations. Cancel safe: unless this
    /// returns, `operation` has not run or has not succeeded.
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let operation = |descriptor: &Descriptor<T>| operation(&descriptor.0);
        self.inner.io(interest, operation).await.map(|(_, done)| done)
    }

    /// As [`try_io`](Self::try_io), with the value as [`get_mut`](Self::get_mut) returns it.
    ///
    /// # Errors
    ///
    /// As [`try_io`](Self::try_io).
    pub fn try_io_mut<R>(
        &mut self,
        interest: Interest,
        operation: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.inner.try_io_mut(interest, |descriptor| operation(&mut descriptor.0))
    }

    /// As [`async_io`](Self::async_io), with the value as [`get_mut`](Self::get_mut) returns it: for types that read and
    /// write only through `&mut`. Cancel safe: unless this returns, `operation` has not run or has not succeeded.
    pub async fn async_io_mut<R>(
        &mut self,
        interest: Interest,
        mut operation: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            self.ready(interest).await?;
            match self.try_io_mut(interest, &mut operation) {
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                done => return done,
            }
        }
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl<T: AsRawFd + AsFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd").field("inner", self.get_ref()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::named_call;
    use crate::services::testing::run;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::time::Duration;

    fn pair() -> (UnixStream, UnixStream) {
        let (one, other) = UnixStream::pair().unwrap();
        one.set_nonblocking(true).unwrap();
        other.set_nonblocking(true).unwrap();
        (one, other)
    }

    #[test]
    fn it_waits_in_both_directions() {
        run(async {
            let (mut near, far) = pair();
            let far = AsyncFd::new(far).unwrap();
            let mut byte = [0];
            let early = far.try_io(Interest::READABLE, |mut far| far.read(&mut byte));
            assert_eq!(early.unwrap_err().kind(), ErrorKind::WouldBlock);
            let read = far.async_io(Interest::READABLE, |mut far| far.read(&mut byte));
            let write = async { near.write(b"x").unwrap() };
            let (read, _) = tokio::join!(read, write);
            assert_eq!((read.unwrap(), byte), (1, *b"x"));
            // Until the other end has no more room.
            far.writable().await.unwrap();
            let mut sent = 0;
            let full = loop {
                match far.try_io(Interest::WRITABLE, |mut far| far.write(&[7; 4096])) {
                    Ok(n) => sent += n,
                    Err(error) => break error,
                }
            };
            assert_eq!(full.kind(), ErrorKind::WouldBlock);
            let more = far.async_io(Interest::WRITABLE, |mut far| far.write(b"y"));
            let drain = async { near.read_exact(&mut vec![0; sent]).unwrap() };
            let (more, ()) = tokio::join!(more, drain);
            assert_eq!(more.unwrap(), 1);
            near.read_exact(&mut byte).unwrap();
            drop(near);
            let end = far.async_io(Interest::READABLE, |mut far| far.read(&mut byte));
            assert_eq!(end.await.unwrap(), 0);
        });
    }

    #[test]
    fn several_tasks_are_woken_and_the_value_comes_back() {
        run(async {
            let (mut near, far) = pair();
            let mut far = AsyncFd::new(far).unwrap();
            let write = async { near.write(b"x").unwrap() };
            let (one, other, _) = tokio::join!(far.readable(), far.readable(), write);
            one.and(other).unwrap();
            assert_eq!(far.get_mut().read(&mut [0; 2]).unwrap(), 1);
            let far = far.into_inner().unwrap();
            // It can be registered again.
            AsyncFd::new(far).unwrap().writable().await.unwrap();
        });
    }

    #[test]
    fn a_file_is_refused_with_the_reason() {
        run(async {
            let error = named_call(|| AsyncFd::new(File::open("/")?)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::PERM.raw_os_error()));
            assert!(error.to_string().contains("regular files and directories"), "{error}");
        });
    }

    /// Reads only by `&mut`.
    struct Source(UnixStream);

    impl AsRawFd for Source {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_raw_fd()
        }
    }

    impl Read for Source {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            self.0.read(buf)
        }
    }

    #[test]
    fn an_operation_may_change_the_value() {
        run(async {
            let (mut near, far) = pair();
            let mut far = AsyncFd::new(Source(far)).unwrap();
            let mut bytes = [0; 2];
            let early = far.try_io_mut(Interest::READABLE, |far| far.read(&mut bytes));
            assert_eq!(early.unwrap_err().kind(), ErrorKind::WouldBlock);
            for _ in 0..2 {
                let mut calls = 0;
                let read = far.async_io_mut(Interest::READABLE, |far| {
                    calls += 1;
                    far.read(&mut bytes)
                });
                let (read, _) = tokio::join!(read, async { near.write(b"x").unwrap() });
                assert_eq!((read.unwrap(), bytes[0]), (1, b'x'));
                // Before the bytes, after the first round, there was an attempt.
                assert!(calls <= 2, "{calls}");
            }
        });
    }

    #[test]
    fn an_error_returns_the_value() {
        run(async {
            let file = File::open("/").unwrap();
            let number = file.as_raw_fd();
            let error = AsyncFd::try_new(file).unwrap_err();
            assert!(error.to_string().contains("regular files and directories"), "{error}");
            assert_eq!(format!("{error:?}"), format!("AsyncFdTryNewError({:?})", error.cause));
            let (file, cause) = error.into_parts();
            assert_eq!((file.as_raw_fd(), cause.kind()), (number, ErrorKind::PermissionDenied));
            let again = AsyncFd::try_with_interest(file, Interest::WRITABLE).unwrap_err();
            assert_eq!(again.into_parts().0.as_raw_fd(), number);
        });
    }

    #[test]
    fn the_system_tells_of_the_interest_only() {
        run(async {
            let (near, far) = pair();
            (&near).write_all(b"x").unwrap();
            let far = AsyncFd::with_interest(far, Interest::READABLE).unwrap();
            far.readable().await.unwrap();
            let either = Interest::READABLE | Interest::WRITABLE;
            let ready = far.ready(either).await.unwrap();
            assert!(ready.is_readable() && !ready.is_writable(), "{ready:?}");
            let near = AsyncFd::with_interest(near, Interest::WRITABLE).unwrap();
            (&mut far.get_ref()).write_all(b"y").unwrap();
            near.writable().await.unwrap();
            let ready = near.ready(either).await.unwrap();
            assert!(ready.is_writable() && !ready.is_readable(), "{ready:?}");
        });
    }

    /// A value that was replaced has the descriptor of another registration, which goes on.
    #[test]
    fn a_value_with_another_descriptor_ends_no_registration() {
        run(async {
            let (near, other) = pair();
            let other = Arc::new(other);
            let watched = AsyncFd::new(Arc::clone(&other)).unwrap();
            for ends_by_drop in [true, false] {
                let mut replaced = AsyncFd::new(Arc::new(pair().0)).unwrap();
                *replaced.get_mut() = Arc::clone(&other);
                if ends_by_drop {
                    drop(replaced);
                } else {
                    let error = replaced.into_inner().unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
                }
                let read = watched.async_io(Interest::READABLE, |far| (&**far).read(&mut [0]));
                let write = async { (&near).write(b"x").unwrap() };
                let (read, _) =
                    tokio::join!(crate::time::timeout(Duration::from_secs(10), read), write);
                assert_eq!(read.expect("the registration is there").unwrap(), 1);
            }
        });
    }
}
