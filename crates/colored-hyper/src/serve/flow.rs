//! [`Flow`]: how far the responses of an HTTP/2 connection have come.
//!
//! A stream that waits for its client knows nothing of the socket, which belongs to the task of the connection. So it asks,
//! and the connection looks when it is polled next.

use crate::executor::unread::Look;
use colored::net::Progress;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

#[derive(Default)]
pub(super) struct Flow {
    /// How many bytes of responses their bodies have given to hyper.
    handed: AtomicU64,
    /// How many of these the socket has taken.
    sent: AtomicU64,
    /// Whether somebody has asked since the connection looked.
    asked: AtomicBool,
    looks: Mutex<Looks>,
}

#[derive(Default)]
struct Looks {
    /// The task of the connection.
    connection: Option<Waker>,
    last: Look,
    /// How often the connection has looked.
    number: u64,
    asking: Vec<Waker>,
}

impl Flow {
    /// A body has given so many bytes to hyper.
    pub(super) fn note_handed(&self, len: usize) {
        // Ordering: a count of its own.
        self.handed.fetch_add(len as u64, Ordering::Relaxed);
    }

    /// The socket has taken so many bytes of bodies.
    pub(super) fn note_sent(&self, len: usize) {
        // Ordering: a count of its own.
        self.sent.fetch_add(len as u64, Ordering::Relaxed);
    }

    /// The task that looks.
    pub(super) fn set_connection(&self, waker: Waker) {
        let before = self.lock().connection.replace(waker);
        drop(before);
    }

    /// What the connection saw when it looked last. It will look again soon.
    pub(super) fn look(&self) -> Look {
        let (last, connection) = {
            let looks = self.lock();
            (looks.last, looks.connection.clone())
        };
        self.ask(connection);
        last
    }

    /// Ready when the connection has looked since the first of these polls. `asked` is none before that, and afterwards.
    pub(super) fn poll_look(&self, cx: &mut Context<'_>, asked: &mut Option<u64>) -> Poll<Look> {
        let connection = {
            let mut looks = self.lock();
            match *asked {
                Some(number) if number != looks.number => {
                    *asked = None;
                    return Poll::Ready(looks.last);
                }
                Some(_) => {}
                None => *asked = Some(looks.number),
            }
            if !looks.asking.iter().any(|waker| waker.will_wake(cx.waker())) {
                looks.asking.push(cx.waker().clone());
            }
            looks.connection.clone()
        };
        self.ask(connection);
        Poll::Pending
    }

    fn ask(&self, connection: Option<Waker>) {
        // Ordering: the wake orders this before the poll that it causes.
        if !self.asked.swap(true, Ordering::Relaxed)
            && let Some(connection) = connection
        {
            connection.wake();
        }
    }

    /// The connection is polled, which looks by `progress` if somebody has asked. `responses` have begun and not ended.
    pub(super) fn answer(&self, responses: usize, progress: impl FnOnce() -> Option<Progress>) {
        // Ordering: a hint; who asks wakes the connection afterwards.
        if !self.asked.load(Ordering::Relaxed) {
            return;
        }
        // Ordering: see `ask`.
        self.asked.store(false, Ordering::Relaxed);
        let look = self.see(responses, progress());
        let asking = {
            let mut looks = self.lock();
            looks.last = look;
            looks.number += 1;
            mem::take(&mut looks.asking)
        };
        asking.into_iter().for_each(Waker::wake);
    }

    fn see(&self, responses: usize, progress: Option<Progress>) -> Look {
        // Ordering: counts of their own.
        let (handed, sent) =
            (self.handed.load(Ordering::Relaxed), self.sent.load(Ordering::Relaxed));
        let queued = progress.map_or(0, |progress| progress.queued);
        // What hyper has goes out in turns: as much of each response, before the last of one is out.
        let kept = handed.saturating_sub(sent).saturating_mul(responses.max(1) as u64);
        let taken = progress.and_then(|progress| progress.acknowledged);
        Look {
            taken: taken.unwrap_or(sent.saturating_sub(queued)),
            ahead: queued.saturating_add(kept),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Looks> {
        // No code of others runs under this lock: nothing can be left half done.
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::pin::pin;

    #[test]
    fn who_asks_gets_the_next_look() {
        let flow = Flow::default();
        flow.note_handed(10);
        flow.note_sent(4);
        let mut asked = None;
        let mut look = pin!(poll_fn(|cx| flow.poll_look(cx, &mut asked)));
        let mut cx = Context::from_waker(Waker::noop());
        for responses in [1, 2] {
            assert!(look.as_mut().poll(&mut cx).is_pending());
            flow.answer(responses, || None);
            let expected = Look { taken: 4, ahead: 6 * responses as u64 };
            assert_eq!(look.as_mut().poll(&mut cx), Poll::Ready(expected));
        }
        flow.answer(1, || panic!("nobody has asked"));
    }
}
