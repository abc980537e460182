//! Without the feature `record`, channels are tokio's.

use super::waiting::Wait;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, oneshot};

/// Nothing.
pub(super) struct Lines<T>(PhantomData<fn(T) -> T>);

impl<T> Clone for Lines<T> {
    fn clone(&self) -> Self {
        Self::none()
    }
}

impl<T> Lines<T> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self::none()
    }

    #[inline(always)]
    pub(super) fn none() -> Self {
        Self(PhantomData)
    }

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(super) fn pass(&self) {}

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(super) fn send(
        &self,
        value: T,
        send: impl FnOnce(T) -> Result<(), SendError<T>>,
    ) -> Result<(), SendError<T>> {
        send(value)
    }

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(super) fn sending(
        &self,
        value: T,
        sender: &mpsc::Sender<T>,
        wait: Wait,
    ) -> impl Future<Output = Result<(), SendError<T>>> {
        wait.send(value, sender)
    }

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(super) fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<Option<T>>,
    ) -> Poll<Option<T>> {
        poll(cx)
    }
}

#[inline(always)]
pub(super) fn send_one<T>(sender: oneshot::Sender<T>, value: T) -> Result<(), T> {
    sender.send(value)
}

/// Nothing.
pub(super) struct Early<T>(PhantomData<fn() -> T>);

impl<T> Early<T> {
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self(PhantomData)
    }

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(super) fn poll(
        &mut self,
        receiver: &mut oneshot::Receiver<T>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, oneshot::error::RecvError>> {
        Pin::new(receiver).poll(cx)
    }
}
