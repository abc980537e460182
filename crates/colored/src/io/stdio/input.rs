//! [`Stdin`].

use crate::blocking::{self, Deferred};
use crate::budget::{poll_proceed, unlimited};
use crate::error_context::with_context;
use crate::pool::Class;
use crate::ready::{Direction, until_done};
use std::io::{self, Read};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// One read takes so many bytes at most: the size of the buffer of [`std::io::stdin`].
const MOST: usize = 8 << 10;

/// The standard input of the process.
///
/// All handles read one stream, and so does [`std::io::stdin`]: each byte goes to one of them. A read
/// waits on a blocking thread of its own, which does not keep the program from ending. Cancel safe: bytes that
/// arrive for a dropped read, or a dropped handle, go to the next one.
///
/// A read waits also if somebody has set the descriptor to non-blocking mode, which all processes share that have it:
/// there is no error [`WouldBlock`](io::ErrorKind::WouldBlock).
///
/// For lines, put it into a [`BufReader`](crate::io::BufReader).
///
/// # Panics
///
/// A read panics outside a runtime.
#[derive(Debug)]
pub struct Stdin {
    /// Identifies the handle among the waiting ones.
    number: u64,
}

/// A handle of the standard input.
#[must_use]
pub fn stdin() -> Stdin {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Ordering: the numbers are different, whatever their order.
    Stdin { number: NEXT.fetch_add(1, Ordering::Relaxed) }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        let waker = input().waiting.take(self.number);
        drop(waker);
    }
}

/// What all handles share: a read goes on when its handle is gone, and must not lose its bytes.
struct Shared(Mutex<Input>);

static SHARED: LazyLock<Arc<Shared>> = LazyLock::new(|| Arc::new(Shared(Mutex::default())));

#[derive(Default)]
struct Input {
    read: Option<Deferred<io::Result<Vec<u8>>>>,
    unread: Vec<u8>,
    waiting: Waiting,
}

fn input() -> MutexGuard<'static, Input> {
    // Nothing under the lock is left half-done by a panic.
    SHARED.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The wakers of the handles that wait, by their numbers. No waker is called or dropped under the lock,
/// because it may be code of others.
#[derive(Default)]
struct Waiting(Vec<(u64, Waker)>);

impl Waiting {
    fn take(&mut self, number: u64) -> Option<Waker> {
        let place = self.0.iter().position(|(of, _)| *of == number)?;
        Some(self.0.swap_remove(place).1)
    }

    /// Returns the waker that the handle had before.
    #[must_use]
    fn put(&mut self, number: u64, waker: Waker) -> Option<Waker> {
        let before = self.take(number);
        self.0.push((number, waker));
        before
    }
}

/// Wakes the tasks of all handles: the one that polled last may be gone.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        let waiting = mem::take(&mut input().waiting.0);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

impl Input {
    /// Waits until there are unread bytes, or for the end.
    fn poll_fill(&mut self) -> Poll<io::Result<()>> {
        if !self.unread.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let read = match &mut self.read {
            Some(read) => read,
            None => {
                let read = blocking::defer(Class::Input, read);
                self.read.insert(read.map_err(|error| {
                    with_context(format!("cannot read the standard input: {error}"), error)
                })?)
            }
        };
        let waker = Waker::from(Arc::clone(&SHARED));
        // With a budget, the poll might wake at once, and so take the lock again.
        let poll = || Pin::new(read).poll(&mut Context::from_waker(&waker));
        let done = ready!(unlimited(poll));
        self.read = None;
        self.unread = done.unwrap_or_else(|| Err(blocking::shut_down()))?;
        Poll::Ready(Ok(()))
    }
}

/// Reads what there is, and waits if there is nothing, also in non-blocking mode.
fn read() -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; MOST];
    let mut input = io::stdin().lock();
    let n = until_done(&io::stdin(), Direction::Read, || input.read(&mut bytes))?;
    bytes.truncate(n);
    Ok(bytes)
}

impl AsyncRead for Stdin {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        ready!(poll_proceed(cx));
        let waker = cx.waker().clone();
        let mut input = input();
        // First, because the read may end at any time.
        let before = input.waiting.put(self.number, waker);
        let filled = input.poll_fill();
        if filled.is_pending() {
            drop(input);
            drop(before);
            return Poll::Pending;
        }
        if let Poll::Ready(Ok(())) = &filled {
            let n = buf.remaining().min(input.unread.len());
            buf.put_slice(&input.unread[..n]);
            input.unread.drain(..n);
        }
        let own = input.waiting.take(self.number);
        // The others read the rest, or wait again.
        let others = mem::take(&mut input.waiting.0);
        drop(input);
        drop((before, own));
        others.into_iter().for_each(|(_, waker)| waker.wake());
        filled
    }
}
