//! What a task notes that waits without a record.

use super::{dump, run};
use crate::doubles::NeverParks;
use colored_core::{Color, Leaf, Scheduler, SchedulerHandle, port};
use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local!(static STEPS: Cell<usize> = const { Cell::new(0) });

/// Notes a leaf in each poll, and ends after so many.
struct Noted(usize);

impl Future for Noted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        STEPS.set(STEPS.get() + 1);
        port::note(Leaf { tag: 4, arg: 99, site: None }, false);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[test]
fn a_leaf_is_shown_while_it_was_part_of_the_latest_poll() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let task = handle.spawn_colored(Color::new(1), async {
        Noted(2).await;
        pending::<()>().await;
    });
    let leaf = |handle: &SchedulerHandle| {
        let dumped = dump(handle);
        dumped.sheet.tasks().iter().find(|found| found.id == task.id())?.leaf
    };
    drop(handle.spawn_colored(
        Color::new(2),
        poll_fn(|_| {
            port::note(Leaf { tag: 5, arg: 7, site: None }, false);
            Poll::<()>::Pending
        }),
    ));
    run(&mut workers[0]);
    assert_eq!(STEPS.get(), 2);
    assert_eq!(leaf(&handle), None, "it is over");
    let dumped = dump(&handle);
    let leaves: Vec<_> = dumped.sheet.tasks().iter().filter_map(|task| task.leaf).collect();
    assert_eq!(leaves, [(Leaf { tag: 5, arg: 7, site: None }, 0)]);
}
