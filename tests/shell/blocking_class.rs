//! Classes of blocking calls: bounds, queues and order of their own.

use colored::metrics::BlockingMetrics;
use colored::task::BlockingClass;
use colored::time::Duration;
use colored::{Handle, spawn_blocking};
use colored_tests::{Trace, join_all, message, run, runtime, shared, wait_until};
use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

#[test]
fn a_class_has_its_bound_and_delays_no_other() {
    run(2, async {
        let small = BlockingClass::new("small", 2).unwrap();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (open, opened) = mpsc::channel::<()>();
        let opened = Arc::new(std::sync::Mutex::new(opened));
        let calls: Vec<_> = (0..20)
            .map(|_| {
                let (running, most) = (running.clone(), most.clone());
                let opened = opened.clone();
                small.spawn(move || {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let _closed = opened.lock().unwrap().recv();
                    running.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        wait_until(|| running.load(Ordering::SeqCst) == 2);
        let BlockingMetrics { threads, idle, queued, .. } = small.metrics();
        assert_eq!((threads, idle, queued), (2, 0, 18));
        // The class is stuck; others are not.
        spawn_blocking(|| ()).await.unwrap();
        BlockingClass::new("other", 1).unwrap().spawn(|| ()).await.unwrap();
        let path = std::env::current_exe().unwrap();
        colored::fs::metadata(path).await.unwrap();
        drop(open);
        join_all(calls).await;
        assert_eq!(most.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn calls_for_one_color_run_in_order_and_one_at_a_time() {
    run(2, async {
        let class = BlockingClass::new("order", 8).unwrap();
        let traces: [Trace<usize>; 4] = std::array::from_fn(|_| Trace::new());
        let busy: Arc<[AtomicUsize; 4]> = Arc::default();
        join_all((0..400).map(|n| {
            let (trace, busy) = (traces[n % 4].clone(), busy.clone());
            class.spawn_ordered(n as u64 % 4, move || {
                assert_eq!(busy[n % 4].fetch_add(1, Ordering::SeqCst), 0, "two at a time");
                trace.push(n);
                if n % 7 == 0 {
                    thread::yield_now();
                }
                busy[n % 4].fetch_sub(1, Ordering::SeqCst);
            })
        }))
        .await;
        for (color, trace) in traces.iter().enumerate() {
            assert_eq!(trace.take(), (color..400).step_by(4).collect::<Vec<_>>());
        }
    });
}

#[test]
fn a_panic_and_an_abort_let_the_next_call_of_the_color_follow() {
    run(1, async {
        let class = BlockingClass::new("faults", 1).unwrap();
        let (open, opened) = mpsc::channel::<()>();
        let first = class.spawn_ordered(7, move || opened.recv().is_err());
        let aborted = class.spawn_ordered(7, || unreachable!("it has not begun"));
        let panicking = class.spawn_ordered(7, || -> () { panic!("on purpose") });
        let last = class.spawn_ordered(7, || thread::current().name().map(str::to_owned));
        aborted.abort();
        drop(open);
        first.await.unwrap();
        assert!(aborted.await.unwrap_err().is_cancelled());
        let panic = panicking.await.unwrap_err().into_panic();
        assert_eq!(message(&*panic), "on purpose");
        assert_eq!(last.await.unwrap().unwrap(), "colore-faults-0");
    });
}

#[test]
fn the_end_of_the_runtime_cancels_calls_that_have_not_begun() {
    shared(|| {
        let runtime = runtime(1);
        let (begun, begins) = mpsc::channel();
        let (open, opened) = mpsc::channel::<()>();
        let (class, calls) = runtime.run(async move {
            let class = BlockingClass::new("end", 1).unwrap();
            let first = class.spawn_ordered(7, move || {
                begun.send(()).unwrap();
                opened.recv().unwrap();
            });
            let others: Vec<_> = (0..100_000).map(|_| class.spawn_ordered(7, || ())).collect();
            (class, (first, others))
        });
        begins.recv().unwrap();
        let ending = thread::spawn(move || runtime.shutdown_timeout(Duration::from_secs(60)));
        // The class takes no more calls: it has ended, and its thread is in the first one.
        wait_until(|| class.spawn(|| ()).try_take().is_some_and(|ended| ended.is_err()));
        open.send(()).unwrap();
        ending.join().unwrap().unwrap();
        let (mut first, others) = calls;
        first.try_take().expect("it was waited for").unwrap();
        for mut call in others {
            assert!(call.try_take().expect("it has ended").unwrap_err().is_cancelled());
        }
        let mut late = class.spawn(|| ());
        assert!(late.try_take().expect("the class has ended").unwrap_err().is_cancelled());
        let mut late = class.spawn_ordered(7, || ());
        assert!(late.try_take().expect("the class has ended").unwrap_err().is_cancelled());
    });
}

#[test]
fn calls_run_also_if_their_class_is_dropped() {
    run(1, async {
        let class = BlockingClass::new("gone", 1).unwrap();
        let calls: Vec<_> = (0..10).map(|n| class.spawn_ordered(n % 2, move || n)).collect();
        drop(class);
        let mut sum = 0;
        for call in calls {
            sum += call.await.unwrap();
        }
        assert_eq!(sum, 45);
    });
}

#[test]
fn a_wrong_class_is_an_error_that_says_what_is_allowed() {
    run(1, async {
        for (name, threads, said) in [
            ("", 1, "allowed are 1 to 8 bytes"),
            ("much too long", 1, "\"much too long\": allowed are 1 to 8 bytes"),
            ("a\0b", 1, "none of them NUL"),
            ("none", 0, "\"none\" with 0 threads: allowed are 1 to 65536"),
            ("many", 65_537, "with 65537 threads: allowed are 1 to 65536"),
        ] {
            let error = BlockingClass::new(name, threads).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains(said), "{error}");
        }
        assert_eq!(Handle::current().metrics().blocking.queued, 0);
    });
}
