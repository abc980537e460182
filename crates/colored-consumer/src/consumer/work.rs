//! The user's handler: of one record, or of a batch of a key.

use super::context::Context;
use super::failure::Failure;
use crate::source::Record;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{self, Poll};

/// Handles records of a key.
pub(crate) trait Work: Send + Sync + 'static {
    type Future: Future<Output = Result<(), Failure>> + Send + 'static;

    /// Whether a call takes all records at once.
    const IS_BATCH: bool;

    fn call(&self, records: &[Record], context: Context) -> Self::Future;
}

/// A call for each record.
pub(crate) struct Each<F>(pub(crate) F);

impl<F, Fut> Work for Each<F>
where
    F: Fn(Record, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Failure>> + Send + 'static,
{
    type Future = Fut;
    const IS_BATCH: bool = false;

    fn call(&self, records: &[Record], context: Context) -> Fut {
        (self.0)(records[0].clone(), context)
    }
}

/// A call for several records.
pub(crate) struct Batch<F>(pub(crate) F);

impl<F, Fut> Work for Batch<F>
where
    F: Fn(Vec<Record>, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Failure>> + Send + 'static,
{
    type Future = Fut;
    const IS_BATCH: bool = true;

    fn call(&self, records: &[Record], context: Context) -> Fut {
        (self.0)(records.to_vec(), context)
    }
}

/// Calls the handler. A panic is a failure that is tried again.
pub(crate) fn call<W: Work>(
    work: &W,
    records: &[Record],
    context: Context,
) -> Result<W::Future, Failure> {
    catch_unwind(AssertUnwindSafe(|| work.call(records, context)))
        .map_err(|panic| panicked(&*panic))
}

/// The future of a handler, whose panic is a failure that is tried again. `on_wait` is called when the handler waits.
pub(crate) struct Guarded<'a, F, W> {
    pub(crate) future: Pin<&'a mut F>,
    pub(crate) on_wait: W,
}

impl<F: Future<Output = Result<(), Failure>>, W: FnMut()> Future for Guarded<'_, F, W> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        // After a panic the future is dropped and not polled again.
        let polled = catch_unwind(AssertUnwindSafe(|| this.future.as_mut().poll(cx)));
        match polled {
            Ok(Poll::Pending) => {
                (this.on_wait)();
                Poll::Pending
            }
            Ok(ready) => ready,
            Err(panic) => Poll::Ready(Err(panicked(&*panic))),
        }
    }
}

// The future is behind a pointer.
impl<F, W> Unpin for Guarded<'_, F, W> {}

fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let text = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("with a value");
    Failure::retry(format!("panicked: {text}"))
}
