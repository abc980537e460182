//! Panics of tasks: a task that nobody awaits does not fail in silence, and a program hears of each panic.

use colored::task::{Id, TaskPanic};
use colored::{Color, Runtime, spawn, spawn_colored};
use colored_tests::drops::keep;
use colored_tests::{ON_PURPOSE, child, shared, wait_until};
use std::future::pending;
use std::sync::{Arc, Mutex};

/// What a hook has been told: task, color, line of the spawn, whether it had no handle, message.
type Heard = (Id, Color, u32, bool, String);

fn note(panic: &TaskPanic<'_>) -> Heard {
    let message = panic.message().unwrap_or_default().to_owned();
    (panic.task, panic.color, panic.spawned.line(), panic.is_detached, message)
}

#[test]
fn a_hook_hears_of_each_panic_of_a_task() {
    shared(|| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&heard);
        let builder = Runtime::builder().workers(2).on_task_panic(move |panic| {
            notes.lock().unwrap().push(note(panic));
            panic!("{ON_PURPOSE}: in the hook");
        });
        let runtime = builder.build().unwrap();
        runtime.run(async move {
            let line = line!() + 1;
            let awaited = spawn_colored(1, async { panic!("{ON_PURPOSE}: awaited") });
            let id = awaited.id();
            let error = awaited.await.unwrap_err();
            assert!(error.to_string().contains("awaited"), "the handle gets it all the same");
            let expected = (id, Color::new(1), line, false, format!("{ON_PURPOSE}: awaited"));
            assert_eq!(heard.lock().unwrap().pop(), Some(expected));

            // Of this future's color: it does not run before the handle is gone.
            let detached = spawn(async {
                colored::hop(3).await;
                panic!("{ON_PURPOSE}: detached")
            });
            let id = detached.id();
            drop(detached);
            // A task of the color that comes behind the panic.
            while heard.lock().unwrap().is_empty() {
                spawn_colored(3, async {}).await.unwrap();
            }
            let (task, color, .., is_detached, message) = heard.lock().unwrap().pop().unwrap();
            assert_eq!((task, color, is_detached), (id, Color::new(3), true));
            assert!(message.ends_with("detached"));

            // A destructor, at an abort.
            struct Bomb;
            impl Drop for Bomb {
                fn drop(&mut self) {
                    panic!("{ON_PURPOSE}: dropped");
                }
            }
            let aborted = spawn_colored(4, keep(Bomb, pending::<()>()));
            aborted.abort();
            assert!(aborted.await.unwrap_err().is_panic());
            assert!(heard.lock().unwrap().pop().unwrap().4.ends_with("dropped"));

            // These are no tasks.
            let call = colored::spawn_blocking(|| panic!("{ON_PURPOSE}: blocking"));
            assert!(call.await.unwrap_err().is_panic());
            colored::ColorCell::new(Color::new(5), ()).post(|()| panic!("{ON_PURPOSE}: posted"));
            spawn_colored(5, async {}).await.unwrap();
            assert!(heard.lock().unwrap().is_empty());
        });
        runtime.shutdown_timeout(std::time::Duration::from_secs(60)).unwrap();
    });
}

/// Without a hook, a line on the standard error tells of a task that has no handle.
#[test]
fn a_detached_task_that_panics_is_named_on_the_standard_error() {
    const TEST: &str = "a_detached_task_that_panics_is_named_on_the_standard_error";
    shared(|| {
        let said = child::said("", module_path!(), TEST, || {
            let runtime = Runtime::builder().workers(1).build().unwrap();
            let awaited = runtime.spawn_colored(7, async { panic!("{ON_PURPOSE}") });
            let id = runtime.run(async {
                // Of this future's color: it does not run before the handle is gone.
                let detached = spawn(async {
                    colored::hop(8).await;
                    panic!("{ON_PURPOSE}")
                });
                detached.abort_handle()
            });
            wait_until(|| id.is_finished());
            assert!(runtime.run(awaited).unwrap_err().is_panic());
        });
        let Some((_, cried)) = said else { return };
        let lines: Vec<_> = cried.lines().filter(|line| line.starts_with("colored: ")).collect();
        assert_eq!(lines.len(), 1, "{cried}");
        let end = format!("under {} has panicked, and has no handle", Color::new(8));
        assert!(lines[0].ends_with(&end), "{cried}");
        assert!(lines[0].contains("(spawned at tests/shell/panics.rs:"), "{cried}");
    });
}
