//! The order in which a shutdown drops the futures of one color (G8).

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{Color, Id, Scheduler, Step, current_task, exclusive, hop};
use std::future::pending;
use std::sync::{Arc, Mutex};

/// Leaves its number behind.
struct Noted(u32, Arc<Mutex<Vec<u32>>>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

/// First those that have a turn coming, in the order of their turns, then those that wait, in the order in which they
/// came to the color; a task that keeps the color is the first of all.
/// Shows G8.
#[test]
fn first_in_first_out() {
    for keeps in [false, true] {
        let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
        let (dropped, red, blue) = (Arc::default(), Color::new(1), Color::new(2));
        let noted = |number| Noted(number, Arc::clone(&dropped));
        let waits = |noted: Noted| async move {
            let _noted = noted;
            pending::<()>().await;
        };
        drop(handle.spawn_colored(red, waits(noted(2))));
        drop(handle.spawn_colored(red, waits(noted(3))));
        let late = noted(5);
        drop(handle.spawn_colored(blue, async move {
            let _late = late;
            hop(red).await;
            pending::<()>().await;
        }));
        drop(handle.spawn_colored(red, waits(noted(4))));
        while workers[0].step() == Step::Ran {}
        if keeps {
            drop(handle.spawn_colored(red, exclusive(waits(noted(0)))));
            while workers[0].step() == Step::Ran {}
        }
        drop(handle.spawn_colored(red, waits(noted(1))));
        stop(&handle, &mut workers);
        let expected: &[u32] = if keeps { &[0, 1, 2, 3, 4, 5] } else { &[1, 2, 3, 4, 5] };
        assert_eq!(*dropped.lock().unwrap(), expected);
    }
}

/// An output that nobody takes is dropped where its task was, which is the current one meanwhile.
#[test]
fn an_output_that_nobody_takes_is_dropped_as_its_task() {
    type Seen = Arc<Mutex<Option<(Option<Id>, Option<Color>)>>>;
    struct Output(Seen);
    impl Drop for Output {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = Some((current_task(), Color::current()));
        }
    }
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let (seen, red) = (Seen::default(), Color::new(1));
    let output = Output(Arc::clone(&seen));
    let task = handle.spawn_colored(red, async { output });
    let id = task.id();
    drop(task);
    assert_eq!(workers[0].step(), Step::Ran);
    assert_eq!(*seen.lock().unwrap(), Some((Some(id), Some(red))));
    stop(&handle, &mut workers);
}
