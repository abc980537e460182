//! [`Labeled`]: a wait that is better known than by what it waits for in turn.

use super::{Kind, Note, Reason};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// A future that notes its reason when it is pending, after what the inner future has noted.
    pub(crate) struct Labeled<F> {
        note: Note,
        #[pin]
        future: F,
    }
}

/// `future`, which waits for this kind of thing.
pub(crate) fn labeled<F: Future>(kind: Kind, arg: u32, future: F) -> Labeled<F> {
    Labeled { note: Note::of(Reason::new(kind, arg)), future }
}

impl<F: Future> Future for Labeled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let polled = this.future.poll(cx);
        this.note.record_poll(polled.is_pending());
        polled
    }
}
