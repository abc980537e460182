//! Each partition has a color of its own: what a consumer does for the records of one goes on while it is busy with another.

use colored::sim::{Builder, random};
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell};
use colored_consumer::embedded::{Engine, Member, NewRecord, Options};
use colored_consumer::{Consumer, Failure};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PARTITIONS: u32 = 8;

/// How many are under way at a time, and at most at any time of all runs.
#[derive(Default)]
struct Count {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Count {
    fn enter(&self) {
        // Ordering: counts of a test.
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
    }

    fn leave(&self) {
        // Ordering: as above.
        self.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An engine with some records in each partition, and a member.
async fn join() -> (Engine, Member) {
    let engine = Options::new().open("/log").await.unwrap();
    engine.create_topic("t", PARTITIONS).await.unwrap();
    let records = (0..PARTITIONS * 8).map(|number| NewRecord::new(format!("k{number}"), "v"));
    engine.send_all("t", records).await.unwrap();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    (engine, member)
}

/// The key of a record is told in the turn that takes it.
async fn consume(busy: Arc<Count>) {
    let (_engine, member) = join().await;
    let elsewhere = ColorCell::new(Color::unique(), ());
    let builder = Consumer::builder(member).strict(true).key(move |record| {
        busy.enter();
        // Others may have their turns meanwhile.
        elsewhere.post(|()| ());
        busy.leave();
        record.key.clone()
    });
    let consumer = builder.start(|_, _| async { Ok(()) }).unwrap();
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
}

#[test]
fn partitions_are_worked_on_at_the_same_time() {
    let busy = Arc::<Count>::default();
    let of_all = Arc::clone(&busy);
    let runs = Builder::new().workers(64..=64).jobs(1).seeds(crate::seeds(100, 1_000));
    runs.run(move || consume(Arc::clone(&busy))).assert_passed();
    let most = of_all.most.load(Ordering::Relaxed);
    assert!(most >= PARTITIONS as usize / 2, "{most} partitions at a time");
}

/// Few handlers may run at a time, and all partitions have records for them: none waits for ever, and never do too many run.
async fn share(at_once: usize) {
    let (_engine, member) = join().await;
    let (running, handled) = (Arc::<Count>::default(), Arc::new(AtomicUsize::new(0)));
    let (runs, done) = (Arc::clone(&running), Arc::clone(&handled));
    let builder = Consumer::builder(member).strict(true).concurrency(at_once);
    let builder = builder.retry(Duration::from_millis(1), Duration::from_millis(4));
    let consumer = builder.start(move |_, _| {
        let (runs, done) = (Arc::clone(&runs), Arc::clone(&done));
        async move {
            runs.enter();
            sleep(Duration::from_millis(random() % 3)).await;
            runs.leave();
            if random().is_multiple_of(8) {
                return Err(Failure::retry("a bad day"));
            }
            // Ordering: a count of a test.
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    for _ in 0..random() % 3 {
        sleep(Duration::from_millis(random() % 20)).await;
        consumer.pause("t").await;
        sleep(Duration::from_millis(random() % 20)).await;
        consumer.resume("t").await;
    }
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    // Ordering: as above.
    assert_eq!(handled.load(Ordering::Relaxed), PARTITIONS as usize * 8);
    let most = running.most.load(Ordering::Relaxed);
    assert!((1..=at_once).contains(&most), "{most} at a time, and {at_once} are allowed");
}

#[test]
fn partitions_share_the_handlers_at_a_time() {
    for at_once in [1, 3] {
        Builder::new().seeds(crate::seeds(60, 1_000)).run(move || share(at_once)).assert_passed();
    }
}
