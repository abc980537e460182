//! How long the commit of a record takes.

use crate::support::{Directory, PARTITIONS, quantile, record, runtime, zipf};
use colored::time::{Duration, Instant, sleep, sleep_until};
use colored_consumer::embedded::{Engine, Options};
use colored_consumer::{Consumer, TopicPartition};
use std::collections::VecDeque;

const SECONDS: u64 = 10;
/// Records of one append: a hundred appends make a second.
const ROW: usize = 100;

/// A partition, with the ends that it had after appends, and when. Those that are committed have gone.
struct Watched {
    partition: TopicPartition,
    ends: VecDeque<(u64, Instant)>,
    end: u64,
    committed: u64,
}

/// All appends and commits wait for the device. The commits are looked at each 5 ms, which counts as lag.
pub(crate) fn lag() {
    let directory = Directory::new("lag");
    let path = directory.path().to_owned();
    let mut lags = runtime(2).run(async move {
        let engine = Options::new().open(path).await.expect("the engine opens");
        engine.create_topic("t", PARTITIONS).await.expect("a topic");
        let member = engine.member("g", ["t"]).join().await.expect("a member");
        let consumer = Consumer::builder(member).start(|_, _| std::future::ready(Ok(())));
        let consumer = consumer.expect("the settings are good");
        let lags = send_and_watch(&engine).await;
        consumer.stop().await.expect("the engine works");
        lags
    });
    assert_eq!(lags.len(), SECONDS as usize * 100 * ROW, "each record is committed");
    let [half, most] = [0.5, 0.99].map(|part| quantile(&mut lags, part).as_secs_f64());
    println!("lag: {half:.3} s in the median, {most:.3} s for 99 of 100 records");
}

/// Sends for some seconds, and watches until all is committed.
async fn send_and_watch(engine: &Engine) -> Vec<Duration> {
    let of = |partition| TopicPartition { topic: "t".into(), partition };
    let new = |partition| Watched {
        partition: of(partition),
        ends: VecDeque::new(),
        end: 0,
        committed: 0,
    };
    let mut all: Vec<_> = (0..PARTITIONS).map(new).collect();
    let (mut lags, mut keys) = (Vec::new(), zipf(SECONDS as usize * 100 * ROW, 1_000));
    let start = Instant::now();
    for row in 1..=SECONDS as u32 * 100 {
        let records: Vec<_> = keys.by_ref().take(ROW).map(record).collect();
        engine.send_all("t", records).await.expect("a log");
        for watched in &mut all {
            let (_, end) = engine.range(&watched.partition).await.expect("it is there");
            watched.ends.push_back((end, Instant::now()));
            watched.end = end;
        }
        watch(engine, &mut all, &mut lags).await;
        sleep_until(start + Duration::from_millis(5) * (2 * row - 1)).await;
        watch(engine, &mut all, &mut lags).await;
        sleep_until(start + Duration::from_millis(10) * row).await;
    }
    while all.iter().any(|watched| watched.committed < watched.end) {
        sleep(Duration::from_millis(5)).await;
        watch(engine, &mut all, &mut lags).await;
    }
    lags
}

/// Adds the lags of the records that are committed now, and were not at the last look.
async fn watch(engine: &Engine, all: &mut [Watched], lags: &mut Vec<Duration>) {
    for watched in all {
        let committed = engine.committed("g", &watched.partition).await;
        let committed = committed.map_or(0, |committed| committed.offset);
        while let Some((end, sent)) = watched.ends.front().copied() {
            let upto = end.min(committed);
            let count = upto.saturating_sub(watched.committed) as usize;
            lags.extend(std::iter::repeat_n(sent.elapsed(), count));
            watched.committed += count as u64;
            if end > committed {
                break;
            }
            watched.ends.pop_front();
        }
    }
}
