//! The future of a post behind a limit.

use super::LimitedCell;
use crate::error::Closed;
use crate::limit::futures::{Reserve, TWICE};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The future of [`LimitedCell::post`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Post<'a, T: Send + 'static, F> {
    reserve: Reserve<'a>,
    cell: &'a LimitedCell<T>,
    f: Option<F>,
}

impl<'a, T: Send + 'static, F> Post<'a, T, F> {
    #[track_caller]
    pub(super) fn new(cell: &'a LimitedCell<T>, f: F) -> Self {
        Self { reserve: cell.limit().reserve(), cell, f: Some(f) }
    }
}

// The closure is never pinned.
impl<T: Send + 'static, F> Unpin for Post<'_, T, F> {}

impl<T, F> Future for Post<'_, T, F>
where
    T: Send + 'static,
    F: FnOnce(&mut T) + Send + 'static,
{
    type Output = Result<(), Closed<F>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let permit = ready!(Pin::new(&mut self.reserve).poll(cx));
        let f = self.f.take().expect(TWICE);
        Poll::Ready(match permit {
            Ok(permit) => {
                self.cell.post_with(permit, f);
                Ok(())
            }
            Err(Closed(())) => Err(Closed(f)),
        })
    }
}
