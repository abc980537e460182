//! G9: a panic ends its task and nothing else.

use colored::{Color, ColorCell, Handle, spawn_blocking, spawn_colored, spawn_unique, yield_now};
use colored_tests::gate::Gate;
use colored_tests::{
    ON_PURPOSE, alone, block, child, message, panic_of, process, run, runtime, shared, wait_until,
};
use std::panic::{RefUnwindSafe, UnwindSafe, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

const RED: u64 = 1;

/// Panics again when it is dropped.
struct Poison;

impl Drop for Poison {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("{ON_PURPOSE}: the payload");
        }
    }
}

/// A waker that panics.
struct Grumpy(AtomicUsize);

impl Wake for Grumpy {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("{ON_PURPOSE}: the waker");
    }
}

/// Shows G9.
#[test]
fn the_payload_reaches_the_handle() {
    run(2, async {
        let text = spawn_colored(RED, async { panic!("{ON_PURPOSE} {}", 7) }).await.unwrap_err();
        assert!(text.is_panic() && !text.is_cancelled());
        assert_eq!(
            text.to_string(),
            format!("task {} panicked with message \"on purpose 7\"", text.id())
        );
        assert_eq!(message(&*text.into_panic()), "on purpose 7");
        let number = spawn_unique(async { panic_any(42_u8) }).await.unwrap_err();
        assert_eq!(number.into_panic().downcast_ref(), Some(&42_u8));
        let blocking = spawn_blocking(|| panic!("{ON_PURPOSE}")).await.unwrap_err();
        assert_eq!(message(&*blocking.into_panic()), ON_PURPOSE);
    });
}

/// Shows G9.
#[test]
fn run_and_block_on_pass_the_panic_on() {
    shared(|| {
        let runtime = runtime(2);
        assert_eq!(panic_of(|| runtime.run(async { panic!("{ON_PURPOSE}") })), ON_PURPOSE);
        assert_eq!(panic_of(|| runtime.block_on(async { panic!("{ON_PURPOSE}") })), ON_PURPOSE);
        assert_eq!(runtime.block_on(async { 5 }), 5);
    });
}

/// All user code that may panic does so on two workers; then the workers get work.
/// Shows G9.
#[test]
fn the_color_and_the_worker_go_on() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("{ON_PURPOSE}: the destructor");
        }
    }
    shared(|| {
        child::run(module_path!(), "the_color_and_the_worker_go_on", || {
            let runtime = runtime(2);
            // By number: a thread names itself, and may not have done so yet.
            let before = process::threads();
            let cell = runtime.handle().cell(RED, 0);
            let grumpy = Waker::from(Arc::new(Grumpy(AtomicUsize::new(0))));
            for _ in 0..50 {
                let handle = runtime.handle();
                // A poll; its payload; a destructor after completion, abort, panic; an output.
                drop(handle.spawn_colored(RED, async { panic!("{ON_PURPOSE}") }));
                drop(handle.spawn_colored(RED, async { panic_any(Poison) }));
                drop(handle.spawn_colored(RED, async {
                    let _bomb = Bomb;
                    yield_now().await;
                }));
                let aborted = handle.spawn_colored(RED, async {
                    let _bomb = Bomb;
                    std::future::pending::<()>().await;
                });
                drop(handle.spawn_colored(RED, async { Bomb }));
                // A callback, and its payload.
                cell.post(|_| panic!("{ON_PURPOSE}"));
                cell.post(|_| panic_any(Poison));
                // The waker of a task's joiner.
                let mut waited = Box::pin(handle.spawn_colored(RED, yield_now()));
                let gate = Gate::close(handle, RED);
                let mut cx = Context::from_waker(&grumpy);
                let _ = waited.as_mut().poll(&mut cx);
                gate.open();
                runtime.run(async { spawn_colored(RED, async {}).await.unwrap() });
                aborted.abort();
                assert!(runtime.run(aborted).unwrap_err().is_panic(), "its destructor panicked");
                cell.post(|count| *count += 1);
            }
            let end = cell.clone();
            assert_eq!(runtime.run(async move { end.call(|count| *count).await }), 50);
            // A busy machine may have called a spare thread besides.
            let after = process::threads();
            assert!(before.keys().all(|number| after.contains_key(number)), "a thread has ended");
        });
    });
}

/// Shows G9.
#[test]
fn a_call_passes_the_panic_to_its_caller_and_the_cell_goes_on() {
    shared(|| {
        let runtime = runtime(2);
        let cell = runtime.handle().cell(RED, 1);
        // Run at once, and run by the color.
        for busy in [false, true] {
            let gate = busy.then(|| Gate::close(runtime.handle(), RED));
            let caller = cell.clone();
            let call = runtime.handle().spawn_unique(async move {
                caller.call(|_| panic!("{ON_PURPOSE}")).await;
            });
            block(Duration::from_millis(5));
            gate.into_iter().for_each(Gate::open);
            let error = runtime.run(call).unwrap_err();
            assert_eq!(message(&*error.into_panic()), ON_PURPOSE);
            let caller = cell.clone();
            assert_eq!(runtime.run(async move { caller.call(|value| *value).await }), 1);
        }
    });
}

/// Shows G9.
#[test]
fn an_access_that_panics_leaves_the_cell_usable() {
    run(2, async {
        let cell = ColorCell::new(Color::DEFAULT, 3);
        assert_eq!(panic_of(|| cell.with(|_| panic!("{ON_PURPOSE}"))), ON_PURPOSE);
        assert_eq!(cell.with(|value| *value), 3);
    });
}

/// The waker of a timer or a socket may be foreign code, and the reactor thread may call it.
/// Shows G9.
#[test]
fn the_reactor_thread_survives_a_waker_that_panics() {
    alone(|| {
        child::run(
            module_path!(),
            "the_reactor_thread_survives_a_waker_that_panics",
            panic_in_the_reactor_thread,
        );
    });
}

fn panic_in_the_reactor_thread() {
    let runtime = runtime(1);
    let grumpy = Arc::new(Grumpy(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&grumpy));
    let _inside = runtime.enter();
    let mut timers: Vec<_> =
        (0..3).map(|_| Box::pin(colored::time::sleep(Duration::from_millis(30)))).collect();
    for timer in &mut timers {
        assert_eq!(timer.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Pending);
    }
    // The only worker is stuck, so the timers fall to the reactor thread.
    runtime.run(spawn_blocking_poll());
    wait_until(|| grumpy.0.load(Ordering::Relaxed) == 3);
    let alive = || process::threads().values().any(|thread| thread.name == "colored-reactor");
    assert!(alive(), "the reactor thread has ended");
    let (to, from) = std::sync::mpsc::channel();
    drop(runtime.handle().spawn(async move {
        colored::time::sleep(Duration::from_millis(1)).await;
        to.send(()).unwrap();
    }));
    from.recv().unwrap();
}

async fn spawn_blocking_poll() {
    drop(Handle::current());
    block(Duration::from_millis(150));
}

/// At shutdown every timer's waker is called, by the thread that shuts down.
/// Shows G9.
#[test]
fn shutdown_survives_a_waker_that_panics() {
    shared(|| {
        let runtime = runtime(1);
        let grumpy = Waker::from(Arc::new(Grumpy(AtomicUsize::new(0))));
        let inside = runtime.enter();
        let mut timer = Box::pin(colored::time::sleep(Duration::from_secs(3600)));
        assert_eq!(timer.as_mut().poll(&mut Context::from_waker(&grumpy)), Poll::Pending);
        drop(inside);
        runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
    });
}

/// What belongs to a runtime stays whole when a thread panics, so it may be used behind a `catch_unwind`.
/// Shows G9.
#[test]
fn sockets_files_and_timers_may_be_used_after_a_panic() {
    fn holds<T: UnwindSafe + RefUnwindSafe>() {}
    holds::<colored::net::TcpListener>();
    holds::<colored::net::TcpStream>();
    holds::<colored::net::UdpSocket>();
    holds::<colored::fs::File>();
    holds::<colored::Runtime>();
    holds::<Handle>();
}
