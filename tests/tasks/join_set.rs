//! Sets of tasks.

use colored::sync::oneshot;
use colored::task::JoinSet;
use colored::time::{Duration, sleep, timeout};
use colored::{Color, Runtime, yield_now};
use colored_tests::drops::keep;
use colored_tests::{ON_PURPOSE, panic_of, run, shared};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn outputs_come_in_the_order_in_which_tasks_end() {
    run(2, async {
        let mut set = JoinSet::new();
        let mut gates = Vec::new();
        for number in 0..3 {
            let (open, opened) = oneshot::channel::<()>();
            gates.push(open);
            set.spawn_unique(async move {
                opened.await.unwrap();
                number
            });
        }
        assert_eq!(set.len(), 3);
        assert!(set.try_join_next().is_none());
        // A dropped wait takes nothing.
        assert!(timeout(Duration::from_millis(1), set.join_next()).await.is_err());
        for number in [2, 1, 0] {
            gates.pop().unwrap().send(()).unwrap();
            assert_eq!(set.join_next().await.unwrap().unwrap(), number);
        }
        assert!(set.is_empty() && set.join_next().await.is_none());
    });
}

#[test]
fn each_task_has_the_color_that_its_method_says() {
    run(2, async {
        let mut set = JoinSet::new();
        set.spawn(async { ("default", Color::current()) });
        set.spawn_colored(7, async { ("seven", Color::current()) });
        set.spawn_unique(async { ("unique", Color::current()) });
        set.spawn_blocking(|| ("blocking", Color::current()));
        let mut all = set.join_all().await;
        all.sort_unstable_by_key(|(name, _)| *name);
        let seven = Some(Color::from(7));
        let default = ("default", Some(Color::DEFAULT));
        assert_eq!(all[..3], [("blocking", None), default, ("seven", seven)]);
        assert!(all[3].1.is_some_and(|color| color != Color::DEFAULT && Some(color) != seven));
    });
}

#[test]
fn a_panic_and_an_abort_are_told_and_harm_nobody() {
    run(2, async {
        let mut set = JoinSet::new();
        set.spawn_unique(async { panic!("{ON_PURPOSE}") });
        assert!(set.join_next().await.unwrap().unwrap_err().is_panic());
        let abort = set.spawn_unique(pending());
        set.spawn_unique(async { 7 });
        abort.abort();
        let (one, other) = (set.join_next().await.unwrap(), set.join_next().await.unwrap());
        let (ok, cancelled) = if one.is_ok() { (one, other) } else { (other, one) };
        assert_eq!(ok.unwrap(), 7);
        assert!(cancelled.unwrap_err().is_cancelled());
    });
    shared(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = Counted(Arc::clone(&dropped));
        let said = panic_of(|| {
            runtime.run(async move {
                let mut set = JoinSet::new();
                set.spawn_unique(keep(counted, pending::<()>()));
                set.spawn_unique(async { panic!("{ON_PURPOSE}") });
                set.join_all().await;
            });
        });
        assert_eq!(said, ON_PURPOSE);
        runtime.run(async { yield_now().await });
        drop(runtime);
        assert_eq!(dropped.load(Ordering::SeqCst), 1, "the other task was aborted");
    });
}

/// Dropped, shut down or detached: each future is dropped once, and in time.
#[test]
fn the_end_of_a_set_is_the_end_of_its_tasks() {
    run(2, async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let fill = |set: &mut JoinSet<()>| {
            for i in 0..100_u64 {
                let counted = Counted(Arc::clone(&dropped));
                set.spawn_colored(i % 10, keep(counted, pending::<()>()));
            }
        };
        let mut set = JoinSet::new();
        fill(&mut set);
        set.shutdown().await;
        assert_eq!((set.len(), dropped.load(Ordering::SeqCst)), (0, 100));
        fill(&mut set);
        drop(set);
        while dropped.load(Ordering::SeqCst) < 200 {
            sleep(Duration::from_millis(1)).await;
        }
        // What is detached goes on, and is not taken for a task that comes later.
        let mut set = JoinSet::new();
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..10 {
            let done = Arc::clone(&done);
            set.spawn_unique(async move {
                sleep(Duration::from_millis(5)).await;
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        set.detach_all();
        assert!(set.is_empty());
        set.spawn_unique(sleep(Duration::from_millis(50)));
        set.join_next().await.unwrap().unwrap();
        while done.load(Ordering::SeqCst) < 10 {
            sleep(Duration::from_millis(1)).await;
        }
    });
}

#[test]
fn a_set_of_ten_thousand_loses_nobody() {
    run(2, async {
        let mut set = JoinSet::new();
        for i in 0..10_000_u64 {
            set.spawn_colored(i % 100, async move {
                yield_now().await;
                i
            });
        }
        let mut all = set.join_all().await;
        all.sort_unstable();
        assert!(all.into_iter().eq(0..10_000));
    });
}

/// More outputs than a poll has units of budget.
#[test]
fn all_that_has_ended_is_there_at_once() {
    run(1, async {
        let mut set = JoinSet::new();
        for _ in 0..1_000 {
            set.spawn(async {});
        }
        // They are queued before this task, under its color.
        yield_now().await;
        let mut ended = 0;
        while let Some(output) = set.try_join_next() {
            output.unwrap();
            ended += 1;
        }
        assert_eq!(ended, 1_000);
        assert!(set.is_empty());
    });
}

/// tokio's other methods: ids, other runtimes, futures that are not `Send`, iterators.
#[test]
fn a_set_has_the_methods_of_tokios() {
    let other = Runtime::builder().workers(1).build().unwrap();
    let elsewhere = other.handle().clone();
    run(1, async move {
        let mut set = JoinSet::new();
        let ids = [set.spawn_on(async { 1 }, &elsewhere), set.spawn_blocking_on(|| 2, &elsewhere)];
        let mut ended = [
            set.join_next_with_id().await.unwrap().unwrap(),
            set.join_next_with_id().await.unwrap().unwrap(),
        ];
        ended.sort_unstable_by_key(|(_, output)| *output);
        assert_eq!(ended, [(ids[0].id(), 1), (ids[1].id(), 2)]);

        let failed = set.spawn(async { panic!("{ON_PURPOSE}") }).id();
        assert_eq!(set.join_next_with_id().await.unwrap().unwrap_err().id(), failed);
        assert!(set.try_join_next_with_id().is_none());

        let mut set: JoinSet<u32> = (0..3).map(|number| async move { number }).collect();
        set.extend([async { 3 }]);
        assert_eq!(set.join_all().await, [0, 1, 2, 3], "`spawn` is serial, so the order is known");
    });
    other.block_on(async {
        let mut set = JoinSet::new();
        let shared = std::rc::Rc::new(7);
        set.spawn_local(async move {
            yield_now().await;
            shared
        });
        assert_eq!(*set.join_next().await.unwrap().unwrap(), 7);
    });
}
