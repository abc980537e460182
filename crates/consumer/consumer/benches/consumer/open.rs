//! The time to open a log.

use crate::support::{Directory, runtime};
use colored::time::Instant;
use colored_consumer::embedded::{NewRecord, Options};

/// Nearly a segment, which has 64 MiB by default.
const RECORDS: usize = 60_000;

pub(crate) fn open() {
    let directory = Directory::new("open");
    let path = directory.path().to_owned();
    runtime(2).run(async move {
        let engine = Options::new().open(&path).await.expect("the engine opens");
        engine.create_topic("t", 1).await.expect("a topic");
        for _ in 0..RECORDS / 1_000 {
            let records = (0..1_000).map(|_| NewRecord::new("k", vec![b'v'; 1_000]));
            engine.send_all("t", records).await.expect("a log");
        }
        drop(engine);
        for _ in 0..3 {
            let start = Instant::now();
            let engine = Options::new().open(&path).await.expect("the engine opens");
            println!("open: {:.3} s for a segment of 63 MB", start.elapsed().as_secs_f64());
            drop(engine);
        }
    });
}
