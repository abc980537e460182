//! [`Stop`]: what ends all tasks of a set.

use super::super::{CancellationToken, WaitForCancellationFutureOwned};
use crate::time::{Instant, Sleep, sleep_until};
use std::pin::Pin;
use std::task::Context;

/// A deadline and a token, whichever comes first.
#[derive(Default)]
pub(super) struct Stop {
    deadline: Option<Sleep>,
    token: Option<Token>,
    has_come: bool,
}

struct Token {
    token: CancellationToken,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Stop {
    pub(super) fn set_deadline(&mut self, at: Instant) {
        self.has_come = false;
        self.deadline = Some(sleep_until(at));
    }

    pub(super) fn set_token(&mut self, token: CancellationToken) {
        self.has_come = false;
        let cancelled = Box::pin(token.clone().cancelled_owned());
        self.token = Some(Token { token, cancelled });
    }

    /// Whether it has come since the last call. The task of `cx` is woken when it comes.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        if self.has_come {
            return false;
        }
        self.has_come = self.is_over()
            || self.deadline.as_mut().is_some_and(|sleep| Pin::new(sleep).poll(cx).is_ready())
            || self
                .token
                .as_mut()
                .is_some_and(|token| token.cancelled.as_mut().poll(cx).is_ready());
        self.has_come
    }

    /// Whether it has come.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.as_ref().is_some_and(Sleep::is_elapsed)
            || self.token.as_ref().is_some_and(|token| token.token.is_cancelled())
    }
}
