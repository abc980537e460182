//! Values that stay on one thread.

use colored::pinned::{NoWorker, PinnedCell, PinnedError};
use colored::sync::oneshot;
use colored::{Color, spawn, spawn_colored, spawn_unique, yield_now};
use colored_tests::drops::Drops;
use colored_tests::gate::Gate;
use colored_tests::witness::Witness;
use colored_tests::{ON_PURPOSE, Trace, join_all, panic_of, run, runtime, shared, wait_until};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

const RED: Color = Color::new(1);

/// Not `Send`. Says where it is made, used and dropped.
struct Resident {
    home: ThreadId,
    list: Rc<RefCell<Vec<u32>>>,
    log: Trace<(&'static str, ThreadId, Option<Color>)>,
}

type Log = Trace<(&'static str, ThreadId, Option<Color>)>;

impl Resident {
    fn new(log: Log) -> Self {
        let home = thread::current().id();
        log.push(("made", home, Color::current()));
        Self { home, list: Rc::default(), log }
    }

    fn push(&self, number: u32) -> usize {
        self.log.push(("used", thread::current().id(), Color::current()));
        let list = Rc::clone(&self.list);
        list.borrow_mut().push(number);
        list.borrow().len()
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        assert_eq!(thread::current().id(), self.home);
        self.log.push(("dropped", thread::current().id(), Color::current()));
    }
}

fn is_send_and_sync<T: Send + Sync>(value: T) -> T {
    value
}

#[test]
fn a_value_on_a_worker_is_made_used_and_dropped_there() {
    let log = Log::new();
    shared(|| {
        let runtime = runtime(3);
        let threads: Vec<ThreadId> = (0..3)
            .map(|worker| {
                let own = log.clone();
                let cell = runtime.handle().pinned_cell(worker, RED, || Resident::new(own));
                let cell = is_send_and_sync(cell.unwrap());
                let users = (0..64u32).map(|number| {
                    let cell = cell.clone();
                    runtime.handle().spawn_unique(async move {
                        let length = cell.call(move |value| value.push(number)).await;
                        cell.post(move |value| _ = value.push(number));
                        length
                    })
                });
                let users: Vec<_> = users.collect();
                let last = cell.clone();
                drop(cell);
                runtime.run(async move {
                    for user in users {
                        assert!(user.await.unwrap() <= 128);
                    }
                    assert_eq!(last.call(|value| value.list.borrow().len()).await, 128);
                });
                wait_until(|| log.len() == 130);
                let log = log.take();
                assert_eq!((log[0].0, log[129].0), ("made", "dropped"));
                let home = log[0].1;
                assert!(log.iter().all(|entry| (entry.1, entry.2) == (home, Some(RED))), "{log:?}");
                home
            })
            .collect();
        assert!(threads[0] != threads[1] && threads[1] != threads[2] && threads[0] != threads[2]);
    });
}

#[test]
fn the_main_thread_can_own_the_value() {
    let log = Log::new();
    shared(|| {
        let runtime = runtime(2);
        let main = thread::current().id();
        let own = log.clone();
        let cell = runtime.block_on(async {
            let cell = PinnedCell::here(|| Resident::new(own));
            let tasks = [0; 8].map(|_| {
                let cell = cell.clone();
                spawn_unique(async move {
                    assert_ne!(thread::current().id(), main);
                    cell.call(|value| value.push(0)).await
                })
            });
            let mut lengths = Vec::new();
            for task in tasks {
                lengths.push(task.await.unwrap());
            }
            lengths.sort_unstable();
            assert_eq!(lengths, [1, 2, 3, 4, 5, 6, 7, 8]);
            assert!(!cell.is_gone());
            cell
        });
        // The value went with `block_on`, though there is a handle.
        let entries = log.take();
        let expected = |what| (what, main, Some(Color::DEFAULT));
        assert_eq!(entries[0], expected("made"));
        assert_eq!(entries[1..9], [expected("used"); 8]);
        assert_eq!(entries[9..], [expected("dropped")]);
        assert!(cell.is_gone());
        let error = runtime.run(cell.checked_call(|value| value.push(9))).unwrap_err();
        assert!(matches!(error, PinnedError::Gone(_)));
        assert!(error.to_string().contains("is gone"), "{error}");
    });
}

/// Closures of many tasks on other workers, and tasks of the color itself on any worker.
#[test]
fn it_excludes_everything_of_its_color() {
    run(4, async {
        let witness = Arc::new(Witness::default());
        let cell = PinnedCell::on_worker(1, RED, || Rc::new(())).unwrap();
        let tasks: Vec<_> = (0..2_000)
            .map(|number| {
                let (cell, inside, outside) = (cell.clone(), witness.clone(), witness.clone());
                let user = spawn_unique(async move {
                    if number % 2 == 0 {
                        cell.call(move |_| inside.touch()).await;
                    } else {
                        cell.post(move |_| inside.touch());
                    }
                });
                [user, spawn_colored(RED, async move { outside.touch() })]
            })
            .collect();
        for task in tasks.into_iter().flatten() {
            task.await.unwrap();
        }
        // Behind the posts.
        cell.call(|_| ()).await;
        assert_eq!(witness.count(), 4_000);
    });
}

#[test]
fn closures_run_in_the_order_in_which_they_were_sent() {
    const POSTS: u32 = 10_000;
    run(3, async {
        let cell = PinnedCell::on_worker(2, RED, || Rc::new(RefCell::new(Vec::new()))).unwrap();
        join_all([0, 1].map(|poster| {
            let cell = cell.clone();
            spawn_unique(async move {
                for number in 0..POSTS {
                    cell.post(move |list| list.borrow_mut().push((poster, number)));
                    if number % 100 == 0 {
                        yield_now().await;
                    }
                }
            })
        }))
        .await;
        let list = cell.call(|list| list.take()).await;
        for poster in [0, 1] {
            let own = list.iter().filter(|entry| entry.0 == poster).map(|entry| entry.1);
            assert!(own.eq(0..POSTS));
        }
    });
}

/// Sends without an end do not keep the others of the color from running.
#[test]
fn a_turn_of_the_owner_ends() {
    const UNITS: u64 = 128;
    shared(|| {
        let runtime = runtime(1);
        let (gate, count) = (Gate::close(runtime.handle(), RED), Arc::new(AtomicU64::new(0)));
        let cell = runtime.handle().pinned_cell(0, RED, || Rc::new(())).unwrap();
        for _ in 0..3 * UNITS {
            let count = Arc::clone(&count);
            cell.post(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
        }
        let seen = Arc::clone(&count);
        let beside = runtime.handle().spawn_colored(RED, async move {
            let mut counts = Vec::new();
            for _ in 0..4 {
                counts.push(seen.load(Ordering::Relaxed));
                yield_now().await;
            }
            counts
        });
        gate.open();
        let counts = runtime.run(async { beside.await.unwrap() });
        // The callback that makes the value came first, the owner behind this task.
        assert_eq!(counts, [0, UNITS, 2 * UNITS, 3 * UNITS]);
    });
}

#[test]
fn panics_reach_their_callers_and_leave_the_value() {
    run(2, async {
        let cell = PinnedCell::on_worker(0, RED, || Rc::new(RefCell::new(1))).unwrap();
        let own = cell.clone();
        let call = spawn_unique(async move {
            own.call(|value| {
                *value.borrow_mut() += 1;
                panic!("{ON_PURPOSE}")
            })
            .await
        });
        let payload = call.await.unwrap_err().into_panic();
        assert_eq!(colored_tests::message(&*payload), ON_PURPOSE);
        cell.post(|_| panic!("{ON_PURPOSE}"));
        let dropped = PanicsOnDrop;
        cell.post(move |_| drop(dropped));
        // A result that no task takes, and that panics when it is dropped, by its caller or by the owner.
        for is_over in [true, false] {
            let (begin, begun) = channel();
            let mut call = Box::pin(cell.call(move |_| {
                begun.recv().unwrap();
                PanicsOnDrop
            }));
            assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            if is_over {
                begin.send(()).unwrap();
                cell.call(|_| ()).await;
            }
            drop(call);
            _ = begin.send(());
        }
        assert_eq!(cell.call(|value| value.take()).await, 2);
    });
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("{ON_PURPOSE}");
    }
}

#[test]
fn a_value_that_cannot_be_made_is_gone() {
    run(2, async {
        let make = || -> Rc<()> { panic!("{ON_PURPOSE}") };
        let cell = PinnedCell::on_worker(1, RED, make).unwrap();
        assert!(cell.checked_call(|_| ()).await.is_err());
        assert!(cell.is_gone());
        let said = spawn_unique(async move { cell.call(|_| ()).await }).await.unwrap_err();
        assert!(said.to_string().contains("is gone"), "{said}");
        let here = spawn(async move { drop(PinnedCell::here(make)) });
        assert!(here.await.unwrap_err().is_panic());
    });
}

/// A closure that was sent is dropped in its turn; a closure that has begun goes on.
#[test]
fn a_call_that_is_dropped_does_not_run() {
    shared(|| {
        let (runtime, drops) = (runtime(1), Drops::default());
        let cell = runtime.handle().pinned_cell(0, RED, || Rc::new(RefCell::new(0))).unwrap();
        let gate = Gate::close(runtime.handle(), RED);
        let (sent, unsent) = (drops.under(RED), drops.under(RED));
        let mut call = Box::pin(cell.call(move |value| {
            let _sent = sent;
            *value.borrow_mut() = 1;
        }));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(call);
        assert_eq!(drops.count(), 0);
        gate.open();
        // This closure is dropped where it is.
        let never = cell.call(move |_| drop(unsent));
        let value = runtime.run(async move {
            let value = cell.call(|value| value.take()).await;
            colored::hop(RED).await;
            drop(never);
            value
        });
        assert_eq!(value, 0);
        drops.assert_exact(2);
    });
}

/// Calls that wait when `block_on` ends, and calls that come later: none hangs, and no closure stays.
#[test]
fn the_end_of_block_on_ends_its_cells() {
    shared(|| {
        for _ in 0..200 {
            let (runtime, closures) = (runtime(2), Arc::new(()));
            let (handle, own) = (runtime.handle().clone(), Arc::clone(&closures));
            let (begun, begins) = channel();
            let callers = runtime.block_on(async move {
                let cell = PinnedCell::here(|| Rc::new(()));
                let callers = [0; 4].map(|_| {
                    let (cell, own, begun) = (cell.clone(), Arc::clone(&own), begun.clone());
                    handle.spawn_unique(async move {
                        let mut ran = 0;
                        loop {
                            let closure = Arc::clone(&own);
                            if cell.checked_call(move |_| drop(closure)).await.is_err() {
                                return ran;
                            }
                            ran += 1;
                            let _ = begun.send(());
                        }
                    })
                });
                // Lets some calls run, and returns while more are on their way.
                while begins.try_recv().is_err() {
                    yield_now().await;
                }
                callers
            });
            let ran: u32 = runtime.run(async move {
                let mut ran = 0;
                for caller in callers {
                    ran += caller.await.unwrap();
                }
                ran
            });
            assert!(ran > 0);
            drop(runtime);
            assert_eq!(Arc::strong_count(&closures), 1);
        }
    });
}

/// The value and the closures that were sent to it are dropped on its thread, under its color. A caller in another
/// runtime gets an error.
/// Shows G8.
#[test]
fn shutdown_drops_value_and_closures_on_their_thread() {
    let log = Log::new();
    shared(|| {
        let (runtime, other, drops) = (runtime(2), runtime(1), Drops::default());
        let own = log.clone();
        let cell = runtime.handle().pinned_cell(1, RED, || Resident::new(own)).unwrap();
        let used = cell.clone();
        runtime.run(async move { used.call(|value| value.push(1)).await });
        // The color is busy until the runtime is shutting down.
        let gate = Gate::close(runtime.handle(), RED);
        let closure = drops.under(RED);
        let waiting = cell.clone();
        let (sent, is_sent) = channel();
        let waits = other.handle().spawn_unique(async move {
            let mut call = pin!(waiting.checked_call(move |_| drop(closure)));
            poll_fn(|cx| {
                let polled = call.as_mut().poll(cx);
                let _ = sent.send(());
                polled
            })
            .await
        });
        is_sent.recv().unwrap();
        let ends = thread::spawn(move || runtime.shutdown_timeout(Duration::from_secs(60)));
        thread::sleep(Duration::from_millis(5));
        gate.open();
        ends.join().unwrap().unwrap();
        let ended = other.run(async move { waits.await.unwrap() });
        // It may have come before the shutdown, on this machine or that.
        assert!(ended.is_ok() || cell.is_gone());
        drops.assert_exact(1);
        let late = cell.checked_call(|value| value.push(2));
        assert!(other.run(late).is_err());
    });
    let log = log.take();
    let home = log[0].1;
    assert_eq!(log.last().unwrap(), &("dropped", home, Some(RED)));
    assert_eq!(log.iter().filter(|entry| entry.0 == "dropped").count(), 1);
    assert!(log.iter().all(|entry| entry.1 == home));
}

/// A closure that is sent after the end of a runtime, or while it ends, is refused and does not block its
/// color.
/// Shows G8.
#[test]
fn a_cell_for_a_runtime_that_ends_is_gone() {
    shared(|| {
        for round in 0..200 {
            let (runtime, made) = (runtime(2), Arc::new(()));
            let handle = runtime.handle().clone();
            let ends = thread::spawn(move || drop(runtime));
            (0..round * 100).for_each(|_| std::hint::spin_loop());
            let cells = [0, 1, 0].map(|worker| {
                let own = Arc::clone(&made);
                let cell = handle.pinned_cell(worker, RED, move || (own, Rc::new(())));
                let behind = handle.spawn_colored(RED, std::future::pending::<()>());
                (cell.unwrap(), behind)
            });
            ends.join().unwrap();
            let other = colored_tests::runtime(1);
            for (cell, behind) in cells {
                assert!(other.run(cell.checked_call(|_| ())).is_err());
                assert!(behind.is_finished());
            }
            assert_eq!(Arc::strong_count(&made), 1);
        }
    });
}

#[test]
fn errors_say_what_was_given() {
    shared(|| {
        let said = panic_of(|| drop(PinnedCell::here(|| ())));
        assert!(said.contains("`PinnedCell::here` on a thread that is no worker"), "{said}");
        let said = panic_of(|| drop(PinnedCell::on_worker(0, RED, || ())));
        assert!(said.contains("`PinnedCell::on_worker(0, color 0x1, ..)` outside"), "{said}");
        let runtime = runtime(2);
        let error: NoWorker = runtime.handle().pinned_cell(2, RED, || ()).unwrap_err();
        let expected = "there is no worker 2: this runtime has 2, numbered from 0";
        assert_eq!(error.to_string(), expected);
    });
}

/// Made by a task of a worker, under its color.
#[test]
fn a_task_can_leave_a_value_on_its_worker() {
    run(2, async {
        let (tell, told) = oneshot::channel();
        let maker = spawn_colored(RED, async move {
            let home = thread::current().id();
            let _ = tell.send((PinnedCell::here(|| Rc::new(home)), home));
        });
        maker.await.unwrap();
        let (cell, home) = told.await.expect("it is sent");
        for _ in 0..100 {
            let seen = cell.call(|value| (**value, thread::current().id(), Color::current())).await;
            assert_eq!(seen, (home, home, Some(RED)));
        }
    });
}
