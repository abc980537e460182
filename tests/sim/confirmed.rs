//! A search runs on stacks of one thread, where locks of std and thread-locals of the program are not as on threads: what it
//! reports is a failure on threads all the same.

use super::{failure, passes};
use colored::sim::{Builder, Strategy};
use colored::sync::mpsc;
use colored::time::{Duration, sleep};
use colored::{
    ColorCell, spawn_blocking, spawn_colored, spawn_unique, task_local, when, yield_now,
};
use colored_tests::join_all;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// Tasks of three colors, each of which runs `turn` in turns of its own.
async fn three<F>(turn: impl Fn(u64, ColorCell<u32>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let log = ColorCell::new(9, 0);
    join_all([1, 2, 3].map(|color: u64| spawn_colored(color, turn(color, log.clone())))).await;
}

/// Two tasks read a number, and write it, in two locks.
async fn lost_update(is_wrong: bool) {
    let shared = Arc::new(Mutex::new(0));
    let number = shared.clone();
    three(move |_, log| {
        let shared = shared.clone();
        async move {
            let before = {
                let mut number = shared.lock().unwrap();
                // A turn that waits here has the lock.
                log.post(|log| *log += 1);
                *number += u32::from(!is_wrong);
                *number
            };
            if is_wrong {
                yield_now().await;
                *shared.lock().unwrap() = before + 1;
            }
        }
    })
    .await;
    assert!(*number.lock().unwrap() == 3, "an update is lost");
}

#[test]
fn a_defect_behind_a_lock_that_is_held_over_a_post_is_found() {
    assert!(failure(|| lost_update(true)).message().contains("an update is lost"));
    let report = passes(|| lost_update(false));
    assert!((1..=8).contains(&report.stuck()), "{report}");
    assert_eq!(report.unconfirmed(), 0, "{report}");
}

thread_local! {
    static COLOR: Cell<u64> = const { Cell::new(0) };
    static COUNT: RefCell<u32> = const { RefCell::new(0) };
}

/// Each turn trusts its thread, which is right; and another turn to come behind it, which is wrong.
async fn thread_locals(is_wrong: bool) {
    let last = Arc::new(AtomicU32::new(0));
    three(move |color, log| {
        let last = last.clone();
        async move {
            for _ in 0..3 {
                COLOR.set(color);
                COUNT.with_borrow_mut(|count| {
                    *count += 1;
                    log.post(|log| *log += 1);
                });
                assert!(COLOR.get() == color, "another turn ran on this thread");
                yield_now().await;
            }
            let before = last.swap(color as u32, SeqCst);
            assert!(!is_wrong || before < color as u32, "out of order");
        }
    })
    .await;
}

#[test]
fn a_thread_local_that_is_kept_over_a_post_gives_no_alarm() {
    let report = passes(|| thread_locals(false));
    assert!((1..=8).contains(&report.unconfirmed()), "{report}");
    assert_eq!(report.stuck(), 0, "{report}");
    let text = report.to_string();
    let last = text.lines().last().unwrap();
    let count = report.unconfirmed();
    assert_eq!(last, format!("failed on one thread, and not on threads, so dropped: {count}"));
    assert!(failure(|| thread_locals(true)).message().contains("out of order"));
}

/// A turn goes another way on one thread than on threads, and neither is wrong.
async fn detours() {
    three(|color, log| async move {
        for _ in 0..3 {
            COLOR.set(color);
            log.post(|log| *log += 1);
            if COLOR.get() != color {
                yield_now().await;
            }
            yield_now().await;
        }
    })
    .await;
}

/// Each 64th run is made twice: in the same way.
#[test]
fn a_run_that_goes_another_way_on_threads_gives_no_alarm() {
    let builder = Builder::new().seeds(0..200).strategy(Strategy::Pos);
    let (on_one, on_threads) = (builder.clone().run(detours), builder.on_threads().run(detours));
    on_one.assert_passed();
    on_threads.assert_passed();
    assert_ne!(on_one.digest(), on_threads.digest());
    assert_eq!(on_one.unconfirmed(), 0, "{on_one}");
}

#[test]
fn on_threads_nothing_is_dropped() {
    let program = || thread_locals(false);
    let report = Builder::new().seeds(0..100).on_threads().run(program);
    report.assert_passed();
    assert_eq!((report.unconfirmed(), report.stuck()), (0, 0), "{report}");
}

/// The thread that is given up holds it.
static LOCK: Mutex<()> = Mutex::new(());

async fn static_lock() {
    three(|_, log| async move {
        let _held = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        log.post(|log| *log += 1);
    })
    .await;
}

#[test]
#[should_panic(expected = "simulate this program by `Builder::on_threads`")]
fn a_lock_in_a_static_ends_the_search_with_a_remedy() {
    let _report = Builder::new().strategy(Strategy::Pct { depth: 2 }).run(static_lock);
}

task_local! {
    static NUMBER: u64;
}

/// What belongs to a turn, or to a worker: all of it goes with the stack.
async fn everything() {
    let cells: Vec<_> = (1..4_u64).map(|color| ColorCell::new(color, color)).collect();
    let (sender, mut receiver) = mpsc::channel(2);
    let tasks: Vec<_> = (0..6_u64)
        .map(|number| {
            let (cells, sender) = (cells.clone(), sender.clone());
            spawn_unique(NUMBER.scope(number, async move {
                let [one, two] = [number, number + 1].map(|at| cells[at as usize % 3].clone());
                one.post(|one| *one += 1);
                assert_eq!(NUMBER.get(), number);
                when((&one, &two), std::mem::swap).await;
                NUMBER.sync_scope(7, || two.post(|two| *two += NUMBER.try_get().unwrap_or(1)));
                NUMBER.with(|number| {
                    two.post({
                        let number = *number;
                        move |two| *two += number
                    })
                });
                assert_eq!(NUMBER.get(), number);
                sender.send(number).await.unwrap();
                colored::time::timeout(Duration::from_millis(number), sleep(Duration::MAX))
                    .await
                    .unwrap_err();
                spawn_blocking(move || two.post(|two| *two += 1)).await.unwrap();
            }))
        })
        .collect();
    drop(sender);
    while receiver.recv().await.is_some() {}
    join_all(tasks).await;
}

/// A destructor acts while its stack unwinds.
async fn panics() {
    struct Posts(ColorCell<u32>);
    impl Drop for Posts {
        fn drop(&mut self) {
            self.0.post(|log| *log += 1);
        }
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let sees = is_over.clone();
    let log = ColorCell::new(9, 0);
    let tasks = [1, 2, 3].map(|color: u64| {
        let (log, sees) = (log.clone(), sees.clone());
        spawn_colored(color, async move {
            let _posts = Posts(log.clone());
            log.post(|log| *log += 1);
            yield_now().await;
            assert!(sees.load(SeqCst), "of a task");
        })
    });
    for task in tasks {
        assert!(task.await.unwrap_err().is_panic());
    }
    is_over.store(true, SeqCst);
    assert_eq!(log.call(|log| *log).await, 6);
}

/// The same seeds make the same runs on stacks and on threads.
#[test]
fn runs_on_stacks_are_those_on_threads() {
    fn compare<F>(program: fn() -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        for strategy in [Strategy::Portfolio, Strategy::Pos] {
            let builder = Builder::new().seeds(super::silent(800)).strategy(strategy);
            let on_threads = builder.clone().on_threads().run(program);
            let on_stacks = builder.run(program);
            on_stacks.assert_passed();
            assert_eq!(on_stacks.unconfirmed(), 0, "{on_stacks}");
            assert_eq!(on_stacks.digest(), on_threads.digest(), "{strategy:?}: {on_stacks}");
        }
    }
    compare(everything);
    compare(panics);
}
