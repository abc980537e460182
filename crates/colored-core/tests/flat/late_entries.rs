//! `late_entries`: the entries that a flat queue has of a color while another thread runs the color and the
//! scheduler ends.

use crate::counted::Counted;
use colored_core::lab::{Options, Queue};
use colored_core::{Color, ColorCell, Scheduler, Step};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

/// The entry of a post stays in the queue while this thread has the color and the last worker leaves. The entry
/// must not stay when the thread gives the color back, for it keeps the scheduler, and the scheduler keeps the
/// queue.
#[test]
fn an_entry_of_a_color_that_is_held_does_not_outlive_the_scheduler() {
    for queue in [Queue::SharedTasks, Queue::PerWorkerTasks] {
        let alive = Arc::new(());
        let options = Options { queue, ..Options::default() };
        let park = Box::new(Counted(Arc::clone(&alive)));
        let (handle, mut workers) = Scheduler::with_options(1, 1, park, options);
        let mut worker = workers.remove(0);
        let cell = ColorCell::new_in(&handle, Color::new(1), 0);
        cell.post(|_| ());
        while worker.step() == Step::Ran {}
        let (inner, end) = (cell.clone(), handle.clone());
        let call = cell.call(move |_| {
            inner.post(|_| ());
            end.scheduler().shut_down();
            while worker.step() != Step::Stopped {}
        });
        {
            let mut call = pin!(call);
            assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        }
        drop((cell, handle));
        assert_eq!(Arc::strong_count(&alive), 1, "{queue:?}: the scheduler is still there");
    }
}
