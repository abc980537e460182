//! Waiting for room in the queue of a receiver to which the sender is not connected.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::budget;
use crate::time::{Sleep, sleep};

/// The first wait, and the longest.
const FIRST_WAIT: Duration = Duration::from_micros(100);
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// A send that is tried again after a while: the system tells only senders that are connected of room.
#[derive(Debug, Default)]
pub(super) struct Resend {
    /// The time to the next attempt, and how long it is.
    wait: Option<(Sleep, Duration)>,
}

impl Resend {
    /// Sends, or has the task poll again later. Takes one unit of the budget if it sends.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut send: impl FnMut() -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        ready!(budget::poll_proceed(cx));
        loop {
            match send() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                sent => {
                    self.wait = None;
                    return Poll::Ready(sent);
                }
            }
            let longer = |(_, last): &(Sleep, Duration)| (*last * 2).min(LONGEST_WAIT);
            let time = self.wait.as_ref().map_or(FIRST_WAIT, longer);
            let (sleep, _) = self.wait.insert((sleep(time), time));
            if Pin::new(sleep).poll(cx).is_pending() {
                budget::give_back();
                return Poll::Pending;
            }
        }
    }
}
