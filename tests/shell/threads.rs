//! The threads of a runtime: all have names, and none is left when it has ended.

use colored::runtime::Tuning;
use colored::sync::{Notify, oneshot};
use colored::time::{Duration, Instant};
use colored::{Handle, Runtime, net, spawn_blocking, spawn_unique};
use colored_tests::meet::on_each;
use colored_tests::{ON_PURPOSE, block, child, join_all, process, shared, wait_until};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};

/// The names of all threads that are not in `known`.
fn names(known: &BTreeMap<u32, process::Thread>) -> Vec<String> {
    let new = process::threads().into_iter().filter(|(number, _)| !known.contains_key(number));
    let mut names: Vec<_> = new.map(|(_, thread)| thread.name).collect();
    names.sort();
    names
}

/// A thread of every kind, then the names, then none.
fn life(builder: colored::Builder, expected: &[&str]) {
    let known = process::threads();
    let runtime = builder.workers(3).tuning(Tuning::new().spare_workers(0)).build().unwrap();
    let calls = runtime.run(async {
        let _ = net::lookup_host("localhost:1").await;
        let meeting = Arc::new(Barrier::new(2));
        let call = |meeting: Arc<Barrier>| spawn_blocking(move || meeting.wait().is_leader());
        [call(Arc::clone(&meeting)), call(meeting)]
    });
    runtime.run(join_all(calls));
    // A thread names itself, when it first runs.
    wait_until(|| names(&known) == expected);
    runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
    // It has been joined, and yet the system may list it for a moment.
    wait_until(|| names(&known).is_empty());
}

#[test]
fn every_thread_has_a_name_and_none_is_left_behind() {
    shared(|| {
        child::run(module_path!(), "every_thread_has_a_name_and_none_is_left_behind", || {
            let expected = [
                "colored-blk-0",
                "colored-blk-1",
                "colored-dns-0",
                "colored-reactor",
                "colored-tokio",
                "colored-w0",
                "colored-w1",
                "colored-w2",
            ];
            life(Runtime::builder(), &expected);
            let expected = [
                "api-blk-0",
                "api-blk-1",
                "api-dns-0",
                "api-reactor",
                "api-tokio",
                "api-w0",
                "api-w1",
                "api-w2",
            ];
            life(Runtime::builder().thread_name("api").pin(true), &expected);
        });
    });
}

static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Counts the end of the thread that it belongs to.
struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        // A shutdown that does not wait for the threads would return long before this.
        block(Duration::from_millis(20));
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local!(static LAST: RefCell<Option<Last>> = const { RefCell::new(None) });

fn mark() {
    LAST.with(|last| last.replace(Some(Last)));
}

#[test]
fn shutdown_waits_for_the_very_end_of_every_thread() {
    shared(|| {
        child::run(module_path!(), "shutdown_waits_for_the_very_end_of_every_thread", || {
            let ends: [fn(Runtime); 2] =
                [|runtime| runtime.shutdown_timeout(Duration::from_secs(60)).unwrap(), drop];
            for end in ends {
                let runtime = Runtime::builder()
                    .workers(4)
                    .tuning(Tuning::new().spare_workers(0))
                    .build()
                    .unwrap();
                runtime.run(on_each(runtime.handle(), 4, mark));
                runtime.run(async { spawn_blocking(mark).await.unwrap() });
                let before = ENDED.load(Ordering::Relaxed);
                end(runtime);
                assert_eq!(ENDED.load(Ordering::Relaxed) - before, 5);
            }
        });
    });
}

/// The thread of a spare worker, too.
#[test]
fn shutdown_waits_for_the_very_end_of_a_spare_worker() {
    shared(|| {
        child::run(module_path!(), "shutdown_waits_for_the_very_end_of_a_spare_worker", || {
            let runtime = Runtime::builder().workers(1).build().unwrap();
            runtime.run(async {
                let (begun, begins) = oneshot::channel();
                let (end, ended) = mpsc::channel::<()>();
                let blocks = spawn_unique(async move {
                    mark();
                    begun.send(()).unwrap();
                    ended.recv().unwrap_err();
                });
                begins.await.unwrap();
                // The worker is in the other poll.
                spawn_unique(async { mark() }).await.unwrap();
                drop(end);
                blocks.await.unwrap();
            });
            let spares = runtime.metrics().long_polls.hand_offs;
            let before = ENDED.load(Ordering::Relaxed);
            drop(runtime);
            let ended = ENDED.load(Ordering::Relaxed) - before;
            assert_eq!((spares >= 1, ended), (true, 2));
        });
    });
}

thread_local!(static BEGUN: Cell<bool> = const { Cell::new(false) });

#[test]
fn each_thread_calls_the_hooks_before_and_after_all_that_it_runs() {
    shared(|| {
        let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (count_start, count_stop) = (Arc::clone(&started), Arc::clone(&stopped));
        let builder = Runtime::builder().workers(3).tuning(Tuning::new().spare_workers(0));
        let builder = builder.on_thread_start(move || {
            assert!(Handle::try_current().is_none() && !BEGUN.replace(true));
            count_start.fetch_add(1, Ordering::SeqCst);
        });
        let builder = builder.on_thread_stop(move || {
            assert!(Handle::try_current().is_none() && BEGUN.get());
            // A shutdown that does not wait for the threads would return before this.
            block(Duration::from_millis(20));
            count_stop.fetch_add(1, Ordering::SeqCst);
        });
        let runtime = builder.build().unwrap();
        assert_eq!(runtime.run(on_each(runtime.handle(), 3, || BEGUN.get())), [true; 3]);
        assert!(runtime.run(async { spawn_blocking(|| BEGUN.get()).await.unwrap() }));
        // The reactor thread may be late.
        wait_until(|| started.load(Ordering::SeqCst) == 5);
        assert_eq!(stopped.load(Ordering::SeqCst), 0);
        drop(runtime);
        assert_eq!((started.load(Ordering::SeqCst), stopped.load(Ordering::SeqCst)), (5, 5));
    });
}

/// Each worker, and no other thread, calls one hook before a sleep and the other one behind it.
#[test]
fn the_hooks_of_a_sleep_come_in_turn() {
    thread_local!(static SLEEPS: Cell<bool> = const { Cell::new(false) });
    shared(|| {
        let (parks, unparks) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        // A panic of a hook would go no further.
        let faults = Arc::new(AtomicUsize::new(0));
        let count = |calls: &Arc<AtomicUsize>, is_first: bool| {
            let (calls, faults) = (Arc::clone(calls), Arc::clone(&faults));
            move || {
                calls.fetch_add(1, Ordering::SeqCst);
                let is_right = SLEEPS.replace(is_first) != is_first;
                faults.fetch_add(usize::from(!is_right), Ordering::SeqCst);
            }
        };
        let runtime = Runtime::builder()
            .workers(3)
            .tuning(Tuning::new().spare_workers(0))
            .on_thread_park(count(&parks, true))
            .on_thread_unpark(count(&unparks, false))
            .build()
            .unwrap();
        assert!(!runtime.run(async { spawn_blocking(|| SLEEPS.get()).await.unwrap() }));
        wait_until(|| parks.load(Ordering::SeqCst) >= 3);
        drop(runtime);
        assert_eq!(parks.load(Ordering::SeqCst), unparks.load(Ordering::SeqCst));
        assert_eq!(faults.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_panic_of_a_hook_stops_nothing() {
    shared(|| {
        let builder = Runtime::builder().workers(2);
        let builder = builder.on_thread_start(|| panic!("{ON_PURPOSE}: at the start"));
        let builder = builder.on_thread_stop(|| panic!("{ON_PURPOSE}: at the end"));
        let builder = builder.on_thread_park(|| panic!("{ON_PURPOSE}: before a sleep"));
        let builder = builder.on_thread_unpark(|| panic!("{ON_PURPOSE}: after a sleep"));
        let runtime = builder.build().unwrap();
        assert_eq!(runtime.run(async { spawn_blocking(|| 5).await.unwrap() }), 5);
        runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
    });
}

/// What the hook gives the runtime to do is not slept through.
#[test]
fn a_hook_before_a_sleep_may_spawn_and_wake() {
    shared(|| {
        for wakes_only in [false, true] {
            let signal = Arc::new(Notify::new());
            let (given, once) = (Arc::clone(&signal), AtomicUsize::new(0));
            let builder = Runtime::builder().workers(1).tuning(Tuning::new().spare_workers(0));
            let builder =
                builder.on_thread_park(move || match once.fetch_add(1, Ordering::SeqCst) {
                    0 if wakes_only => given.notify_one(),
                    0 => {
                        let given = Arc::clone(&given);
                        let _detached = spawn_unique(async move { given.notify_one() });
                    }
                    _ => {}
                });
            let runtime = builder.build().unwrap();
            runtime.run(async move { signal.notified().await });
        }
    });
}

#[test]
fn stacks_are_as_large_as_was_said() {
    /// More than a thread has by default.
    #[inline(never)]
    fn deep() -> u64 {
        let mut large = [0_u8; 6 << 20];
        std::hint::black_box(&mut large).iter().map(|byte| u64::from(*byte)).sum()
    }
    shared(|| {
        let runtime = Runtime::builder().workers(2).thread_stack_size(16 << 20).build().unwrap();
        runtime.run(async {
            assert_eq!(deep(), 0);
            assert_eq!(spawn_blocking(deep).await.unwrap(), 0);
        });
        let runtime = Runtime::builder().workers(2).thread_stack_size(1 << 16).build().unwrap();
        let sum = runtime.run(async {
            let task = spawn_unique(async { spawn_blocking(|| 1).await.unwrap() });
            let listener = net::TcpListener::bind("localhost:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            let client = net::TcpStream::connect(addr).await.unwrap();
            assert_eq!(listener.accept().await.unwrap().1, client.local_addr().unwrap());
            task.await.unwrap()
        });
        assert_eq!(sum, 1);
    });
}

#[test]
fn a_blocking_thread_waits_for_as_long_as_was_said() {
    shared(|| {
        child::run(module_path!(), "a_blocking_thread_waits_for_as_long_as_was_said", || {
            let known = process::threads();
            let is_there = || names(&known).iter().any(|name| name.contains("-blk-"));
            let wait = Duration::from_millis(50);
            let runtime = Runtime::builder().workers(1).thread_keep_alive(wait).build().unwrap();
            let begin = Instant::now();
            runtime.run(async { spawn_blocking(|| ()).await.unwrap() });
            wait_until(|| !is_there());
            assert!(begin.elapsed() >= wait);
            drop(runtime);
            let runtime = Runtime::builder().workers(1).thread_keep_alive(Duration::MAX);
            let runtime = runtime.build().unwrap();
            runtime.run(async { spawn_blocking(|| ()).await.unwrap() });
            block(wait * 2);
            assert!(is_there());
            drop(runtime);
            // It has been joined, and yet the system may list it for a moment.
            wait_until(|| !is_there());
        });
    });
}
