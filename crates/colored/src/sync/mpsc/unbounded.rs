//! A channel without a bound.

use super::error::SendError;
use super::halves::halves;

halves! {
    /// A sending half. Its `send` never waits.
    UnboundedSender, WeakUnboundedSender, UnboundedReceiver
}

/// A new channel. A receiver that is slower than its senders lets it grow without end.
#[must_use]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (UnboundedSender(sender), UnboundedReceiver(receiver))
}

impl<T> UnboundedSender<T> {
    /// Sends the value. Never waits.
    ///
    /// # Errors
    ///
    /// The value, if the receiver is closed or gone.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.send(value)
    }
}
