//! The ways into a runtime: `run`, `block_on`, `enter`; and what stays on the thread that it was made on.

use colored::time::{Duration, sleep};
use colored::{
    Color, Handle, hop, spawn, spawn_blocking, spawn_colored, spawn_here, spawn_local,
    spawn_unique, task, yield_now,
};
use colored_tests::drops::{Drops, keep};
use colored_tests::{Trace, join_all, panic_of, run, runtime, shared};
use std::cell::Cell;
use std::future::pending;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::{self, ThreadId};

const RED: Color = Color::new(1);

fn here() -> ThreadId {
    thread::current().id()
}

async fn wander(steps: usize) {
    for step in 0..steps {
        match step % 4 {
            0 => hop(Color::new(step as u64 % 5)).await,
            _ => yield_now().await,
        }
    }
}

#[test]
fn run_makes_the_main_future_a_task_of_the_workers() {
    shared(|| {
        let runtime = runtime(2);
        let caller = here();
        let (color, thread, id) =
            runtime.run(async { (Color::current(), here(), task::try_id().is_some()) });
        assert_eq!((color, id), (Some(Color::DEFAULT), true));
        assert_ne!(thread, caller, "the caller sleeps");
        // The tasks that it leaves behind go on.
        let (tell, told) = mpsc::channel();
        runtime.run(async move {
            drop(spawn(async move {
                yield_now().await;
                tell.send(5).unwrap();
            }));
        });
        assert_eq!(told.recv(), Ok(5));
    });
}

#[test]
fn block_on_makes_a_runtime_that_ends_with_its_future() {
    shared(|| {
        let (name, drops) = (Rc::new(String::from("of the caller")), Drops::default());
        let length = colored::block_on(async {
            assert_eq!(Color::current(), Some(Color::DEFAULT));
            drop(spawn_colored(RED, keep(drops.under(RED), pending::<()>())));
            let there = spawn_unique(async { here() }).await.unwrap();
            assert_ne!(there, here(), "a worker runs it");
            name.len()
        });
        assert_eq!(length, name.len());
        drops.assert_exact(1);
        assert!(Handle::try_current().is_none(), "the runtime is gone");
        let inside = async { panic_of(|| colored::block_on(async {})) };
        assert!(colored::block_on(inside).contains("block_on"));
    });
}

#[test]
fn a_runtime_spawns_and_describes_itself() {
    shared(|| {
        let runtime = runtime(2);
        let color = async { Color::current().unwrap() };
        let default = runtime.spawn(color);
        let color = async { Color::current().unwrap() };
        let red = runtime.spawn_colored(RED, color);
        // Integers of all the types that count something, and literals.
        let numbered = [
            runtime.spawn_colored(1, async { Color::current().unwrap() }),
            runtime.spawn_colored(1_usize, async { Color::current().unwrap() }),
            runtime.spawn_colored(vec![()].len(), async { Color::current().unwrap() }),
        ];
        let unique = runtime.spawn_unique(async { Color::current().unwrap() });
        let blocking = runtime.spawn_blocking(|| (Color::current(), here()));
        runtime.run(async move {
            assert_eq!(default.await.unwrap(), Color::DEFAULT);
            assert_eq!(red.await.unwrap(), RED);
            for color in numbered {
                assert_eq!(color.await.unwrap(), RED);
            }
            assert!(unique.await.unwrap().is_unique());
            let (color, thread) = blocking.await.unwrap();
            assert_eq!(color, None);
            assert_ne!(thread, here());
        });
        let text = format!("{runtime:?}");
        assert!(text.starts_with("Runtime { workers: 2, parked: "), "{text}");
        assert!(
            text.contains(", colors: ") && text.ends_with(", blocking_threads: 1, .. }"),
            "{text}"
        );
    });
}

/// Types that are used across a `catch_unwind` without `AssertUnwindSafe`: a panic does not poison (G9).
const _: () = {
    const fn assert_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
    type NotUnwindSafe = Box<dyn FnMut() + Send>;
    assert_unwind_safe::<colored::Runtime>();
    assert_unwind_safe::<Handle>();
    assert_unwind_safe::<colored::JoinHandle<NotUnwindSafe>>();
    assert_unwind_safe::<colored::AbortHandle>();
    assert_unwind_safe::<colored::ColorCell<NotUnwindSafe>>();
};

#[test]
fn block_on_takes_a_future_that_borrows_and_stays_on_its_thread() {
    shared(|| {
        let runtime = runtime(2);
        let (caller, mut list, steps) = (here(), Vec::new(), Rc::new(Cell::new(0)));
        let output = runtime.block_on(async {
            for number in 0..1_000 {
                assert_eq!(here(), caller);
                assert_eq!(Color::current(), Some(Color::DEFAULT));
                steps.set(steps.get() + 1);
                list.push(number);
                match number % 3 {
                    0 => yield_now().await,
                    1 => spawn_unique(async {}).await.unwrap(),
                    _ => {}
                }
            }
            Rc::clone(&steps)
        });
        assert_eq!((output.get(), list.len()), (1_000, 1_000));
    });
}

/// The guest runs only its pinned tasks, even if it is idle.
#[test]
fn a_guest_runs_only_its_own_tasks() {
    shared(|| {
        let runtime = runtime(1);
        let caller = here();
        runtime.block_on(async {
            let tasks: Vec<_> =
                (0..200).map(|number| spawn_colored(number, async { here() })).collect();
            for task in tasks {
                assert_ne!(task.await.unwrap(), caller);
            }
            assert_ne!(spawn(async { here() }).await.unwrap(), caller);
            assert_eq!(spawn_local(async { here() }).await.unwrap(), caller);
        });
    });
}

#[test]
fn a_local_task_stays_on_its_thread_wherever_its_color_goes() {
    shared(|| {
        let runtime = runtime(4);
        let local = || async {
            let (home, shared) = (here(), Rc::new(()));
            for step in 0..200 {
                wander(step % 7).await;
                assert_eq!(here(), home);
            }
            Rc::strong_count(&shared)
        };
        // Each local task runs among others that want the same colors and the same worker.
        runtime.run(async move {
            let noise: Vec<_> = (0..16).map(|_| spawn_unique(wander(2_000))).collect();
            let makers: Vec<_> = (0..8)
                .map(|_| {
                    spawn_unique(async move {
                        let tasks = [spawn_local(local()), spawn_local(local())];
                        for task in tasks {
                            assert_eq!(task.await.unwrap(), 1);
                        }
                    })
                })
                .collect();
            for task in makers.into_iter().chain(noise) {
                task.await.unwrap();
            }
        });
        assert_eq!(runtime.block_on(async { spawn_local(local()).await.unwrap() }), 1);
    });
}

/// Shows G2.
#[test]
fn a_local_task_has_its_place_in_the_order_of_its_color() {
    run(2, async {
        let trace = Trace::new();
        for number in 0..100 {
            let trace = trace.clone();
            if number % 2 == 0 {
                drop(spawn(async move { trace.push(number) }));
            } else {
                drop(spawn_rc(trace, number));
            }
        }
        spawn(async {}).await.unwrap();
        assert_eq!(trace.take(), (0..100).collect::<Vec<_>>());
    });
}

fn spawn_rc(trace: Trace<u64>, number: u64) -> colored::JoinHandle<()> {
    let number = Rc::new(number);
    spawn_local(async move { trace.push(*number) })
}

#[test]
fn local_tasks_of_a_guest_end_with_it() {
    shared(|| {
        let (runtime, drops) = (runtime(2), Drops::default());
        let caller = here();
        let (guard, dropped_on) = (drops.under(Color::DEFAULT), Rc::new(Cell::new(None)));
        struct Note(Rc<Cell<Option<ThreadId>>>);
        impl Drop for Note {
            fn drop(&mut self) {
                self.0.set(Some(here()));
            }
        }
        let note = Note(Rc::clone(&dropped_on));
        let (left,) = runtime.block_on(async {
            let left = spawn_local(keep((guard, note), pending::<()>()));
            yield_now().await;
            (left,)
        });
        assert!(left.is_finished());
        assert_eq!(dropped_on.get(), Some(caller));
        drops.assert_exact(1);
        assert!(runtime.run(left).unwrap_err().is_cancelled());
    });
}

/// A local future is dropped on its own thread, under its color, although the color may be busy elsewhere.
/// Shows G8.
#[test]
fn local_tasks_of_a_worker_end_there_with_the_runtime() {
    struct Note(ThreadId, mpsc::Sender<bool>);
    impl Drop for Note {
        fn drop(&mut self) {
            self.1.send(here() == self.0).unwrap();
        }
    }
    shared(|| {
        for _ in 0..20 {
            let (runtime, drops) = (runtime(4), Drops::default());
            let (tell, told) = mpsc::channel();
            let makers: Vec<_> = (0..32)
                .map(|number| {
                    let (tell, guard) = (tell.clone(), drops.under(number % 3));
                    runtime.handle().spawn_colored(number % 3, async move {
                        // The value is made here, because the shutdown may come before the first poll.
                        let held = (guard, Note(here(), tell), Rc::new(()));
                        drop(spawn_local(keep(held, wander_at_home(number as usize % 5))));
                    })
                })
                .collect();
            runtime.run(join_all(makers));
            drop(tell);
            runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
            drops.assert_exact(32);
            assert_eq!(told.iter().filter(|at_home| *at_home).count(), 32);
        }
    });
}

async fn wander_at_home(steps: usize) {
    for _ in 0..steps {
        yield_now().await;
    }
    pending::<()>().await;
}

/// A guest that comes while the runtime ends gets its output or an error; it does not wait for ever.
#[test]
fn guests_that_race_with_shutdown_return() {
    shared(|| {
        for round in 0..50 {
            let runtime = runtime(2);
            let guests: Vec<_> = (0..4)
                .map(|_| {
                    let handle = runtime.handle().clone();
                    thread::spawn(move || {
                        panic_of(|| {
                            loop {
                                drop(handle.spawn(async {}));
                                handle.block_on(async {
                                    let _ = spawn(yield_now()).await;
                                    let _ = spawn_local(yield_now()).await;
                                });
                            }
                        })
                    })
                })
                .collect();
            thread::sleep(Duration::from_micros(100 * round));
            runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
            for guest in guests {
                let said = guest.join().unwrap();
                assert_eq!(said, "the runtime was shut down while `block_on` waited");
            }
        }
    });
}

/// Shows G3.
#[test]
fn many_guests_and_a_main_future_take_turns() {
    shared(|| {
        let runtime = Arc::new(runtime(2));
        let guests: Vec<_> = (0..8)
            .map(|_| {
                let runtime = Arc::clone(&runtime);
                thread::spawn(move || {
                    runtime.block_on(async {
                        let mut sum = 0;
                        for number in 0..300 {
                            sum += spawn_here(async move { number }).await.unwrap();
                        }
                        sum
                    })
                })
            })
            .collect();
        runtime.run(wander(300));
        for guest in guests {
            assert_eq!(guest.join().unwrap(), 299 * 300 / 2);
        }
    });
}

#[test]
fn an_entered_thread_may_spawn_and_make_timers_but_runs_nothing() {
    shared(|| {
        let (outer, inner) = (runtime(1), runtime(1));
        let tells = |text: &'static str| async move { text };
        let inside = outer.enter();
        assert_eq!(Color::current(), None);
        let task = spawn(tells("outer"));
        let timer = sleep(Duration::from_millis(1));
        {
            let _deeper = inner.handle().enter();
            let task = spawn_unique(tells("inner"));
            assert_eq!(inner.run(task).unwrap(), "inner");
            assert!(Handle::try_current().is_some());
        }
        let again = spawn_colored(RED, async { Color::current() });
        assert!(panic_of(|| drop(spawn_local(async {}))).contains("no worker"));
        assert!(panic_of(|| drop(spawn_here(async {}))).contains("no color"));
        let call = spawn_blocking(here);
        drop(inside);
        assert!(Handle::try_current().is_none());
        assert_eq!(outer.run(task).unwrap(), "outer");
        assert_eq!(outer.run(again).unwrap(), Some(RED));
        assert_ne!(outer.run(call).unwrap(), here());
        inner.run(timer);
    });
}

/// Where the task was spawned that calls this.
fn own_place() -> (String, u32) {
    let (dump, id) = (Handle::current().dump(), task::id());
    let own = dump.tasks().find(|task| task.id() == id).expect("it runs");
    (own.spawned().file().to_owned(), own.spawned().line())
}

/// The attribute is on another line than the name.
#[test]
fn the_main_task_is_spawned_at_the_name_of_the_function() {
    #[colored::main(workers = 1)]
    async fn run() -> (String, u32) {
        own_place()
    }
    let line = line!() - 3;
    #[colored::main(workers = 1, local)]
    async fn run_here() -> (String, u32) {
        own_place()
    }
    let line_here = line!() - 3;
    shared(|| {
        assert_eq!(run(), (file!().to_owned(), line));
        assert_eq!(run_here(), (file!().to_owned(), line_here));
    });
}
