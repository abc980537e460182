//! The task of a partition.

use super::handler::{Events, Handler};
use super::partition::Outcome;
use super::shared::Shared;
use colored_core::port::{OfStack, exchange_with_stacks};
use colored_core::yield_now;
use pin_project_lite::pin_project;
use std::cell::Cell;
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

thread_local! {
    /// The stage whose handler this thread polls; 0 if there is none.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

static INSIDE_OF_STACK: OfStack<Cell<usize>> = OfStack(&INSIDE);

/// Whether the caller is inside a handler of that stage.
pub(super) fn is_inside<E>(stage: &Arc<Shared<E>>) -> bool {
    INSIDE.get() == id(stage)
}

fn id<E>(stage: &Arc<Shared<E>>) -> usize {
    Arc::as_ptr(stage).addr()
}

/// The future of a partition's task: handles batches until the partition is closed and empty.
pub(super) fn task<E, H>(
    stage: &Arc<Shared<E>>,
    index: usize,
    handler: H,
) -> impl Future<Output = ()> + Send + use<E, H>
where
    E: Send + 'static,
    H: Handler<E>,
{
    let partition = Partition { stage: Arc::clone(stage), index, last: None };
    Inside { stage: id(stage), future: run(Work { handler, partition }) }
}

/// The values that the task owns. The handler is dropped first, because it is part of the drained
/// stage.
struct Work<E, H> {
    handler: H,
    partition: Partition<E>,
}

async fn run<E: Send + 'static, H: Handler<E>>(mut work: Work<E, H>) {
    let mut events = Events::default();
    // Batches that have been waited for are handled in the poll that takes them, others behind the color's other work.
    let mut waited = false;
    loop {
        let taken = poll_fn(|cx| {
            let taken = work.partition.poll_take(&mut events, cx);
            waited |= taken.is_pending();
            taken
        });
        if !taken.await {
            return;
        }
        let count = events.len();
        // Before anything is awaited: a task that is cancelled from here on has taken these events.
        work.partition.last = Some(Outcome::Aborted(count));
        if !mem::take(&mut waited) {
            yield_now().await;
        }
        // The call that makes the handler's future may panic as well as the future.
        let done = contained(async { work.handler.handle(&mut events).await }).await;
        let outcome = if done { Outcome::Handled } else { Outcome::Panicked };
        work.partition.last = Some(outcome(count));
        events.clear();
    }
}

/// Waits for `future`; false if it panics, when it is polled or dropped.
async fn contained(future: impl Future<Output = ()>) -> bool {
    let mut future = pin!(Some(future));
    let polled = poll_fn(|cx| {
        let poll = AssertUnwindSafe(|| match future.as_mut().as_pin_mut() {
            Some(future) => future.poll(cx),
            None => Poll::Ready(()),
        });
        match catch_unwind(poll) {
            Ok(poll) => poll.map(Ok),
            Err(payload) => Poll::Ready(Err(payload)),
        }
    })
    .await;
    let dropped = catch_unwind(AssertUnwindSafe(|| future.set(None)));
    let clean = polled.is_ok() && dropped.is_ok();
    // A payload may panic as well. The panic hook has reported it.
    colored_core::contain(|| drop(polled));
    colored_core::contain(|| drop(dropped));
    clean
}

/// A partition while its task lives. Dropping it, by whichever way the task ends, ends the partition.
struct Partition<E> {
    stage: Arc<Shared<E>>,
    index: usize,
    /// How the last batch ended.
    last: Option<Outcome>,
}

impl<E> Partition<E> {
    fn poll_take(&mut self, events: &mut Events<E>, cx: &mut Context<'_>) -> Poll<bool> {
        self.stage.partitions[self.index].poll_take(events, &mut self.last, cx)
    }
}

impl<E> Drop for Partition<E> {
    fn drop(&mut self) {
        self.stage.partitions[self.index].end(self.last.take());
        self.stage.partition_has_ended();
    }
}

pin_project! {
    /// Marks the polls of a partition's task.
    struct Inside<F> {
        stage: usize,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Inside<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        struct Restore(usize);
        impl Drop for Restore {
            fn drop(&mut self) {
                INSIDE.set(self.0);
            }
        }
        exchange_with_stacks(&INSIDE_OF_STACK);
        let this = self.project();
        // A call on a cell may run here while another stage's handler is polled.
        let _restore = Restore(INSIDE.replace(*this.stage));
        this.future.poll(cx)
    }
}
