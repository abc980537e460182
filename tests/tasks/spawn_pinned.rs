//! Futures that need not be `Send`, on a chosen worker.

use colored::sync::oneshot;
use colored::{
    Color, ColorCell, JoinHandle, hop, spawn_local, spawn_pinned, spawn_unique, yield_now,
};
use colored_tests::drops::keep;
use colored_tests::gate::Gate;
use colored_tests::{
    ON_PURPOSE, Trace, join_all, message, panic_of, run, runtime, shared, wait_until,
};
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The thread of each worker.
fn threads(runtime: &colored::Runtime, workers: usize) -> Vec<ThreadId> {
    let here = || async { thread::current().id() };
    let ask = |worker| runtime.handle().spawn_pinned(worker, Color::unique(), here).unwrap();
    (0..workers).map(|worker| runtime.run(ask(worker)).unwrap()).collect()
}

/// Not `Send`; records where it is dropped.
struct Resident(Rc<RefCell<u32>>, Trace<(ThreadId, Option<Color>)>);

impl Drop for Resident {
    fn drop(&mut self) {
        self.1.push((thread::current().id(), Color::current()));
    }
}

#[test]
fn it_is_made_polled_and_dropped_on_its_worker_under_its_color() {
    shared(|| {
        let (runtime, dropped) = (runtime(3), Trace::new());
        let homes = threads(&runtime, 3);
        assert!((0..3).all(|n| homes[n] != homes[(n + 1) % 3]), "three threads");
        for (worker, home) in homes.iter().copied().enumerate() {
            let log = dropped.clone();
            let task = runtime.handle().spawn_pinned(worker, 7, move || {
                let made = thread::current().id();
                let resident = Resident(Rc::new(RefCell::new(0)), log);
                async move {
                    for _ in 0..100 {
                        yield_now().await;
                        // Elsewhere, and back: the thread is the same.
                        spawn_unique(async {}).await.unwrap();
                        *resident.0.borrow_mut() += 1;
                        assert_eq!(thread::current().id(), made);
                        assert_eq!(Color::current(), Some(Color::new(7)));
                    }
                    hop(8).await;
                    let sum = *resident.0.borrow();
                    (sum, made, thread::current().id(), Color::current())
                }
            });
            let seen = runtime.run(task.unwrap()).unwrap();
            assert_eq!(seen, (100, home, home, Some(Color::new(8))));
        }
        let expected: Vec<_> = homes.iter().map(|home| (*home, Some(Color::new(8)))).collect();
        assert_eq!(dropped.take(), expected);
    });
}

/// Shows G2.
#[test]
fn it_has_its_place_in_the_order_of_the_color() {
    shared(|| {
        let (runtime, trace) = (runtime(3), Trace::new());
        let gate = Gate::close(runtime.handle(), 7);
        let tasks: Vec<JoinHandle<()>> = (0..30)
            .map(|number| {
                let trace = trace.clone();
                match number % 4 {
                    3 => runtime.handle().spawn_colored(7, async move { trace.push(number) }),
                    worker => {
                        let make = move || async move { trace.push(number) };
                        runtime.handle().spawn_pinned(worker % 3, 7, make).unwrap()
                    }
                }
            })
            .collect();
        assert!(trace.take().is_empty());
        gate.open();
        runtime.run(join_all(tasks));
        assert_eq!(trace.take(), (0..30).collect::<Vec<_>>());
    });
}

/// Shows G8.
#[test]
fn aborts_panics_and_shutdown_end_it_on_its_worker() {
    shared(|| {
        let (runtime, dropped) = (runtime(2), Trace::new());
        let home = threads(&runtime, 2)[1];
        let (told, spawn) = {
            let (tell, told) = channel();
            let (handle, log) = (runtime.handle().clone(), dropped.clone());
            let spawn = move |ends: bool| {
                let (tell, log) = (tell.clone(), log.clone());
                let make = move || async move {
                    let _resident = Resident(Rc::default(), log);
                    tell.send(()).unwrap();
                    assert!(!ends, "{ON_PURPOSE}");
                    std::future::pending::<()>().await;
                };
                handle.spawn_pinned(1, 7, make).unwrap()
            };
            (told, spawn)
        };
        let task = spawn(false);
        told.recv().unwrap();
        task.abort();
        assert!(runtime.run(task).unwrap_err().is_cancelled());
        let error = runtime.run(spawn(true)).unwrap_err();
        assert_eq!(message(&*error.into_panic()), ON_PURPOSE);
        told.recv().unwrap();

        // Before the first turn the closure that makes the future is dropped, on the same worker.
        let gate = Gate::close(runtime.handle(), 7);
        let task = spawn(false);
        task.abort();
        gate.open();
        assert!(runtime.run(task).unwrap_err().is_cancelled());
        assert!(told.try_recv().is_err(), "it was not made");

        let task = spawn(false);
        told.recv().unwrap();
        drop(runtime);
        assert!(task.is_finished());
        assert_eq!(dropped.take(), vec![(home, Some(Color::new(7))); 3]);
    });
}

#[test]
fn a_future_not_made_when_the_runtime_ends_is_dropped_unmade() {
    shared(|| {
        for round in 0..200 {
            let (runtime, own) = (runtime(2), std::sync::Arc::new(()));
            let handle = runtime.handle().clone();
            let ends = thread::spawn(move || drop(runtime));
            (0..round * 100).for_each(|_| std::hint::spin_loop());
            let tasks = [0, 1, 0].map(|worker| {
                let own = std::sync::Arc::clone(&own);
                let make = move || keep((own, Rc::new(())), std::future::pending::<()>());
                handle.spawn_pinned(worker, 7, make).unwrap()
            });
            ends.join().unwrap();
            let other = colored_tests::runtime(1);
            for task in tasks {
                assert!(other.run(task).unwrap_err().is_cancelled());
            }
        }
    });
}

#[test]
fn errors_say_what_was_given() {
    let said = panic_of(|| drop(spawn_pinned(0, 7, || async {})));
    assert!(said.contains("`spawn_pinned(0, color 0x7, ..)` outside a runtime"), "{said}");
    run(2, async {
        let (tell, told) = oneshot::channel::<()>();
        let error = spawn_pinned(2, 7, move || async move { drop(tell) }).unwrap_err();
        let expected = "there is no worker 2: this runtime has 2, numbered from 0";
        assert_eq!(error.to_string(), expected);
        assert!(told.await.is_err(), "what makes it is dropped");
    });
}

/// Runs a call of the cell on this thread, which is none of the runtime's.
fn call_here(cell: &ColorCell<()>, f: impl FnOnce() + Send + 'static) {
    let mut call = pin!(cell.call(move |()| f()));
    let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_ready(), "the color is idle");
}

/// Three futures that never end under color 7 on the second worker, by all ways in which one can stay
/// there.
fn settle(runtime: &colored::Runtime, dropped: &Trace<(ThreadId, Option<Color>)>) -> ThreadId {
    let (made, handle) = (channel(), runtime.handle());
    let (log, tell) = (dropped.clone(), made.0.clone());
    let pinned = handle.spawn_pinned(1, 7, move || {
        let resident = Resident(Rc::default(), log.clone());
        let local = Resident(Rc::default(), log);
        spawn_local(async move {
            tell.send(()).unwrap();
            std::future::pending::<()>().await;
            drop(local);
        });
        keep(resident, std::future::pending::<()>())
    });
    drop(pinned.unwrap());
    let log = dropped.clone();
    let cell = handle.pinned_cell(1, 7, move || Resident(Rc::default(), log)).unwrap();
    runtime.run(async move {
        cell.call(|_| ()).await;
        // The value lives as long as its handle.
        std::mem::forget(cell);
    });
    made.1.recv().unwrap();
    // What has told of itself may be inside its turn still.
    wait_until(|| runtime.metrics().parked == 2);
    threads(runtime, 2)[1]
}

/// A foreign thread holds the color when the runtime cancels its tasks.
/// Shows G8.
#[test]
fn its_worker_stays_until_its_color_comes() {
    shared(|| {
        let (runtime, dropped) = (runtime(2), Trace::new());
        let cell = runtime.handle().cell(7, ());
        let home = settle(&runtime, &dropped);
        let (enter, entered) = channel();
        let (leave, leaves) = channel::<()>();
        let holds = thread::spawn(move || {
            call_here(&cell, move || {
                enter.send(()).unwrap();
                leaves.recv().unwrap();
            });
        });
        entered.recv().unwrap();
        let over = runtime.shutdown_timeout(Duration::from_millis(50));
        assert!(over.is_err(), "it waits for the color");
        assert_eq!(dropped.len(), 0);
        leave.send(()).unwrap();
        holds.join().unwrap();
        wait_until(|| dropped.len() == 3);
        assert_eq!(dropped.take(), vec![(home, Some(Color::new(7))); 3]);
    });
}

/// The thread that holds the color drops the runtime: the drop waits for no thread, and the worker ends by itself.
/// Shows G8.
#[test]
fn a_runtime_that_is_dropped_under_the_color_does_not_wait_for_it() {
    shared(|| {
        let (runtime, dropped) = (runtime(2), Trace::new());
        let cell = runtime.handle().cell(7, ());
        let home = settle(&runtime, &dropped);
        call_here(&cell, move || drop(runtime));
        wait_until(|| dropped.len() == 3);
        assert_eq!(dropped.take(), vec![(home, Some(Color::new(7))); 3]);
    });
}
