//! [`Labeled`]: a wait that is better known than by what it waits for in turn.

use super::Kind;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// A future that notes this kind in the task when it is pending, after what the inner future has noted.
    pub(crate) struct Labeled<F> {
        #[pin]
        future: F,
        kind: Kind,
        arg: u32,
    }

    impl<F> PinnedDrop for Labeled<F> {
        fn drop(this: Pin<&mut Self>) {
            this.kind.forget(this.arg);
        }
    }
}

/// `future`, which waits for this kind of thing.
pub(crate) fn labeled<F: Future>(kind: Kind, arg: u32, future: F) -> Labeled<F> {
    Labeled { future, kind, arg }
}

impl<F: Future> Future for Labeled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let polled = this.future.poll(cx);
        if polled.is_pending() {
            this.kind.note(*this.arg);
        }
        polled
    }
}
