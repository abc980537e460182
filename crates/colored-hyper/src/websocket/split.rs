//! The two directions of a WebSocket.

use super::{Error, Message, WebSocket};
use futures_sink::Sink;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Both halves have it. The lock is held for a poll, and never across an await.
type Shared = Arc<Mutex<WebSocket>>;

/// The direction to the client, made by [`WebSocket::split`].
pub struct Sender(Shared);

/// The direction from the client, made by [`WebSocket::split`].
pub struct Receiver(Shared);

impl WebSocket {
    /// Splits the WebSocket for two tasks or branches that send and receive independently: a `send` that waits for the
    /// client does not keep messages of the client waiting. The connection closes when both are dropped.
    #[must_use]
    pub fn split(self) -> (Sender, Receiver) {
        let shared = Arc::new(Mutex::new(self));
        (Sender(Arc::clone(&shared)), Receiver(shared))
    }
}

impl Sender {
    /// As [`WebSocket::send`]. Not cancel safe.
    ///
    /// # Errors
    ///
    /// As [`WebSocket::send`].
    pub async fn send(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        self.feed(message).await?;
        poll_fn(|cx| Pin::new(&mut *lock(&self.0)).poll_flush(cx)).await
    }

    /// As [`WebSocket::feed`]. Not cancel safe.
    ///
    /// # Errors
    ///
    /// As [`WebSocket::send`].
    pub async fn feed(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        poll_fn(|cx| Pin::new(&mut *lock(&self.0)).poll_ready(cx)).await?;
        Pin::new(&mut *lock(&self.0)).start_send(message.into())
    }
}

impl Receiver {
    /// As [`WebSocket::recv`]. Cancel safe.
    ///
    /// # Errors
    ///
    /// As [`WebSocket::recv`].
    pub async fn recv(&mut self) -> Option<Result<Message, Error>> {
        poll_fn(|cx| lock(&self.0).poll_recv(cx)).await
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, WebSocket> {
    // After a panic of the library the WebSocket is of no use, which it will say itself.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
