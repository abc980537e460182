//! Each partition has a color of its own: what a consumer does for the records of one goes on while it is busy with another.

use colored::sim::Builder;
use colored::{Color, ColorCell};
use colored_consumer::Consumer;
use colored_consumer::embedded::{NewRecord, Options};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PARTITIONS: u32 = 8;

/// How many partitions are being busied at a time, and at most at any time of all runs.
#[derive(Default)]
struct Busy {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Busy {
    /// Does something that may take long: others may have their turns meanwhile.
    fn work(&self, elsewhere: &ColorCell<()>) {
        // Ordering: counts of a test.
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        elsewhere.post(|()| ());
        self.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads some records of each partition. The key of a record is told in the turn that takes it.
async fn consume(busy: Arc<Busy>) {
    let engine = Options::new().open("/log").await.unwrap();
    engine.create_topic("t", PARTITIONS).await.unwrap();
    let records = (0..PARTITIONS * 8).map(|number| NewRecord::new(format!("k{number}"), "v"));
    engine.send_all("t", records).await.unwrap();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let elsewhere = ColorCell::new(Color::unique(), ());
    let builder = Consumer::builder(member).strict(true).key(move |record| {
        busy.work(&elsewhere);
        record.key.clone()
    });
    let consumer = builder.start(|_, _| async { Ok(()) }).unwrap();
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
}

#[test]
fn partitions_are_worked_on_at_the_same_time() {
    let busy = Arc::new(Busy::default());
    let of_all = Arc::clone(&busy);
    let runs = Builder::new().workers(64..=64).jobs(1).seeds(crate::seeds(100, 1_000));
    runs.run(move || consume(Arc::clone(&busy))).assert_passed();
    let most = of_all.most.load(Ordering::Relaxed);
    assert!(most >= PARTITIONS as usize / 2, "{most} partitions at a time");
}
