//! How tasks come into a runtime, where they run, and what their handles say.

use crate::support::drops::Drops;
use crate::support::gate::Gate;
use crate::support::{ON_PURPOSE, Trace, panic_of, run, runtime, shared};
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{
    Color, Handle, JoinError, Runtime, hop, spawn, spawn_blocking, spawn_colored, spawn_here,
    spawn_local, spawn_unique, task, yield_now,
};
use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::sync::{Arc, Barrier, mpsc};
use std::thread::{self, ThreadId};

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

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
        // What it leaves behind goes on.
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

/// The guest runs nothing but what is pinned to it, be it ever so idle.
#[test]
fn a_guest_runs_only_what_is_its_own() {
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
        // Each in the middle of others that want the same colors and the same worker.
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
fn what_is_local_to_a_guest_ends_with_it() {
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
            let left = spawn_local(async move {
                let _held = (guard, note);
                pending::<()>().await;
            });
            yield_now().await;
            (left,)
        });
        assert!(left.is_finished());
        assert_eq!(dropped_on.get(), Some(caller));
        drops.assert_exact(1);
        assert!(runtime.run(left).unwrap_err().is_cancelled());
    });
}

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
fn who_has_entered_may_spawn_and_make_timers_but_runs_nothing() {
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

#[test]
fn unique_colors_are_in_parallel_and_here_is_in_line() {
    run(3, async {
        // Three at once: ends only if they overlap.
        let meeting = Arc::new(Barrier::new(3));
        let meet = || {
            let meeting = Arc::clone(&meeting);
            spawn_unique(async move { meeting.wait().is_leader() })
        };
        for task in [meet(), meet(), meet()] {
            task.await.unwrap();
        }
        let colored = spawn_colored(RED, async {
            let trace = Trace::new();
            let tasks = [0, 1, 2].map(|number| {
                let trace = trace.clone();
                spawn_here(async move { trace.push(number) })
            });
            assert_eq!(trace.len(), 0, "they wait for this poll to end");
            for task in tasks {
                task.await.unwrap();
            }
            trace.take()
        });
        assert_eq!(colored.await.unwrap(), [0, 1, 2]);
    });
}

#[test]
fn a_hop_moves_the_task_with_all_it_holds() {
    run(2, async {
        let task = spawn_colored(RED, async {
            let (id, mut list) = (task::id(), vec![Color::current().unwrap()]);
            for color in [BLUE, BLUE, Color::DEFAULT, RED] {
                hop(color).await;
                list.push(Color::current().unwrap());
            }
            assert_eq!(task::id(), id);
            list
        });
        assert_eq!(task.await.unwrap(), [RED, BLUE, BLUE, Color::DEFAULT, RED]);
    });
}

#[test]
fn a_hop_that_loses_a_race_still_moves_the_task_or_does_not() {
    use std::future::poll_fn;
    use std::task::Poll;
    run(2, async {
        // Dropped before its first poll: nothing has happened.
        spawn_colored(RED, async {
            drop(hop(BLUE));
            yield_now().await;
            assert_eq!(Color::current(), Some(RED));
        })
        .await
        .unwrap();
        // Dropped after it: the task is on its way, and goes on there.
        spawn_colored(RED, async {
            let mut hop = Some(hop(BLUE));
            poll_fn(|cx| match hop.take() {
                Some(mut first) => {
                    assert!(std::pin::Pin::new(&mut first).poll(cx).is_pending());
                    Poll::Pending
                }
                None => Poll::Ready(()),
            })
            .await;
            assert_eq!(Color::current(), Some(BLUE));
        })
        .await
        .unwrap();
    });
}

#[test]
fn a_blocking_call_runs_beside_its_caller_and_can_use_the_runtime_through_a_handle() {
    run(1, async {
        let handle = Handle::current();
        let answer = spawn_blocking(move || {
            assert_eq!((Color::current(), task::try_id()), (None, None));
            // The only worker is free, or this would not end.
            handle.block_on(async { spawn(async { 6 }).await.unwrap() }) * 7
        });
        assert_eq!(answer.await.unwrap(), 42);
        let (block, blocked) = mpsc::channel::<()>();
        let busy = spawn_blocking(move || blocked.recv().unwrap());
        for _ in 0..100 {
            spawn(yield_now()).await.unwrap();
        }
        assert!(!busy.is_finished());
        block.send(()).unwrap();
        busy.await.unwrap();
    });
}

#[test]
fn handles_tell_the_state_of_their_task() {
    run(2, async {
        let (go, gone) = oneshot::channel();
        let mut task = spawn_unique(async { gone.await.unwrap() });
        let afar = task.abort_handle();
        assert_eq!(afar.id(), task.id());
        assert!(!task.is_finished() && !afar.is_finished() && task.try_take().is_none());
        go.send(5).unwrap();
        while !afar.is_finished() {
            yield_now().await;
        }
        afar.abort();
        assert_eq!(task.try_take().unwrap().unwrap(), 5, "the abort came too late");

        let task = spawn_unique(pending::<()>());
        let afar = task.abort_handle();
        drop(task);
        assert!(!afar.is_finished(), "detached, not ended");
        afar.abort();
        afar.abort();
        while !afar.is_finished() {
            yield_now().await;
        }
    });
}

#[test]
fn join_errors_say_which_task_and_why() {
    run(2, async {
        let task = spawn(pending::<()>());
        task.abort();
        let id = task.id();
        let error: JoinError = task.await.unwrap_err();
        assert!(error.is_cancelled() && !error.is_panic() && error.id() == id);
        assert_eq!(error.to_string(), format!("task {id} was cancelled"));
        assert!(panic_of(|| error.into_panic()).contains("did not panic"));
        let error = spawn(async { panic!("{ON_PURPOSE}") }).await.unwrap_err();
        assert!(error.is_panic() && !error.is_cancelled());
        let io: std::io::Error = error.into();
        assert!(io.to_string().contains("panicked with message \"on purpose\""), "{io}");
    });
}

/// An output belongs to whoever reads it, also much later and elsewhere.
#[test]
fn an_output_waits_for_its_reader() {
    shared(|| {
        let runtime = runtime(2);
        let gate = Gate::close(runtime.handle(), RED);
        let task = runtime.handle().spawn_colored(RED, async { vec![1, 2, 3] });
        gate.open();
        runtime.run(async { spawn_colored(RED, async {}).await.unwrap() });
        assert!(task.is_finished());
        drop(runtime);
        let other = crate::support::runtime(1);
        assert_eq!(other.run(task).unwrap(), [1, 2, 3]);
    });
}

#[test]
fn runtimes_in_one_process_have_colors_of_their_own() {
    shared(|| {
        let (first, second) = (runtime(1), runtime(1));
        // Both are inside a poll of RED at once.
        let meeting = Arc::new(Barrier::new(2));
        let meet = |runtime: &Runtime| {
            let meeting = Arc::clone(&meeting);
            runtime.handle().spawn_colored(RED, async move { meeting.wait().is_leader() })
        };
        let tasks = (meet(&first), meet(&second));
        first.run(tasks.1).unwrap();
        second.run(tasks.0).unwrap();
    });
}
