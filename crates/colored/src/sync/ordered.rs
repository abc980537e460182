//! Channels of a run that is recorded or replayed.
//!
//! The values of a channel are ordered by the channel, and not by a color. So a record has, for each value that is received,
//! the source that sent it; and the `k`-th value of a source follows from the source's history. A replay keeps the values of
//! each source apart, and the receiver takes them in the recorded order. Room, and whether the other half is there, are
//! answers of the record.

use super::waiting::Wait;
use colored_core::port::order::{
    Mark, Received, Source, SourceKind, is_ordered, is_replay_here, note, note_received, source,
    told, told_received, wait_until,
};
use colored_core::port::refuse;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, oneshot};

/// The order of the values of one channel, where it is recorded or replayed.
pub(super) struct Lines<T>(Option<Arc<Channel<T>>>);

struct Channel<T> {
    is_replay: bool,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// In a record: the sources of the values that are in the channel.
    sources: VecDeque<Source>,
    /// In a replay: the values of each source.
    values: HashMap<Source, VecDeque<T>>,
    receiver: Option<Waker>,
}

impl<T> Clone for Lines<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Lines<T> {
    /// For a channel that this thread makes.
    pub(super) fn new() -> Self {
        let state = || State { sources: VecDeque::new(), values: HashMap::new(), receiver: None };
        let channel = || Channel { is_replay: is_replay_here(), state: Mutex::new(state()) };
        Self(is_ordered().then(|| Arc::new(channel())))
    }

    /// For a channel that was made elsewhere.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// A method of tokio's is about to be used.
    pub(super) fn pass(&self) {
        if self.0.as_ref().is_some_and(|channel| channel.is_replay) {
            refuse("a method of tokio's channel");
        }
    }

    /// Sends without waiting; `send` does so.
    pub(super) fn send(
        &self,
        value: T,
        send: impl FnOnce(T) -> Result<(), SendError<T>>,
    ) -> Result<(), SendError<T>> {
        match &self.0 {
            None => {
                refuse("a channel that was made elsewhere");
                send(value)
            }
            Some(channel) if channel.is_replay => channel.replay_send(value),
            Some(channel) => {
                let mut state = channel.lock();
                let sent = send(value);
                if sent.is_ok() {
                    state.sources.push_back(source());
                }
                drop(state);
                note(Mark::Open, sent.is_ok());
                sent
            }
        }
    }

    /// Waits for room, and sends.
    pub(super) async fn sending(
        &self,
        value: T,
        sender: &mpsc::Sender<T>,
        wait: Wait,
    ) -> Result<(), SendError<T>> {
        let Some(channel) = &self.0 else {
            refuse("a channel that was made elsewhere");
            return wait.send(value, sender).await;
        };
        wait.until(self.sending_in_order(channel, value, sender)).await
    }

    async fn sending_in_order(
        &self,
        channel: &Channel<T>,
        value: T,
        sender: &mpsc::Sender<T>,
    ) -> Result<(), SendError<T>> {
        if channel.is_replay {
            poll_fn(|cx| match told(Mark::Send) {
                Some(false) => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
                _ => Poll::Ready(()),
            })
            .await;
            return channel.replay_send(value);
        }
        let mut room = pin!(sender.reserve());
        let room = poll_fn(|cx| {
            let polled = room.as_mut().poll(cx);
            note(Mark::Send, polled.is_ready());
            polled
        });
        match room.await {
            Ok(permit) => self.send(value, |value| {
                permit.send(value);
                Ok(())
            }),
            Err(_) => self.send(value, |value| Err(SendError(value))),
        }
    }

    /// Receives; `poll` does so.
    pub(super) fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<Option<T>>,
    ) -> Poll<Option<T>> {
        match &self.0 {
            None => {
                refuse("a channel that was made elsewhere");
                poll(cx)
            }
            Some(channel) if channel.is_replay => channel.replay_recv(cx, poll),
            Some(channel) => {
                let mut state = channel.lock();
                let polled = poll(cx);
                let sender = match &polled {
                    Poll::Ready(Some(_)) => state.sources.pop_front(),
                    _ => None,
                };
                drop(state);
                note_received(match &polled {
                    Poll::Pending => Received::Nothing,
                    Poll::Ready(None) => Received::Closed,
                    Poll::Ready(Some(_)) => Received::From(sender.unwrap_or(STRANGER)),
                });
                polled
            }
        }
    }
}

const STRANGER: Source = Source { kind: SourceKind::Stranger, number: 0 };

impl<T> Channel<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replay_send(&self, value: T) -> Result<(), SendError<T>> {
        if told(Mark::Open) == Some(false) {
            return Err(SendError(value));
        }
        let mut state = self.lock();
        state.values.entry(source()).or_default().push_back(value);
        let receiver = state.receiver.take();
        drop(state);
        receiver.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn replay_recv(
        &self,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<Option<T>>,
    ) -> Poll<Option<T>> {
        let source = match told_received() {
            None => {
                // The replay is over.
                let value = self.lock().values.values_mut().find_map(VecDeque::pop_front);
                return if value.is_some() { Poll::Ready(value) } else { poll(cx) };
            }
            Some(Received::Nothing) => {
                // tokio's channel is empty: it tells when it is closed.
                let mut state = self.lock();
                state.receiver = Some(cx.waker().clone());
                let is_there = state.values.values().any(|values| !values.is_empty());
                drop(state);
                if is_there || poll(cx).is_ready() {
                    cx.waker().wake_by_ref();
                }
                return Poll::Pending;
            }
            Some(Received::Closed) => return Poll::Ready(None),
            Some(Received::From(source)) => source,
        };
        if source == STRANGER {
            refuse("a message of a thread that is not the runtime's");
        }
        let has_come = || self.lock().values.get(&source).is_some_and(|values| !values.is_empty());
        wait_until(Mark::Receive, has_come);
        let value = self.lock().values.get_mut(&source).and_then(VecDeque::pop_front);
        Poll::Ready(value)
    }
}

/// Sends the value of a channel for one.
pub(super) fn send_one<T>(sender: oneshot::Sender<T>, value: T) -> Result<(), T> {
    match told(Mark::Open) {
        Some(true) => {
            let _sent = sender.send(value);
            Ok(())
        }
        Some(false) => Err(value),
        None => {
            let sent = sender.send(value);
            note(Mark::Open, sent.is_ok());
            sent
        }
    }
}

/// The value of a channel for one, which has come before the record says that a poll finds it.
pub(super) struct Early<T>(Option<Result<T, oneshot::error::RecvError>>);

impl<T> Early<T> {
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Receives the value of a channel for one.
    pub(super) fn poll(
        &mut self,
        receiver: &mut oneshot::Receiver<T>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, oneshot::error::RecvError>> {
        let mut poll = |early: &mut Self, cx: &mut Context<'_>| match early.0.take() {
            Some(value) => Poll::Ready(value),
            None => Pin::new(&mut *receiver).poll(cx),
        };
        match told(Mark::Receive) {
            None => {
                let polled = poll(self, cx);
                note(Mark::Receive, polled.is_ready());
                if let Poll::Ready(value) = &polled {
                    note(Mark::Message, value.is_ok());
                }
                polled
            }
            Some(false) => {
                if let Poll::Ready(value) = poll(self, cx) {
                    self.0 = Some(value);
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }
            Some(true) if told(Mark::Message) == Some(false) => Poll::Ready(Err(closed())),
            Some(true) => {
                let found = RefCell::new(None);
                let this = RefCell::new((self, poll));
                wait_until(Mark::Receive, || {
                    if found.borrow().is_some() {
                        return true;
                    }
                    let (early, poll) = &mut *this.borrow_mut();
                    match poll(early, &mut Context::from_waker(Waker::noop())) {
                        Poll::Ready(value) => {
                            *found.borrow_mut() = Some(value);
                            true
                        }
                        Poll::Pending => false,
                    }
                });
                Poll::Ready(found.into_inner().expect("it has come"))
            }
        }
    }
}

/// The error of a channel whose sender is gone.
fn closed() -> oneshot::error::RecvError {
    let (sender, mut receiver) = oneshot::channel::<()>();
    drop(sender);
    match Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Err(error)) => error,
        _ => unreachable!("the sender is gone"),
    }
}

impl<T> Unpin for Early<T> {}
