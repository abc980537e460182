//! What the shell hears of a task that panics.

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{Color, JoinError, Options, Park, Scheduler, Step, TaskPanic};
use std::any::Any;
use std::future::pending;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

/// Notes every panic, and panics itself.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Park for Notes {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        0
    }

    fn panicked(&self, _: &Scheduler, panic: &TaskPanic<'_>) {
        let TaskPanic { color, is_detached, .. } = *panic;
        assert_eq!(Color::current(), Some(color), "the color is held");
        let message = panic.message().unwrap_or("no text");
        self.0.lock().unwrap().push(format!("{message} under {color:?}, {is_detached}"));
        resume_unwind(Box::new("the shell panics too"));
    }
}

/// As a panic, but without the panic hook.
fn panics(payload: impl Any + Send) {
    resume_unwind(Box::new(payload));
}

struct PanicsOnDrop(&'static str);

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panics(self.0);
    }
}

#[test]
fn the_shell_hears_of_each_panic_once_and_of_no_other_end() {
    let notes = Notes::default();
    let (handle, mut workers) =
        Scheduler::with_options(1, 1, Box::new(notes.clone()), Options::default());
    let mut awaited = handle.spawn_colored(Color::new(1), async { panics("in a poll") });
    drop(handle.spawn_colored(Color::new(2), async { panics(String::from("detached")) }));
    drop(handle.spawn_colored(Color::new(3), async { panics(7) }));
    let mut aborted = handle.spawn_colored(Color::new(4), async {
        let _panics = PanicsOnDrop("when dropped");
        pending::<()>().await;
    });
    let mut fine = handle.spawn_colored(Color::new(5), async {});
    while workers[0].step() == Step::Ran {}
    aborted.abort();
    while workers[0].step() == Step::Ran {}

    let error = awaited.try_take().unwrap().unwrap_err();
    assert_eq!(error.into_panic().downcast_ref(), Some(&"in a poll"));
    assert!(aborted.try_take().unwrap().unwrap_err().is_panic());
    assert!(fine.try_take().unwrap().is_ok());
    let call = colored_core::blocking(|| panics("in a blocking call"));
    call.0.run();
    stop(&handle, &mut workers);
    let color = |number| format!("{:?}", Color::new(number));
    let expected = [
        format!("in a poll under {}, false", color(1)),
        format!("detached under {}, true", color(2)),
        format!("no text under {}, true", color(3)),
        format!("when dropped under {}, false", color(4)),
    ];
    assert_eq!(*notes.0.lock().unwrap(), expected);
}

#[test]
fn an_error_of_a_task_is_of_one_kind() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let mut aborted = handle.spawn_colored(Color::new(1), pending::<()>());
    let mut panicked = handle.spawn_colored(Color::new(1), async { panics("on purpose") });
    aborted.abort();
    while workers[0].step() == Step::Ran {}
    let [aborted, panicked] =
        [&mut aborted, &mut panicked].map(|task| task.try_take().unwrap().unwrap_err());
    let kinds = |error: &JoinError| (error.is_cancelled(), error.is_panic(), error.is_deadlock());
    assert_eq!(kinds(&aborted), (true, false, false));
    assert_eq!(kinds(&panicked), (false, true, false));
    assert!(aborted.try_into_panic().is_err());
    assert_eq!(panicked.into_panic().downcast_ref(), Some(&"on purpose"));
    stop(&handle, &mut workers);
}
