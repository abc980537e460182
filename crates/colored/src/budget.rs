//! Stub: the cooperative budget of a poll.

use std::cell::Cell;
use std::task::{Context, Poll};

thread_local!(static LEFT: Cell<u32> = const { Cell::new(128) });

pub(crate) fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    LEFT.with(|left| match left.get() {
        0 => {
            left.set(128);
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        n => {
            left.set(n - 1);
            Poll::Ready(())
        }
    })
}

pub(crate) fn give_back() {
    LEFT.with(|left| left.set(left.get() + 1));
}
