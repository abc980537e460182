//! Two runtimes in one program: each operation, by a task of one runtime, on its own runtime, and on another one that
//! runs, shuts down or has ended. The table of `colored::runtime` says the same.

use colored::cell::Several;
use colored::net::TcpListener;
use colored::stage::{self, Stage, each};
use colored::time::{Duration, interval, sleep, timeout};
use colored::{
    CallError, Color, ColorCell, Handle, JoinHandle, Limit, PinnedCell, Priority, Runtime,
    checked_when, exclusive, hop, spawn, spawn_blocking, spawn_here, spawn_local, spawn_unique,
    task, when, yield_now,
};
use colored_tests::ending::end_while_held;
use colored_tests::polls::waits;
use colored_tests::{block, join_all, message, panic_of, runtime, shared, wait_until};
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

/// The color of what the target has.
const RED: u64 = 1;
const LONG: Duration = Duration::from_secs(60);
/// The numbers of workers, which identify a runtime: the caller's, and the other one.
const OWN: usize = 2;
const OTHER: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Own,
    Other,
    /// Its shutdown has begun, and waits for a poll that does not end.
    Closing,
    Gone,
}

use State::{Closing, Gone, Other, Own};

impl State {
    /// Whether it runs tasks.
    fn lives(self) -> bool {
        matches!(self, Own | Other)
    }
}

/// The objects of a runtime that is in some state.
struct Target {
    state: State,
    to: Handle,
    cell: ColorCell<i32>,
    pinned: PinnedCell<i32>,
    /// A task that waits for ever.
    waits: JoinHandle<()>,
    limit: Limit,
    stage: Stage<i32>,
}

/// The workers of the runtime that this thread works for; 0 outside one.
fn whose() -> usize {
    Handle::try_current().map_or(0, |handle| handle.metrics().workers.len())
}

fn target(state: State, to: &Handle) -> Target {
    let _entered = to.enter();
    Target {
        state,
        to: to.clone(),
        cell: to.cell(RED, 1),
        pinned: to.pinned_cell(0, RED, || 1).unwrap(),
        waits: to.spawn_unique(pending()),
        limit: to.limit(RED, 1),
        stage: stage::Builder::new().build(each(|_| ())),
    }
}

/// Records the thread on which a future is dropped.
struct Dropped(Sender<ThreadId>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(thread::current().id());
    }
}

/// Whether the shutdown cancels tasks by now: if so, a spawn cancels its task.
fn cancels_spawns(to: &Handle) -> bool {
    let (sends, dropped) = mpsc::channel();
    let guard = Dropped(sends);
    drop(to.spawn_unique(async move { drop(guard) }));
    dropped.recv().unwrap() == thread::current().id()
}

/// Begins to shut a runtime down, whose last worker is in a poll up to the end of `held`.
fn close(runtime: Runtime, held: mpsc::Receiver<()>) -> thread::JoinHandle<()> {
    let (sends, begun) = mpsc::channel();
    let stuck = move || {
        sends.send(()).unwrap();
        let _ = held.recv();
        async {}
    };
    drop(runtime.handle().spawn_pinned(OTHER - 1, Color::unique(), stuck).unwrap());
    begun.recv().unwrap();
    let handle = runtime.handle().clone();
    let ends = thread::spawn(move || runtime.shutdown_timeout(LONG).unwrap());
    wait_until(|| cancels_spawns(&handle));
    ends
}

/// Runs `body` as a task of a runtime, for a target in each state.
fn in_each_state<F>(body: impl Fn(Target) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    shared(|| {
        for state in [Own, Other, Closing, Gone] {
            let (own, other) = (runtime(OWN), runtime(OTHER));
            let target = target(state, if state == Own { own.handle() } else { other.handle() });
            // The pinned value is made, and the task of the stage has begun.
            other.run(async { yield_now().await });
            target.to.block_on(target.pinned.call(|_| ()));
            let (holds, held) = mpsc::channel();
            let mut ends = None;
            match state {
                Own => drop(other),
                Other => {
                    ends = Some(thread::spawn(move || {
                        let _ = held.recv();
                        drop(other);
                    }))
                }
                Closing => {
                    ends = Some(close(other, held));
                    // All other tasks have ended, and the color is idle.
                    wait_until(|| target.to.metrics().parked == OTHER - 1);
                    wait_until(|| own.block_on(target.cell.checked_call(|_| ())).is_ok());
                }
                Gone => other.shutdown_timeout(LONG).unwrap(),
            }
            own.run(body(target));
            drop(holds);
            if let Some(ends) = ends {
                ends.join().unwrap();
            }
        }
    });
}

/// A task that a handle spawns runs in the handle's runtime, or is cancelled at once.
#[test]
fn spawns() {
    in_each_state(|target| async move {
        let Target { state, to, .. } = &target;
        let workers = if *state == Own { OWN } else { OTHER };
        let tasks = [
            to.spawn(async { whose() }),
            to.spawn_colored(RED, async { whose() }),
            to.spawn_unique(async { whose() }),
            to.spawn_pinned(1, RED, || async { whose() }).unwrap(),
        ];
        for task in tasks {
            match task.await {
                Ok(seen) => assert!(state.lives() && seen == workers, "{state:?}"),
                Err(error) => assert!(!state.lives() && error.is_cancelled(), "{state:?}"),
            }
        }
        // The pool goes on until the tasks are gone.
        match to.spawn_blocking(whose).await {
            Ok(seen) => assert!(*state != Gone && seen == workers, "{state:?}"),
            Err(error) => assert!(*state == Gone && error.is_cancelled(), "{state:?}"),
        }
        assert_eq!(whose(), OWN);
    });
}

/// While the guard lives, the free functions use its runtime.
#[test]
fn free_functions_use_the_runtime_entered_last() {
    in_each_state(|target| async move {
        let Target { state, to, .. } = &target;
        let workers = if *state == Own { OWN } else { OTHER };
        let (tasks, blocking, cell, here) = {
            let _entered = to.enter();
            assert_eq!(whose(), workers);
            let tasks = [spawn(async { whose() }), spawn_unique(async { whose() })];
            let cell = ColorCell::new(Color::new(77), ());
            // `spawn_here` uses the color that runs, which is the caller's.
            (tasks, spawn_blocking(whose), cell, spawn_here(async { whose() }))
        };
        assert_eq!(whose(), OWN);
        for task in tasks {
            assert_eq!(task.await.ok(), state.lives().then_some(workers), "{state:?}");
        }
        assert_eq!(blocking.await.ok(), (*state != Gone).then_some(workers), "{state:?}");
        cell.call(move |()| assert_eq!(whose(), workers)).await;
        assert_eq!(here.await.unwrap(), OWN);
    });
}

/// The value of a cell stays in its runtime: a call that finds the color idle uses it.
#[test]
fn calls_and_reads() {
    in_each_state(|target| async move {
        let Target { state, cell, .. } = &target;
        assert!(cell.try_with(|_| ()).is_err(), "the caller's color is another one");
        assert_eq!(cell.call(|n| *n).await, 1);
        assert_eq!(cell.checked_call(|n| *n).await.unwrap(), 1);
        assert_eq!(cell.read(|n| *n).await, 1);
        cell.post(|n| *n += 1);
        // Behind the post, which a runtime that runs nothing any more has dropped.
        let mut seen = 0;
        for _ in 0..100 {
            seen = cell.checked_call(|n| *n).await.unwrap_or(seen);
            if seen == 2 || !state.lives() {
                break;
            }
            sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(seen == 2, state.lives(), "{state:?}: {seen}");
    });
}

/// A `when` over a cell of each runtime.
/// Shows G1.
#[test]
fn whens() {
    in_each_state(|target| async move {
        let Target { cell, .. } = &target;
        let own = ColorCell::new(Color::new(2), 10);
        for _ in 0..10 {
            assert_eq!(when((&own, cell), |own: &mut i32, n: &mut i32| *own + *n).await, 11);
            let some = checked_when((cell.shared(), &own), |n: &i32, own: &mut i32| *own - *n);
            assert_eq!(some.await.unwrap(), 9);
            let cells = [own.clone(), cell.clone()];
            let all =
                when(colored::shared(&cells), |all: &Several<'_, i32>| all.iter().sum::<i32>());
            assert_eq!(all.await, 11);
        }
        // Also in a section of the caller's.
        exclusive(async {
            assert_eq!(when((cell, &own), |n: &mut i32, own: &mut i32| *own + *n).await, 11);
            assert_eq!(cell.call(|n| *n).await, 1);
        })
        .await;
    });
}

/// Tasks that wait in the lines of a runtime that is shut down get an error, and the cells of their own runtime go on.
#[test]
fn waits_in_a_runtime_that_ends_get_an_error() {
    shared(|| {
        let (own, other) = (runtime(OWN), runtime(OTHER));
        let red = other.handle().cell(RED, 1);
        let (end, ended) = mpsc::channel::<()>();
        let (sends, begun) = mpsc::channel();
        let all_begun = sends.clone();
        red.post(move |_| {
            sends.send(()).unwrap();
            let _ = ended.recv();
        });
        begun.recv().unwrap();
        let waits = own.spawn(async move {
            let blue = ColorCell::new(Color::new(2), 2);
            let mut call = pin!(red.checked_call(|_| ()));
            let mut read = pin!(red.checked_read(|_| ()));
            let mut both = pin!(checked_when((&red, &blue), |_: &mut i32, _: &mut i32| ()));
            let mut turned = pin!(checked_when((&blue, &red), |_: &mut i32, _: &mut i32| ()));
            assert!(waits(call.as_mut()).await && waits(read.as_mut()).await);
            assert!(waits(both.as_mut()).await && waits(turned.as_mut()).await);
            all_begun.send(()).unwrap();
            assert_eq!(call.await, Err(CallError::ShutDown));
            assert_eq!(read.await, Err(CallError::ShutDown));
            // These `when`s have all colors by then, and may run, if the last color belongs to the runtime that lives.
            for when in [both.await, turned.await] {
                assert!(matches!(when, Ok(()) | Err(CallError::ShutDown)), "{when:?}");
            }
            blue.call(|n| *n).await
        });
        begun.recv().unwrap();
        end_while_held(other, move || drop(end));
        assert_eq!(own.run(async { waits.await.unwrap() }), 2);
    });
}

#[test]
fn pinned_values() {
    in_each_state(|target| async move {
        let Target { state, to, pinned, .. } = &target;
        assert_eq!(pinned.checked_call(|n| *n).await.is_ok(), state.lives(), "{state:?}");
        let made = to.pinned_cell(0, RED, || Rc::new(2)).unwrap();
        assert_eq!(made.checked_call(|n| **n).await.ok(), state.lives().then_some(2), "{state:?}");
        assert!(to.pinned_cell(7, RED, || ()).is_err());
    });
}

#[test]
fn joins_and_aborts() {
    in_each_state(|mut target| async move {
        let state = target.state;
        assert_eq!(target.waits.is_finished(), !state.lives(), "{state:?}");
        if state.lives() {
            assert!(timeout(Duration::from_millis(2), &mut target.waits).await.is_err());
        }
        let aborts = target.waits.abort_handle();
        aborts.abort();
        target.waits.abort();
        assert!(target.waits.await.unwrap_err().is_cancelled(), "{state:?}");
        assert!(aborts.is_finished());
        // A join by a task of the other one.
        let own = spawn(async { 5 });
        let joins = target.to.spawn(async move { own.await.unwrap() });
        assert_eq!(joins.await.ok(), state.lives().then_some(5), "{state:?}");
    });
}

/// The permit is taken in any case, and comes back with the task.
#[test]
fn limits() {
    in_each_state(|target| async move {
        let Target { state, limit, .. } = &target;
        for _ in 0..3 {
            let task = limit.spawn(async { 3 }).await.unwrap_or_else(|_| panic!("it is open"));
            assert_eq!(task.await.ok(), state.lives().then_some(3), "{state:?}");
        }
        let permit = limit.reserve().await.unwrap();
        assert!(limit.try_spawn(async {}).is_err(), "{state:?}");
        drop(permit);
        let counted = limit.cell(1);
        let called = counted.call(|n| *n).await;
        assert_eq!(called.ok(), Some(1), "{state:?}");
        assert_eq!(limit.depth(), 0, "{state:?}");
        limit.close();
        assert!(limit.reserve().await.is_err());
    });
}

#[test]
fn stages() {
    in_each_state(|target| async move {
        let Target { state, stage, .. } = &target;
        assert_eq!(stage.send(1).await.is_ok(), state.lives(), "{state:?}");
        assert_eq!(stage.try_send(2).is_ok(), state.lives(), "{state:?}");
        stage.close();
        stage.drained().await;
        assert_eq!(stage.metrics().handled, if state.lives() { 2 } else { 0 }, "{state:?}");
    });
}

/// A timer belongs to the runtime in which it is polled first.
#[test]
fn timers() {
    in_each_state(|target| async move {
        let Target { state, to, .. } = &target;
        // Long enough that a busy machine comes to the polls before it is over.
        let short = Duration::from_millis(300);
        let mut rests = [Box::pin(sleep(short)), Box::pin(sleep(short))];
        let mut ticks = interval(short);
        let limited = timeout(short, pending::<()>());
        let mut limited = pin!(limited);
        let polled = {
            let _entered = to.enter();
            let mut cx = Context::from_waker(Waker::noop());
            catch_unwind(AssertUnwindSafe(|| {
                assert!(rests[0].as_mut().poll(&mut cx).is_pending());
                assert!(limited.as_mut().poll(&mut cx).is_pending());
                // The first may be due, unless the other one's wheel has not been told the time for long.
                let _first = ticks.poll_tick(&mut cx);
            }))
        };
        match polled {
            Ok(()) => assert_ne!(*state, Gone),
            Err(payload) => {
                assert_eq!(*state, Gone);
                assert!(message(&*payload).contains("after its runtime had shut down"));
            }
        }
        // A future that has begun in that runtime goes on in this one, whatever state that runtime is in.
        for rest in rests {
            rest.await;
        }
        assert!(limited.await.is_err());
        ticks.tick().await;
    });
}

/// A timer whose runtime ends while it waits belongs to the runtime that polls it next.
#[test]
fn a_timer_survives_the_runtime_in_which_it_began() {
    shared(|| {
        let (own, other) = (runtime(OWN), runtime(OTHER));
        let mut rest = Box::pin(sleep(Duration::from_millis(300)));
        {
            let _entered = other.enter();
            assert!(rest.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        let task = own.spawn(rest);
        drop(other);
        own.run(async { task.await.unwrap() });
    });
}

/// A socket belongs to the runtime in which it was made.
#[test]
fn sockets() {
    in_each_state(|target| async move {
        let Target { state, to, .. } = &target;
        let std = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        std.set_nonblocking(true).unwrap();
        let address = std.local_addr().unwrap();
        let made = {
            let _entered = to.enter();
            TcpListener::from_std(std)
        };
        let Ok(listener) = made else { return assert_eq!(*state, Gone) };
        assert_ne!(*state, Gone);
        let connects = thread::spawn(move || std::net::TcpStream::connect(address).unwrap());
        let (stream, _) = listener.accept().await.unwrap();
        drop(stream);
        connects.join().unwrap();
    });
}

#[test]
fn a_socket_does_not_survive_its_runtime() {
    shared(|| {
        let (own, other) = (runtime(OWN), runtime(OTHER));
        let listener = other.run(async { TcpListener::bind("127.0.0.1:0").await.unwrap() });
        let (sends, waits) = mpsc::channel();
        let task = own.spawn(async move {
            let mut accepts = pin!(listener.accept());
            poll_fn(|cx| {
                let polled = accepts.as_mut().poll(cx);
                let _ = sends.send(());
                polled
            })
            .await
            .map(|_| ())
        });
        waits.recv().unwrap();
        drop(other);
        assert!(own.run(async { task.await.unwrap() }).is_err());
    });
}

#[test]
fn priorities_and_metrics() {
    in_each_state(|target| async move {
        let Target { state, to, .. } = &target;
        to.set_priority(RED, Priority::High);
        assert_eq!(to.priority(RED) == Priority::High, state.lives(), "{state:?}");
        assert_eq!(Handle::current().priority(RED) == Priority::High, *state == Own);
        to.set_priority(RED, Priority::Normal);
        assert_eq!(to.metrics().workers.len(), if *state == Own { OWN } else { OTHER });
    });
}

/// A task moves among the colors of its own runtime, whichever runtimes its thread has entered.
/// Shows G1.
#[test]
fn a_task_stays_in_its_runtime() {
    in_each_state(|target| async move {
        let task = task::id();
        for round in 0..4 {
            let color = Color::new(50 + round);
            let mut moves = pin!(hop(color));
            let begun = {
                let _entered = target.to.enter();
                moves.as_mut().poll(&mut Context::from_waker(Waker::noop()))
            };
            assert!(begun.is_pending());
            moves.await;
            assert_eq!((Color::current(), whose(), task::id()), (Some(color), OWN, task));
            yield_now().await;
            assert_eq!(whose(), OWN);
        }
        hop(RED).await;
        // The same number is another color in another runtime.
        assert_eq!(target.cell.try_with(|n| *n).ok(), (target.state == Own).then_some(1));
        colored::color_local! {
            static SEEN: std::cell::Cell<u32> = std::cell::Cell::new(0);
        }
        SEEN.with(|seen| seen.set(1));
        let other = target.cell.call(|_| SEEN.with(std::cell::Cell::get)).await;
        assert_eq!(other, u32::from(target.state == Own));
    });
}

/// No thread that has a color waits in `block_on` or `run`; any other one may.
#[test]
fn blocking_for_a_future() {
    in_each_state(|target| async move {
        let Target { state, to, .. } = target;
        let inside = to.clone();
        let said = panic_of(move || inside.block_on(async {}));
        assert!(said.contains("`block_on` inside a task"), "{state:?}: {said}");
        let workers = if state == Own { OWN } else { OTHER };
        let blocks = spawn_blocking(move || {
            assert_eq!(whose(), OWN);
            let seen = catch_unwind(AssertUnwindSafe(|| to.block_on(async { whose() })));
            assert_eq!(whose(), OWN);
            seen
        });
        match blocks.await.unwrap() {
            Ok(seen) => assert!(state.lives() && seen == workers, "{state:?}"),
            Err(payload) => {
                assert!(!state.lives(), "{state:?}");
                assert!(message(&*payload).contains("was shut down while `block_on` waited"));
            }
        }
    });
}

/// The current runtime of a closure for a cell of another runtime does not depend on the thread that runs it.
/// Shows G1.
#[test]
fn a_closure_is_in_the_runtime_of_its_cell_wherever_it_runs() {
    fn look() -> (usize, Option<Color>, JoinHandle<usize>, JoinHandle<usize>, TcpListener) {
        let std = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        std.set_nonblocking(true).unwrap();
        let (task, here) = (spawn(async { whose() }), spawn_here(async { whose() }));
        (whose(), Color::current(), task, here, TcpListener::from_std(std).unwrap())
    }
    shared(|| {
        let (own, other) = (runtime(OWN), runtime(OTHER));
        let red = other.handle().cell(RED, ());
        let mut listeners = Vec::new();
        let mut check = |seen: (usize, _, JoinHandle<usize>, JoinHandle<usize>, TcpListener)| {
            let (workers, color, task, here, listener) = seen;
            assert_eq!((workers, color), (OTHER, Some(Color::new(RED))));
            assert_eq!(own.block_on(task).unwrap(), OTHER);
            assert_eq!(own.block_on(here).unwrap(), OTHER);
            listeners.push(listener);
        };
        // On a thread that has entered no runtime, in `block_on`, on a worker; from a line, and when the runtime ends.
        let mut call = pin!(red.call(|()| look()));
        let mut cx = Context::from_waker(Waker::noop());
        match call.as_mut().poll(&mut cx) {
            Poll::Ready(seen) => check(seen),
            Poll::Pending => panic!("the color is idle"),
        }
        check(own.block_on(red.call(|()| look())));
        check(own.run({
            let red = red.clone();
            async move { red.call(|()| look()).await }
        }));
        check(own.run({
            let red = red.clone();
            async move {
                red.post(|()| block(Duration::from_millis(5)));
                red.call(|()| look()).await
            }
        }));
        check(own.run({
            let red = red.clone();
            async move {
                let blue = ColorCell::new(Color::new(2), ());
                red.post(|()| block(Duration::from_millis(5)));
                blue.post(|()| block(Duration::from_millis(1)));
                when((&red, &blue), |_: &mut (), _: &mut ()| look()).await
            }
        }));
        let (sends, seen) = mpsc::channel();
        struct Looks(Sender<(usize, Option<Color>)>);
        impl Drop for Looks {
            fn drop(&mut self) {
                let _ = self.0.send((whose(), Color::current()));
            }
        }
        let ends = other.handle().cell(RED, Looks(sends));
        own.run(async move { drop(ends) });
        assert_eq!(seen.recv().unwrap(), (OTHER, Some(Color::new(RED))));
        // All these sockets belong to the other runtime.
        drop(other);
        for listener in listeners {
            assert!(own.block_on(listener.accept()).is_err());
        }
    });
}

/// A future or value that cannot leave its thread belongs to the runtime of the thread.
#[test]
fn values_that_stay_on_a_thread_belong_to_its_runtime() {
    shared(|| {
        let (own, other) = (runtime(OWN), runtime(OTHER));
        let red = other.handle().cell(RED, ());
        let to = other.handle().clone();
        let main = async {
            let (seen, pinned) = red
                .call(|()| {
                    let local = spawn_local(async { (whose(), Color::current()) });
                    (local, PinnedCell::here(|| Rc::new(7)))
                })
                .await;
            assert_eq!(seen.await.unwrap(), (OWN, Some(Color::DEFAULT)));
            assert_eq!(pinned.call(|n| **n).await, 7);
            // A wait for it is a wait for its color: this wait would not end.
            let error = exclusive(async { pinned.checked_call(|n| **n).await }).await.unwrap_err();
            assert!(error.to_string().contains("would never end"), "{error}");
            let _entered = to.enter();
            let local = spawn_local(async { (whose(), Color::current()) });
            drop(_entered);
            assert_eq!(local.await.unwrap(), (OWN, Some(Color::DEFAULT)));
        };
        own.block_on(main);
    });
}

/// A transfer is one step for both runtimes, whichever of them starts it.
/// Shows G1.
#[test]
fn transfers_between_runtimes_are_exact() {
    const ACCOUNTS: u64 = 4;
    const TRANSFERS: usize = 300;
    shared(|| {
        let (own, other) = (runtime(OWN), runtime(OTHER));
        let account = |number| {
            let of = if number % 2 == 0 { &own } else { &other };
            of.handle().cell(number, 1000_i64)
        };
        let accounts: Arc<Vec<_>> = Arc::new((0..ACCOUNTS).map(account).collect());
        let clients: Vec<_> = (0..8_usize)
            .map(|client| {
                let accounts = Arc::clone(&accounts);
                let of = if client % 2 == 0 { &own } else { &other };
                of.spawn_unique(async move {
                    for round in 0..TRANSFERS {
                        let from = (client + round) % accounts.len();
                        let to = (from + 1 + round % (accounts.len() - 1)) % accounts.len();
                        let (from, to) = (&accounts[from], &accounts[to]);
                        let transfer = when((from, to), |from: &mut i64, to: &mut i64| {
                            *from -= 1;
                            *to += 1;
                        });
                        if round % 7 == 0 {
                            exclusive(transfer).await
                        } else {
                            transfer.await
                        }
                        if round % 11 == 0 {
                            let all = when(
                                colored::shared(accounts.as_slice()),
                                |all: &Several<'_, i64>| all.iter().sum::<i64>(),
                            );
                            assert_eq!(all.await, 1000 * ACCOUNTS as i64);
                        }
                    }
                })
            })
            .collect();
        own.block_on(async {
            join_all(clients).await;
        });
    });
}

/// The drop does not wait even if the thread holds a color of another runtime: it would wait for itself.
#[test]
fn a_runtime_that_is_dropped_by_a_thread_of_its_own_does_not_wait_for_it() {
    shared(|| {
        for as_guest in [false, true] {
            let (own, other) = (runtime(OWN), runtime(OTHER));
            let red = other.handle().cell(RED, ());
            let (handle, own) = (own.handle().clone(), Arc::new(Mutex::new(Some(own))));
            let gone = Arc::clone(&own);
            let main = async move {
                red.call(move |()| drop(gone.lock().unwrap().take())).await;
            };
            if as_guest {
                let _ = catch_unwind(AssertUnwindSafe(|| handle.block_on(main)));
            } else {
                let mut task = Box::pin(handle.spawn(main)) as Pin<Box<dyn Future<Output = _>>>;
                let _ = other.block_on(&mut task);
            }
            wait_until(|| own.lock().unwrap().is_none());
            assert!(other.block_on(handle.spawn(async {})).unwrap_err().is_cancelled());
        }
    });
}
