//! [`WebSocket`]: messages on an upgraded connection.

use super::io::Io;
use super::quiet::{Due, Quiet};
use super::{Bytes, CloseCode, CloseFrame, Error, Message};
use crate::serve::limit;
use colored::sync::oneshot;
use colored::time::Duration;
use futures_core::Stream;
use futures_sink::Sink;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio_tungstenite::WebSocketStream;

/// A WebSocket of a client. Also a [`Stream`] and a [`Sink`] of messages.
///
/// Dropping it closes the connection without a close frame.
pub struct WebSocket {
    stream: WebSocketStream<Io>,
    /// Ends when the server shuts down; none after that.
    stopped: Option<oneshot::Receiver<()>>,
    quiet: Quiet,
    /// The client has been given up.
    given_up: bool,
}

impl WebSocket {
    pub(super) fn new(stream: WebSocketStream<Io>, stopped: oneshot::Receiver<()>) -> WebSocket {
        WebSocket { stream, stopped: Some(stopped), quiet: Quiet::new(), given_up: false }
    }

    /// Limits how long the client may send nothing at all, while [`recv`](WebSocket::recv) waits for it. After half of the
    /// time `recv` sends a ping, which every client answers by itself; at the end of the time it returns an error of kind
    /// [`TimedOut`](std::io::ErrorKind::TimedOut), and then `None`. `None` sets no limit, and then there are no pings.
    /// Default: 100 seconds.
    pub fn set_idle_timeout(&mut self, timeout: impl Into<Option<Duration>>) {
        self.quiet.set_limit(limit(timeout));
    }

    /// Receives the next message, in the order of the client. `None` when the WebSocket is closed, also when the server
    /// has shut down. Cancel safe.
    ///
    /// Pings and the close frame of the client are messages, too; the WebSocket answers them by itself.
    ///
    /// # Errors
    ///
    /// When the connection breaks, or the client violates the protocol or a limit. After an error there is only `None`.
    pub async fn recv(&mut self) -> Option<Result<Message, Error>> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// As [`recv`](WebSocket::recv).
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        if self.poll_stopped(cx).is_ready() {
            self.begin_close(CloseCode::Away, "the server shuts down");
        }
        loop {
            self.given_up |= self.quiet.poll_over(cx);
            if self.given_up {
                return Poll::Ready(None);
            }
            if let Poll::Ready(message) = Pin::new(&mut self.stream).poll_next(cx) {
                if let Some(Ok(Message::Ping(data))) = &message {
                    self.note_ping(data.len());
                }
                return Poll::Ready(message);
            }
            if self.stream.get_ref().is_full() {
                // The server does not listen, so the client is not silent. The limit for writing goes on.
                return Poll::Pending;
            }
            match ready!(self.quiet.poll(cx, || self.stream.get_mut().take_heard())) {
                Due::Ping => self.begin_ping(),
                Due::Fail(limit) => {
                    self.given_up = true;
                    let text =
                        format!("the client has sent nothing for {limit:?}, and answers no ping");
                    let error = io::Error::new(io::ErrorKind::TimedOut, text);
                    return Poll::Ready(Some(Err(Error::Io(error))));
                }
            }
        }
    }

    /// Sends a message, and waits until the system has taken it. If the client does not read, this waits, up to
    /// [`write_timeout`](crate::Serve::write_timeout).
    ///
    /// Not cancel safe: a message whose `send` is dropped may have been sent, in part or not at all; the next operation
    /// sends the rest.
    ///
    /// # Errors
    ///
    /// When the connection breaks, the WebSocket is closed, or the client has read nothing for too long.
    pub async fn send(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        self.feed(message).await?;
        poll_fn(|cx| Pin::new(&mut self.stream).poll_flush(cx)).await
    }

    /// As [`send`](WebSocket::send), but the message may stay in the buffer of the WebSocket, until 128 KiB are there or
    /// something else is sent or received: for many small messages with a `send` at the end. Cancel safe while it waits
    /// for room: then the message is dropped.
    ///
    /// # Errors
    ///
    /// As [`send`](WebSocket::send).
    pub async fn feed(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        poll_fn(|cx| Pin::new(&mut self.stream).poll_ready(cx)).await?;
        self.put(message.into())
    }

    /// Sends a close frame, unless one was sent before, and waits for that of the client, up to 5 seconds; messages that
    /// come before it are dropped.
    ///
    /// Not cancel safe: the WebSocket closes all the same.
    pub async fn close(mut self, code: CloseCode, reason: &str) {
        self.stopped = None;
        self.begin_close(code, reason);
        while let Some(Ok(_)) = self.recv().await {}
    }

    /// Ready once, when the server shuts down.
    fn poll_stopped(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(stopped) = &mut self.stopped else { return Poll::Pending };
        let _ = ready!(Pin::new(stopped).poll(cx));
        self.stopped = None;
        Poll::Ready(())
    }

    /// Puts a message behind what is to be sent. A close frame begins the time for its answer.
    fn put(&mut self, message: Message) -> Result<(), Error> {
        if message.is_close() {
            self.quiet.begin_close();
        }
        Pin::new(&mut self.stream).start_send(message)
    }

    /// The client has sent a ping with so many bytes, which the WebSocket answers by as many and a head, unless it closes.
    fn note_ping(&mut self, len: usize) {
        const HEAD: usize = 2;
        if !self.quiet.is_closing() {
            self.stream.get_mut().note_answer(HEAD + len);
        }
    }

    /// Puts a close frame behind what is to be sent. Receiving sends it.
    fn begin_close(&mut self, code: CloseCode, reason: &str) {
        let frame = CloseFrame { code, reason: reason.into() };
        // An error means that it is closed, which shows when it is received from.
        let _ = self.put(Message::Close(Some(frame)));
    }

    /// Puts a ping behind what is to be sent. Receiving sends only what answers the client; so a pong, to which there is no
    /// answer, makes it send both.
    fn begin_ping(&mut self) {
        for message in [Message::Ping(Bytes::new()), Message::Pong(Bytes::new())] {
            // An error means that the buffer is full, and the client does not read.
            let _ = Pin::new(&mut self.stream).start_send(message);
        }
    }
}

impl Stream for WebSocket {
    type Item = Result<Message, Error>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Message, Error>>> {
        self.poll_recv(cx)
    }
}

impl Sink<Message> for WebSocket {
    type Error = Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_ready(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, message: Message) -> Result<(), Error> {
        self.put(message)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.quiet.begin_close();
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

impl fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket").finish_non_exhaustive()
    }
}
