//! The cases: a value that a thread prepares, and its use by a destructor when the thread ends.

use colored::io::AsyncReadExt;
use colored::net::{TcpListener, TcpStream};
use colored::stage::{Builder, each};
use colored::sync::{Mutex, oneshot};
use colored::time::{Duration, interval, sleep, timeout};
use colored::{
    Color, ColorCell, Handle, Limit, PinnedCell, Runtime, exclusive, spawn_blocking, spawn_colored,
    spawn_local, spawn_unique, yield_now,
};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The destructor; its argument says whether the runtime is still running.
pub(crate) type End = Box<dyn FnOnce(bool)>;

/// Prepares, in a task on the thread that is to end.
pub(crate) type Case = fn(Handle) -> Pin<Box<dyn Future<Output = End>>>;

const RED: Color = Color::new(1);
const LONG: Duration = Duration::from_secs(60);

macro_rules! cases {
    ($($name:ident: $case:expr;)*) => {
        &[$((stringify!($name), |handle| Box::pin($case(handle)))),*]
    };
}

pub(crate) const CASES: &[(&str, Case)] = cases! {
    nothing: async |_| nothing();
    runtime_dropped: async |_| on_runtime(drop);
    runtime_ended_in_time: async |_| on_runtime(|runtime| runtime.shutdown_timeout(LONG).unwrap());
    runtime_ended_in_the_background: async |_| on_runtime(Runtime::shutdown_background);
    runtime_used: async |_| on_runtime(use_and_drop);
    runtime_built: async |_| end(|_| use_and_drop(runtime()));
    handle_entered: async |handle| end(|_| enter_all(handle));
    handle_used: async |handle| end(move |is_running| use_all(&handle, is_running));
    guard: async |handle: Handle| keep(handle.enter());
    guards_in_order_of_their_making: guards;
    guard_and_what_it_is_for: async |handle: Handle| keep((polled(sleep(LONG)).await, handle.enter()));
    sleeping: async |_| keep(polled(sleep(LONG)).await);
    sleeping_and_reset: reset;
    sleeping_of_two_runtimes: async |_| on_runtime(sleep_in);
    sleep_polled_outside: async |_| end(|_| expect_panic("in no `colored` runtime", || poll(pin!(sleep(LONG)))));
    ticking: ticking;
    timed_out: async |_| keep(polled(Box::pin(timeout(LONG, pending::<()>()))).await);
    tcp_waiting: tcp_waiting;
    tcp_halves: async |_| keep(tcp().await.1.into_split());
    tcp_limit_outside: async |_| end(|_| bind_outside());
    unix: unix;
    task_detached: async |_| keep(spawn_unique(pending::<()>()));
    task_aborted: abort;
    task_with_output: with_output;
    task_woken: wake;
    task_woken_by_a_channel: by_a_channel;
    task_of_the_thread: async |_| keep(spawn_local(pending::<()>()));
    task_joined: async |handle: Handle| {
        let task = handle.spawn_unique(async { 7 });
        end(move |is_running| expect_from_block_on(&handle, is_running, async { task.await.unwrap() }, 7))
    };
    task_spawned_outside: async |_| {
        end(|_| expect_panic("`spawn_unique` outside a runtime", || drop(spawn_unique(async {}))))
    };
    blocking_call: async |_| keep(spawn_blocking(|| 7));
    blocking_call_made: async |handle: Handle| {
        end(move |is_running| {
            let call = handle.spawn_blocking(|| 7);
            expect_from_block_on(&handle, is_running, async { call.await.unwrap() }, 7);
        })
    };
    cell: async |_| keep(ColorCell::new(RED, String::from("red")));
    cell_used: cell;
    cell_called: call;
    cell_pinned: async |_| {
        let cell = PinnedCell::here(|| 7);
        end(move |_| cell.post(|n| *n += 1))
    };
    section: async |_| {
        let section = polled(Box::pin(exclusive(pending::<()>()))).await;
        keep(section)
    };
    place_in_a_limit: async |_| {
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        let waits = polled(Box::pin({
            let limit = limit.clone();
            async move { drop(limit.reserve().await) }
        }));
        keep((waits.await, permit, limit))
    };
    stage: async |_| {
        let stage = Builder::new().build(each(|_: u32| ()));
        end(move |_| {
            let _ = stage.try_send(1);
            stage.close();
        })
    };
    lock: async |_| {
        let lock = Arc::new(Mutex::new(()));
        let held = Arc::clone(&lock).lock_owned().await;
        drop(spawn_unique(async move { drop(lock.lock().await) }));
        yield_now().await;
        keep(held)
    };
    task_local: async |_| keep(polled(Box::pin(NUMBER.scope(7, Asks(sleep(LONG))))).await);
};

fn end(f: impl FnOnce(bool) + 'static) -> End {
    Box::new(f)
}

/// Drops it.
fn keep(value: impl Sized + 'static) -> End {
    end(move |_| drop(value))
}

fn nothing() -> End {
    end(|_| {
        assert!(Handle::try_current().is_none());
        assert_eq!(Color::current(), None);
        expect_panic("`Handle::current` outside a runtime", Handle::current);
        assert!(!sleep(LONG).is_elapsed());
    })
}

fn runtime() -> Runtime {
    Runtime::builder().workers(1).build().unwrap()
}

/// With a runtime of the thread's own, which has work to do.
fn on_runtime(f: impl FnOnce(Runtime) + 'static) -> End {
    let runtime = runtime();
    drop(runtime.spawn_unique(async { sleep(LONG).await }));
    drop(runtime.spawn_blocking(|| ()));
    end(move |_| f(runtime))
}

fn use_and_drop(runtime: Runtime) {
    use_all(runtime.handle(), true);
    assert_eq!(runtime.run(async { spawn_unique(async { 7 }).await.unwrap() }), 7);
    drop(runtime.enter());
}

fn enter_all(handle: Handle) {
    let other = runtime();
    let [first, second] = [handle.enter(), other.enter()];
    assert_eq!(Handle::current().metrics().workers.len(), 1);
    drop(spawn_unique(async {}));
    drop(first);
    drop(other);
    assert!(Handle::try_current().is_some(), "the guard of the other is left");
    drop(second);
    assert!(Handle::try_current().is_none());
}

fn use_all(handle: &Handle, is_running: bool) {
    let io = async {
        sleep(Duration::from_millis(1)).await;
        let (mut accepted, connected) = tcp().await;
        drop(connected);
        assert_eq!(accepted.read(&mut [0]).await.unwrap(), 0);
        spawn_local(async { 7 }).await.unwrap()
    };
    expect_from_block_on(handle, is_running, io, 7);
}

/// Blocks on a future that gives `expected`, or gets the error that the runtime has ended.
fn expect_from_block_on(
    handle: &Handle,
    is_running: bool,
    f: impl Future<Output = u32>,
    expected: u32,
) {
    if is_running {
        assert_eq!(handle.block_on(f), expected);
    } else {
        expect_panic("the runtime was shut down", || handle.block_on(f));
    }
}

/// Runs `f`, which must panic and say that.
fn expect_panic<R>(text: &str, f: impl FnOnce() -> R) {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("it was to panic");
    let said = payload.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
    assert!(said.contains(text), "{said}");
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls the future once, in the task that prepares: it waits.
async fn polled<F: Future + Unpin>(mut future: F) -> F {
    poll_fn(|cx| {
        assert!(Pin::new(&mut future).poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
    future
}

async fn guards(handle: Handle) -> End {
    let guards = [handle.enter(), handle.enter(), handle.enter()];
    end(|_| {
        for guard in guards {
            assert!(Handle::try_current().is_some());
            drop(guard);
        }
        assert!(Handle::try_current().is_none());
    })
}

async fn reset(_: Handle) -> End {
    let mut sleeping = polled(sleep(LONG)).await;
    end(move |_| {
        Pin::new(&mut sleeping).reset(colored::time::Instant::now() + LONG);
        assert!(!sleeping.is_elapsed());
    })
}

/// Each sleep is dropped inside the other runtime.
fn sleep_in(runtime: Runtime) {
    let mut own = sleep(LONG);
    {
        let _inside = runtime.enter();
        assert!(poll(Pin::new(&mut own)).is_pending());
    }
    drop(runtime);
    drop(own);
}

async fn ticking(_: Handle) -> End {
    let mut ticks = interval(LONG);
    ticks.tick().await;
    poll_fn(|cx| {
        assert!(ticks.poll_tick(cx).is_pending());
        Poll::Ready(())
    })
    .await;
    keep(ticks)
}

async fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connected = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (listener.accept().await.unwrap().0, connected)
}

async fn tcp_waiting(_: Handle) -> End {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let accepting = polled(Box::pin(async move { drop(listener.accept().await) })).await;
    let (mut accepted, connected) = tcp().await;
    let reading = polled(Box::pin(async move { drop(accepted.read(&mut [0]).await) })).await;
    keep((accepting, reading, connected))
}

fn bind_outside() {
    let mut bind = Box::pin(TcpListener::bind("127.0.0.1:0"));
    expect_panic("in no `colored` runtime", || poll(bind.as_mut()));
}

#[cfg(unix)]
async fn unix(_: Handle) -> End {
    let (mut one, other) = colored::net::UnixStream::pair().unwrap();
    let reading = polled(Box::pin(async move { drop(one.read(&mut [0]).await) })).await;
    keep((reading, other))
}

#[cfg(not(unix))]
async fn unix(_: Handle) -> End {
    nothing()
}

async fn abort(_: Handle) -> End {
    let task = spawn_unique(pending::<()>());
    let aborts = task.abort_handle();
    end(move |_| {
        aborts.abort();
        drop(task);
    })
}

async fn with_output(_: Handle) -> End {
    let task = spawn_unique(async { Some(Asks(sleep(LONG))) });
    while !task.is_finished() {
        yield_now().await;
    }
    keep(task)
}

/// Asks for the current runtime and color when it is dropped.
struct Asks<T>(T);

impl<T> Drop for Asks<T> {
    fn drop(&mut self) {
        let _ = (Handle::try_current(), Color::current(), NUMBER.try_with(|number| *number));
    }
}

impl<F: Future + Unpin> Future for Asks<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

colored::task_local! {
    static NUMBER: u32;
}

async fn wake(_: Handle) -> End {
    let (tell, told) = oneshot::channel::<Waker>();
    let mut tell = Some(tell);
    drop(spawn_unique(poll_fn(move |cx| {
        if let Some(tell) = tell.take() {
            tell.send(cx.waker().clone()).unwrap();
            return Poll::Pending;
        }
        Poll::Ready(())
    })));
    let waker = told.await.unwrap();
    end(move |_| {
        waker.wake_by_ref();
        drop(waker.clone());
        waker.wake();
    })
}

async fn by_a_channel(_: Handle) -> End {
    let (tell, told) = oneshot::channel::<()>();
    drop(spawn_unique(async move { told.await.unwrap_err() }));
    yield_now().await;
    keep(tell)
}

async fn cell(handle: Handle) -> End {
    let cell = ColorCell::new(RED, 6);
    end(move |is_running| {
        cell.post(|n| *n += 1);
        expect_from_block_on(&handle, is_running, async { cell.call(|n| *n).await }, 7);
    })
}

/// Another task holds the cell's color.
async fn call(_: Handle) -> End {
    let (tell, told) = oneshot::channel();
    drop(spawn_colored(
        RED,
        exclusive(async {
            tell.send(()).unwrap();
            pending::<()>().await;
        }),
    ));
    told.await.unwrap();
    let cell = ColorCell::new(RED, 0);
    keep(polled(Box::pin(async move { cell.call(|n| *n += 1).await })).await)
}
