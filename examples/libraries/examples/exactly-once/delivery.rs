//! A log of deposits, and consumers of it: one that crashes, and one that ends well.

use colored::time::{Duration, sleep};
use colored_consumer::embedded::{Engine, Member, NewRecord};
use colored_consumer::{Builder, Consumer, Context, Failure, PartitionMetrics, Record};

pub(crate) const TOPIC: &str = "deposits";
pub(crate) const ACCOUNTS: u64 = 10;
pub(crate) const DEPOSITS: u64 = 200;

/// What the accounts should have: each deposit once, in order.
pub(crate) fn expected() -> Vec<(String, Vec<i64>)> {
    let each = (DEPOSITS / ACCOUNTS) as i64;
    (0..ACCOUNTS).map(|account| (name(account), (1..=each).collect())).collect()
}

fn name(account: u64) -> String {
    format!("account {account}")
}

pub(crate) async fn send(engine: &Engine) -> Result<(), colored_consumer::Error> {
    engine.create_topic(TOPIC, 4).await?;
    let deposits = (0..DEPOSITS).map(|number| {
        let coins = 1 + number / ACCOUNTS;
        NewRecord::new(name(number % ACCOUNTS), coins.to_string())
    });
    engine.send_all(TOPIC, deposits.collect::<Vec<_>>()).await?;
    Ok(())
}

pub(crate) async fn member(engine: &Engine) -> Result<Builder<Member>, colored_consumer::Error> {
    let member = engine.member("bank", [TOPIC]).join().await?;
    Ok(Consumer::builder(member).concurrency(8))
}

/// Handles so many records. Then the consumer is left behind as it is, without a commit; the end of the runtime drops what
/// is in flight.
pub(crate) async fn crash_after<F>(
    done: u64,
    engine: &Engine,
    handler: impl Fn(Record, Context) -> F + Send + Sync + 'static,
) -> Result<u64, colored_libraries::Failure>
where
    F: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let builder = member(engine).await?.commit_every(Duration::from_secs(3600));
    let consumer = builder.start(handler)?;
    let done = loop {
        let metrics = consumer.metrics().await;
        assert_eq!(metrics.commits, 0, "nothing is to be committed");
        if metrics.done >= done {
            break metrics.done;
        }
        sleep(Duration::from_millis(1)).await;
    };
    // Not even its drop runs, as in a crash.
    std::mem::forget(consumer);
    Ok(done)
}

/// Handles all that is not committed, commits, and returns what the consumer owned.
pub(crate) async fn finish<F>(
    engine: &Engine,
    handler: impl Fn(Record, Context) -> F + Send + Sync + 'static,
) -> Result<Vec<PartitionMetrics>, colored_libraries::Failure>
where
    F: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let builder = member(engine).await?.commit_every(Duration::from_millis(10));
    let consumer = builder.start(handler)?;
    let partitions = loop {
        let partitions = consumer.metrics().await.partitions;
        if partitions.iter().map(|of| of.committed).sum::<u64>() == DEPOSITS {
            break partitions;
        }
        sleep(Duration::from_millis(1)).await;
    };
    consumer.stop().await?;
    Ok(partitions)
}
