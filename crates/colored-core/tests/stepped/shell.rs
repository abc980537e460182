//! What the scheduler passes on to its shell.

use crate::stopping::stop;
use colored_core::port::{Finish, Part, report_overload};
use colored_core::{Park, Scheduler};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

#[derive(Clone, Default)]
struct Shell {
    overloads: Arc<AtomicUsize>,
    shown: Arc<AtomicUsize>,
    parts: Arc<Mutex<Vec<Part>>>,
}

impl Park for Shell {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        0
    }

    fn overloaded(&self, _: &Scheduler) {
        self.overloads.fetch_add(1, Ordering::Relaxed);
    }

    fn show_shell(&self) {
        self.shown.fetch_add(1, Ordering::Relaxed);
    }

    fn finish_first(&self, part: Part) {
        self.parts.lock().unwrap().push(part);
    }
}

struct Stage;

impl Finish for Stage {
    fn close(&self) {}

    fn drained(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }

    fn left(&self) -> u64 {
        0
    }
}

#[test]
fn the_shell_hears_of_overloads_parts_and_questions() {
    let shell = Shell::default();
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(shell.clone()));
    report_overload();
    assert_eq!(shell.overloads.load(Ordering::Relaxed), 0, "this thread works for no scheduler");
    workers[0].batch(1, report_overload);
    assert_eq!(shell.overloads.load(Ordering::Relaxed), 1);
    handle.scheduler().show_shell();
    assert_eq!(shell.shown.load(Ordering::Relaxed), 1);
    handle.scheduler().finish_first(Weak::<Stage>::new());
    assert_eq!(shell.parts.lock().unwrap().len(), 1);
    stop(&handle, &mut workers);
}
