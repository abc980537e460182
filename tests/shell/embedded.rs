//! A runtime inside an event loop of the program: its descriptor tells of all that it has to do, and it does nothing
//! by itself.

use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::TcpStream;
use colored::runtime::EmbeddedRuntime;
use colored::time::{Duration, Instant, interval, sleep};
use colored::{Color, ColorCell, Runtime, exclusive, spawn_colored, spawn_here, yield_now};
use colored_tests::drops::{Drops, keep};
use colored_tests::echo;
use colored_tests::{child, panic_of, process, shared};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

/// A wait of this length has missed its wake.
const LONG: Duration = Duration::from_secs(20);
const TURN: Duration = Duration::from_millis(1);

fn embedded() -> EmbeddedRuntime {
    Runtime::builder().build_embedded().unwrap()
}

/// Whether the descriptor is readable within the time: `poll(2)`, and nothing of the runtime.
fn is_readable(runtime: &EmbeddedRuntime, within: Duration) -> bool {
    let end = Instant::now() + within;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let time = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(runtime, PollFlags::IN)], Some(&time)) {
            Ok(ready) => return ready == 1,
            Err(error) => assert_eq!(error, rustix::io::Errno::INTR),
        }
    }
}

/// Turns until nothing is runnable. How long the runtime may rest then.
fn settle(runtime: &mut EmbeddedRuntime) -> Option<Duration> {
    loop {
        let time = runtime.turn(TURN);
        if time != Some(Duration::ZERO) {
            return time;
        }
    }
}

/// The program's event loop: takes a turn when the descriptor is readable, until `done`. The time that a turn returns
/// is not looked at: on Linux the descriptor tells of timers.
#[track_caller]
fn drive(runtime: &mut EmbeddedRuntime, done: impl Fn() -> bool) {
    while !done() {
        assert!(is_readable(runtime, LONG), "a wake-up has been lost");
        runtime.turn(TURN);
    }
}

/// Sockets, timers, cells and several colors, with no thread but this one.
#[test]
fn a_poll_loop_drives_an_echo_server_and_timers() {
    shared(|| {
        child::run(module_path!(), "a_poll_loop_drives_an_echo_server_and_timers", || {
            let before = process::threads().len();
            let mut runtime = embedded();
            let (here, ticks) = (thread::current().id(), Arc::new(AtomicU64::new(0)));
            let listener = runtime
                .block_on(async { colored::net::TcpListener::bind("127.0.0.1:0").await.unwrap() });
            let address = listener.local_addr().unwrap();
            drop(runtime.handle().spawn_unique(async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    drop(spawn_colored(Color::unique(), async move {
                        let (mut reader, mut writer) = stream.split();
                        colored::io::copy(&mut reader, &mut writer).await.unwrap();
                    }));
                }
            }));
            let counts = Arc::clone(&ticks);
            drop(runtime.handle().spawn_colored(1, async move {
                let mut ticker = interval(Duration::from_millis(1));
                loop {
                    ticker.tick().await;
                    counts.fetch_add(1, Ordering::Relaxed);
                }
            }));
            let total = runtime.handle().cell(2, 0_u64);
            let clients: Vec<_> = (0..20_u8)
                .map(|number| {
                    let total = total.clone();
                    runtime.handle().spawn_unique(async move {
                        let mut stream = TcpStream::connect(address).await.unwrap();
                        for round in 0..10 {
                            stream.write_all(&[number]).await.unwrap();
                            let mut answer = [0];
                            stream.read_exact(&mut answer).await.unwrap();
                            assert_eq!((answer[0], thread::current().id()), (number, here));
                            sleep(Duration::from_millis(round % 3)).await;
                        }
                        total.call(move |total| *total += u64::from(number)).await;
                    })
                })
                .collect();
            drive(&mut runtime, || clients.iter().all(colored::JoinHandle::is_finished));
            let sum = runtime.block_on(async move { total.call(|total| *total).await });
            assert_eq!(sum, (0..20).sum());
            let enough = ticks.load(Ordering::Relaxed) + 5;
            drive(&mut runtime, || ticks.load(Ordering::Relaxed) >= enough);
            assert_eq!(process::threads().len(), before, "the runtime has no thread of its own");
        });
    });
}

/// The loop of the program sleeps in `poll(2)`, with no time-out of its own.
#[test]
fn no_spawn_from_another_thread_is_missed() {
    const SPAWNS: u64 = 10_000;
    shared(|| {
        let mut runtime = embedded();
        let (handle, done) = (runtime.handle().clone(), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&done);
        let spawner = thread::spawn(move || {
            let (tell, told) = mpsc::channel();
            for number in 0..SPAWNS {
                let (count, tell) = (Arc::clone(&count), tell.clone());
                drop(handle.spawn_colored(number % 7, async move {
                    yield_now().await;
                    count.fetch_add(1, Ordering::Relaxed);
                    tell.send(()).unwrap();
                }));
                // Most of the time the loop is about to sleep, or asleep, when the next one comes.
                if number % 8 != 0 {
                    told.recv().unwrap();
                }
            }
        });
        drive(&mut runtime, || done.load(Ordering::Relaxed) == SPAWNS);
        spawner.join().unwrap();
    });
}

#[test]
fn the_descriptor_is_readable_while_there_is_something_to_do_and_no_longer() {
    shared(|| {
        let mut runtime = embedded();
        assert!(is_readable(&runtime, LONG), "the first turn");
        let idle = |runtime: &mut EmbeddedRuntime| {
            assert_eq!(settle(runtime), None);
            assert!(!is_readable(runtime, Duration::ZERO));
        };
        idle(&mut runtime);

        let handle = runtime.handle().clone();
        thread::spawn(move || drop(handle.spawn(async {}))).join().unwrap();
        assert!(is_readable(&runtime, LONG), "a spawn from another thread");
        idle(&mut runtime);

        drop(runtime.handle().spawn(async {}));
        assert!(is_readable(&runtime, LONG), "a spawn from this thread");
        idle(&mut runtime);

        drop(runtime.spawn_local(async {}));
        assert!(is_readable(&runtime, LONG), "a local spawn");
        idle(&mut runtime);

        let (wake, woken) = colored::sync::oneshot::channel::<()>();
        let task = runtime.handle().spawn(woken);
        idle(&mut runtime);
        wake.send(()).unwrap();
        assert!(is_readable(&runtime, LONG), "a wake");
        idle(&mut runtime);
        assert!(task.is_finished());

        let call = runtime.handle().spawn_blocking(|| 5);
        let answer = runtime.handle().spawn(async { call.await.unwrap() });
        drive(&mut runtime, || answer.is_finished());

        // Endless work keeps it readable, and a turn ends all the same.
        let busy = runtime.handle().spawn(async {
            loop {
                yield_now().await;
            }
        });
        for _ in 0..5 {
            assert_eq!(runtime.turn(TURN), Some(Duration::ZERO));
            assert!(is_readable(&runtime, Duration::ZERO));
        }
        busy.abort();
        idle(&mut runtime);
    });
}

#[test]
fn the_descriptor_tells_of_timers() {
    const SHORT: Duration = Duration::from_millis(20);
    shared(|| {
        let mut runtime = embedded();
        settle(&mut runtime);
        let long = runtime.handle().spawn_colored(1, sleep_for(LONG * 100));
        let time = settle(&mut runtime).unwrap();
        assert!(time > LONG && time <= LONG * 100, "{time:?}");
        // An earlier one comes later.
        let begin = Instant::now();
        let short = runtime.handle().spawn_colored(2, sleep_for(SHORT));
        let time = settle(&mut runtime).unwrap();
        assert!(time <= SHORT + TURN || short.is_finished(), "{time:?}");
        drive(&mut runtime, || short.is_finished());
        assert!(begin.elapsed() >= SHORT && !long.is_finished());

        // A timer of another thread, which waits in `block_on`.
        let handle = runtime.handle().clone();
        let done = Arc::new(AtomicU64::new(0));
        let tells = Arc::clone(&done);
        let other = thread::spawn(move || {
            handle.block_on(sleep_for(SHORT));
            tells.store(1, Ordering::Release);
            drop(handle.spawn(async {}));
        });
        drive(&mut runtime, || done.load(Ordering::Acquire) == 1);
        other.join().unwrap();
    });
}

async fn sleep_for(time: Duration) {
    sleep(time).await;
}

#[test]
fn dropping_it_drops_its_tasks_under_their_colors() {
    shared(|| {
        let drops = Drops::default();
        for begun in [false, true] {
            let mut runtime = embedded();
            for color in 0..20 {
                let guard = drops.under(color);
                drop(runtime.handle().spawn_colored(color, async move {
                    let _guard = guard;
                    if color % 2 == 0 { pending().await } else { sleep(LONG).await }
                }));
            }
            let guard = (drops.under(Color::DEFAULT), Rc::new(()));
            drop(runtime.spawn_local(keep(guard, pending::<()>())));
            if begun {
                settle(&mut runtime);
            }
            drop(runtime);
        }
        drops.assert_exact(42);
    });
}

#[test]
fn futures_that_are_not_send_run_here_and_share_colors_with_the_rest() {
    shared(|| {
        let mut runtime = embedded();
        let total = Rc::new(Cell::new(0));
        let own = Rc::clone(&total);
        let sum = runtime.block_on(async move {
            let cell = ColorCell::new(Color::DEFAULT, 0);
            let local = colored::spawn_local(async move {
                sleep(TURN).await;
                own.set(own.get() + 1);
            });
            local.await.unwrap();
            cell.call(|cell| *cell + 41).await
        });
        assert_eq!((total.get(), sum), (1, 41));
        let text = panic_of(|| runtime.block_on(async { panic!("on purpose: here") }));
        assert_eq!(text, "on purpose: here");
        assert_eq!(runtime.block_on(async { 5 }), 5, "it goes on");
    });
}

/// Two runtimes in one thread, and one beside them, turn by turn.
#[test]
fn it_works_beside_other_runtimes() {
    shared(|| {
        let (mut first, mut second, threads) = (embedded(), embedded(), colored_tests::runtime(1));
        let address = echo::serve(threads.handle());
        let client = |runtime: &EmbeddedRuntime| {
            runtime.handle().spawn_unique(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(&[9]).await.unwrap();
                stream.read_u8().await.unwrap()
            })
        };
        let clients = [client(&first), client(&second)];
        while !clients.iter().all(colored::JoinHandle::is_finished) {
            first.turn(TURN);
            second.turn(TURN);
        }
        for client in clients {
            assert_eq!(threads.run(client).unwrap(), 9);
        }
    });
}

/// The search for deadlocks needs no thread of its own.
#[test]
fn a_wait_in_a_section_that_cannot_end_becomes_an_error() {
    shared(|| {
        let mut runtime = embedded();
        let task = runtime.handle().spawn_colored(3, async {
            exclusive(async { spawn_here(async {}).await.unwrap_err().is_deadlock() }).await
        });
        drive(&mut runtime, || task.is_finished());
        assert!(runtime.block_on(task).unwrap());
    });
}

#[test]
fn misuse_is_an_error_that_says_what_to_do() {
    shared(|| {
        let error = Runtime::builder().workers(2).build_embedded().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with("workers(2): the only worker"), "{error}");
        assert!(Runtime::builder().workers(1).build_embedded().is_ok());
        let mut runtime = embedded();
        let outer = colored_tests::runtime(1);
        let text = outer.block_on(async { panic_of(|| runtime.turn(TURN)) });
        assert!(text.starts_with("`EmbeddedRuntime::turn` inside a task"), "{text}");
    });
}
