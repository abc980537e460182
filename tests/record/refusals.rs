//! A program that is not the recorded one, or does what no record covers: the replay ends and says where.

use super::Record;
use colored::time::{Duration, Instant, sleep};
use colored::{
    Color, ColorCell, Limit, Runtime, color_local, exclusive, net, spawn_blocking, spawn_colored,
    sync, when,
};
use std::sync::Arc;

color_local!(static LOCAL: u32 = 3);

/// The color 7 calls, and then `then`.
async fn call_and<F>(then: impl FnOnce() -> F + Send + 'static) -> u32
where
    F: Future<Output = ()> + Send + 'static,
{
    let cell = ColorCell::new(8, 0);
    spawn_colored(7, async move {
        cell.call(|count| *count += 1).await;
        then().await;
        cell.call(|count| *count).await
    })
    .await
    .unwrap()
}

#[track_caller]
fn assert_refused<F>(then: impl Fn() -> F + Clone + Send + 'static, what: &str)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (record, _) = Record::of(2, || call_and(then.clone()));
    let text = record.refusal(|| call_and(then));
    assert!(text.contains(what), "{text}");
    assert!(text.contains("color 0x7, turn 2"), "{text}");
}

#[test]
fn what_no_record_covers_is_named_with_its_color_and_turn() {
    assert_refused(
        || async {
            net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        },
        "no record covers a socket",
    );
    assert_refused(|| async { exclusive(async {}).await }, "no record covers a section");
    assert_refused(
        || async {
            drop(sync::Mutex::new(1).lock().await);
        },
        "no record covers a lock",
    );
    assert_refused(
        || async {
            let cell = ColorCell::new(9, 1);
            cell.read(|value| *value).await;
        },
        "no record covers a read of a cell",
    );
    assert_refused(
        || async {
            let (one, two) = (ColorCell::new(9, 1), ColorCell::new(10, 2));
            when((&one, &two), |one, two| *one += *two).await;
        },
        "no record covers a `when`",
    );
    assert_refused(
        || async {
            LOCAL.with(|value| assert_eq!(*value, 3));
        },
        "no record covers a value of a color",
    );
    assert_refused(
        || async {
            spawn_blocking(|| ()).abort();
        },
        "no record covers the abort of a blocking call",
    );
    assert_refused(
        || async {
            let limit = Limit::new(Color::new(9), 1);
            limit.spawn(async {}).await.unwrap().await.unwrap();
        },
        "no record covers a limit",
    );
    assert_refused(
        || async {
            let (sender, receiver) = sync::mpsc::channel(1);
            sender.try_send(1).unwrap();
            drop(receiver);
        },
        "no record covers a method of tokio's channel",
    );
}

#[test]
fn a_clock_in_a_blocking_call_is_named() {
    let program = || async {
        spawn_blocking(|| {
            let _ = Instant::now();
        })
        .await
        .map_err(drop)
    };
    let (record, _) = Record::of(2, program);
    let text = record.refusal(program);
    assert!(text.contains("no record covers a read of the clock in a blocking call"), "{text}");
}

#[test]
fn a_changed_program_is_a_named_divergence() {
    let (record, _) = Record::of(2, || call_and(|| async {}));
    let more = record.refusal(|| {
        call_and(|| async {
            let _ = Instant::now();
        })
    });
    assert!(more.contains("this is not the recorded run: color 0x7, turn 2"), "{more}");
    assert!(more.contains("a read of the clock"), "{more}");
    let (record, _) = Record::of(2, || call_and(|| sleep(Duration::from_millis(1))));
    let less = record.refusal(|| call_and(|| async {}));
    assert!(
        less.contains(
            "color 0x7, turn 2: the record has a read of the clock, and the turn is over"
        ),
        "{less}"
    );
}

#[test]
fn work_that_does_not_come_is_named_and_is_no_hang() {
    let posts = |number: u32| async move {
        let cell = ColorCell::new(8, 0);
        let task = {
            let cell = cell.clone();
            spawn_colored(7, async move {
                (0..number).for_each(|_| cell.post(|count| *count += 1));
            })
        };
        task.await.unwrap();
        cell.call(|count| *count).await
    };
    let (record, count) = Record::of(2, || posts(3));
    assert_eq!(count, 3);
    let less = record.refusal(|| posts(2));
    assert!(
        less.contains("color 0x8, turn 3: the record has a turn that color 0x7 has pushed"),
        "{less}"
    );
    let (record, _) = Record::of(2, || call_and(|| async {}));
    let more = record.refusal(|| {
        call_and(|| async {
            ColorCell::new(9, 0).call(|count| *count += 1).await;
        })
    });
    assert!(more.contains("color 0x9: the record ends before its turn 1"), "{more}");
}

/// A thread that the runtime does not know spawns: where its task has its turn, the replay ends.
#[test]
fn a_push_of_another_thread_is_named() {
    let run = |runtime: Runtime| {
        let runtime = Arc::new(runtime);
        let other = Arc::clone(&runtime);
        let task = std::thread::spawn(move || other.spawn_colored(5, async { 5 })).join().unwrap();
        let result = runtime.block_on(task);
        result.unwrap()
    };
    let record = Record::new();
    assert_eq!(run(Runtime::builder().workers(1).record(&record.0).build().unwrap()), 5);
    let replay = Runtime::builder().workers(1).replay(&record.0).build().unwrap();
    let replay = std::panic::AssertUnwindSafe(|| run(replay));
    let payload = std::panic::catch_unwind(replay).expect_err("it is not covered");
    let text = payload.downcast::<String>().expect("a text");
    assert!(text.contains("what another thread spawns or posts: color 0x5, turn 1"), "{text}");
}

/// Waits for a lock, in so many rounds, and reads a cell.
async fn uncovered() {
    let lock = sync::Mutex::new(0);
    for _ in 0..3 {
        *lock.lock().await += 1;
    }
    let cell = ColorCell::new(9, 1);
    cell.read(|value| *value).await;
}

/// The one that records hears of it at once, and once of each place.
#[test]
fn a_recorded_run_warns_of_what_a_replay_will_refuse() {
    const CHILD: &str = "COLORED_TESTS_RECORDS";
    if std::env::var_os(CHILD).is_some() {
        drop(Record::of(2, || async { spawn_colored(7, uncovered()).await.unwrap() }));
        return;
    }
    let this = "record::refusals::a_recorded_run_warns_of_what_a_replay_will_refuse";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", this, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{text}");
    let said: Vec<_> =
        text.lines().filter(|line| line.starts_with("colored: no record covers ")).collect();
    let [lock, read] = said[..] else { panic!("each place once: {text}") };
    for (line, what) in [(lock, "a lock"), (read, "a read of a cell beside others")] {
        let start = format!("colored: no record covers {what}: color 0x7, at ");
        assert!(line.starts_with(&start) && line.contains("refusals.rs:"), "{line}");
        assert!(line.ends_with("; a replay ends there"), "{line}");
    }
}
