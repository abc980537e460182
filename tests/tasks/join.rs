//! Tasks: how they are spawned and moved, and what their handles say.

use colored::sync::oneshot;
use colored::time::{Duration, timeout};
use colored::{
    Color, Handle, JoinError, Runtime, hop, spawn, spawn_blocking, spawn_colored, spawn_here,
    spawn_unique, task, yield_now,
};
use colored_tests::gate::Gate;
use colored_tests::meet::on_each;
use colored_tests::polls::{Child, both};
use colored_tests::{ON_PURPOSE, Trace, join_all, panic_of, run, runtime, shared};
use std::future::pending;
use std::sync::{Arc, Barrier, mpsc};

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

#[test]
fn unique_colors_are_in_parallel_and_here_is_in_line() {
    run(3, async {
        // Three at once: ends only if they overlap.
        on_each(&Handle::current(), 3, || ()).await;
        let colored = spawn_colored(RED, async {
            let trace = Trace::new();
            let tasks = [0, 1, 2].map(|number| {
                let trace = trace.clone();
                spawn_here(async move { trace.push(number) })
            });
            assert_eq!(trace.len(), 0, "they wait for this poll to end");
            join_all(tasks).await;
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

/// Sends what the id of the task is in its destructor.
struct Teller(mpsc::Sender<Option<task::Id>>);

impl Drop for Teller {
    fn drop(&mut self) {
        self.0.send(task::try_id()).unwrap();
    }
}

#[test]
fn the_destructor_of_an_output_that_nobody_takes_knows_the_task() {
    let (tell, told) = mpsc::channel();
    let (first, second) = (tell.clone(), tell.clone());
    run(2, async move {
        let output = spawn_colored(RED, async { Teller(tell) });
        let call = spawn_blocking(|| Teller(first));
        while !output.is_finished() || !call.is_finished() {
            yield_now().await;
        }
        let ids = [output.id(), call.id()];
        drop((output, call));
        assert_eq!([told.recv().unwrap(), told.recv().unwrap()], ids.map(Some));
        assert!(!ids.contains(&task::id()));
        let gone = spawn_colored(RED, async { Teller(second) });
        let id = gone.id();
        drop(gone);
        let told = spawn_blocking(move || told.recv().unwrap());
        assert_eq!(told.await.unwrap(), Some(id));
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
        // Dropped after its first poll: the task is on its way, and goes on under the new color.
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
            assert_eq!(Color::current(), None);
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

/// The thread that reads an output owns it, also much later and elsewhere.
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
        let other = colored_tests::runtime(1);
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

/// Whether both branches of a task end, if the task polls a branch only when the branch's own waker
/// was called.
async fn ends(one: impl Future<Output = ()> + Send + 'static) -> bool {
    let task = spawn_colored(RED, both(Child::new(one), Child::new(yield_now())));
    timeout(Duration::from_secs(10), task).await.is_ok_and(|ended| ended.is_ok())
}

/// Shows G2.
#[test]
fn a_hop_arrives_inside_a_combinator_with_wakers_of_its_own() {
    let hops = async {
        for color in [BLUE, BLUE, RED, Color::DEFAULT] {
            hop(color).await;
            assert_eq!(Color::current(), Some(color));
        }
    };
    assert!(run(2, ends(hops)));
}

/// Shows G2.
#[test]
fn a_yield_goes_on_inside_a_combinator_with_wakers_of_its_own() {
    let yields = async {
        for _ in 0..100 {
            yield_now().await;
        }
    };
    assert!(run(2, ends(yields)));
}
