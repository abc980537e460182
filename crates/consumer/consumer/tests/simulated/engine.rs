//! The real engine, on the simulated files of a host: members join and leave, the host crashes, is paused, and its disk
//! fails. Every record has its effect, in order; no confirmed record and no confirmed commit is lost.

use crate::outside::{KEYS, Outside, PARTITIONS};
use crate::watched::Watched;
use colored::sim::{Builder, Fault, Faults, Report, begin_quiet_phase, random};
use colored::time::{Duration, Instant, sleep};
use colored_consumer::embedded::{Engine, NewRecord, Options};
use colored_consumer::{Broken, Consumer, ConsumerError, Error, Failure, TopicPartition};
use std::ops::Range;

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// How long faults happen.
const FAULTS: Duration = Duration::from_secs(20);

/// No run takes longer, unless something has stopped for ever.
const LONG: Duration = Duration::from_secs(120);

/// The host's program: a life of the engine after the other, until all is done.
async fn live(outside: Outside, broken: Broken) {
    while live_once(&outside, broken).await.is_err() {
        sleep(millis(20)).await;
    }
}

/// Opens the engine, sends the records that are left, and lets members come and go.
async fn live_once(outside: &Outside, broken: Broken) -> Result<(), Error> {
    let engine = Options::new().segment_bytes(1_500).open("/log").await?;
    engine.create_topic("t", PARTITIONS).await?;
    let mut members = Vec::new();
    let result = change_members(&engine, &mut members, outside, broken).await;
    for member in members {
        stop(member).await;
    }
    if result.is_ok() && broken == Broken::Nothing && outside.is_planned() {
        for partition in 0..PARTITIONS {
            let of = TopicPartition { topic: "t".into(), partition };
            let committed = engine.committed("g", &of).await.map(|committed| committed.offset);
            let (_, end) = engine.range(&of).await?;
            assert_eq!(committed.unwrap_or(0), end, "{of}: all is committed at the end");
        }
    }
    result
}

async fn change_members(
    engine: &Engine,
    members: &mut Vec<Consumer>,
    outside: &Outside,
    broken: Broken,
) -> Result<(), Error> {
    note_ends(engine, outside).await?;
    members.push(join(engine, outside, broken).await?);
    loop {
        if let Some(number) = outside.next_number() {
            let record = NewRecord::new(format!("k{}", number % KEYS), number.to_string());
            outside.note_sent(engine.send("t", record).await?, number);
            note_ends(engine, outside).await?;
            match random() % 6 {
                0 if members.len() < 3 => members.push(join(engine, outside, broken).await?),
                1 if members.len() > 1 => stop(members.remove(0)).await,
                _ => sleep(millis(random() % 4)).await,
            }
        } else if outside.is_complete() {
            return Ok(());
        } else {
            sleep(millis(10)).await;
        }
        if members.iter().any(Consumer::is_ended) {
            return Err(Error::new("the engine failed a consumer"));
        }
    }
}

async fn note_ends(engine: &Engine, outside: &Outside) -> Result<(), Error> {
    for partition in 0..PARTITIONS {
        let (_, end) = engine.range(&TopicPartition { topic: "t".into(), partition }).await?;
        outside.note_end(partition, end);
    }
    Ok(())
}

async fn join(engine: &Engine, outside: &Outside, broken: Broken) -> Result<Consumer, Error> {
    let member = engine.member("g", ["t"]).session(millis(500)).join().await?;
    let source = Watched { member, outside: outside.clone() };
    let outside = outside.clone();
    let builder = Consumer::builder(source).broken(broken).strict(broken == Broken::Nothing);
    let builder = builder.concurrency(3).records(8).commit_every(millis(5)).drain(millis(300));
    let consumer = builder.retry(millis(1), millis(8)).start(move |record, context| {
        let outside = outside.clone();
        async move {
            sleep(millis(random() % 8)).await;
            if random().is_multiple_of(16) {
                return Err(Failure::retry("a bad day"));
            }
            outside.note_effect(&record, context.generation());
            Ok(())
        }
    });
    Ok(consumer.expect("the settings are good"))
}

async fn stop(consumer: Consumer) {
    if let Err(ConsumerError::Violation(text)) = consumer.stop().await {
        panic!("a sentinel: {text}");
    }
}

/// What happens to a host and its disk.
fn crashes() -> Faults {
    let faults = Faults::none().with(Fault::Crash).with(Fault::Pause);
    faults.with(Fault::Disk).with(Fault::Clock)
}

/// Waits until every record has an effect.
async fn complete(outside: &Outside) {
    let start = Instant::now();
    while !outside.is_complete() {
        if let Some(wrong) = outside.wrong() {
            panic!("{wrong}");
        }
        assert!(start.elapsed() < LONG, "a record has no effect");
        if start.elapsed() > FAULTS {
            begin_quiet_phase();
        }
        sleep(millis(20)).await;
    }
    if let Some(wrong) = outside.wrong() {
        panic!("{wrong}");
    }
}

/// Runs so many seeds, of which each must keep all promises.
fn simulate(faults: Faults, broken: Broken, seeds: Range<u64>) -> Report {
    let is_planned = faults == Faults::none();
    let simulation = Builder::new().seeds(seeds).workers(1..=4).faults(faults).jobs(64);
    let simulation = simulation.host("a", move || live(Outside::new(is_planned), broken));
    simulation.run(|| async move {
        let outside = Outside::new(is_planned);
        complete(&outside).await;
        outside.check();
    })
}

#[test]
fn planned_rebalances_repeat_nothing_under_any_schedule() {
    simulate(Faults::none(), Broken::Nothing, crate::seeds(150, 1_000)).assert_passed();
}

#[test]
fn crashes_pauses_and_bad_disks_lose_nothing_under_any_schedule() {
    simulate(crashes(), Broken::Nothing, crate::seeds(40, 300)).assert_passed();
}

/// A search finds the broken build within 1,000 seeds, and says how many it took.
#[track_caller]
fn assert_found(faults: Faults, broken: Broken, wrong: &str) {
    let report = simulate(faults, broken, 0..1_000);
    println!("{broken:?}: {report}");
    let failure = report.failure().unwrap_or_else(|| panic!("{broken:?} is not found: {report}"));
    assert!(failure.message().contains(wrong), "{failure}");
    assert_eq!(failure.differs(), None, "{failure}");
}

#[test]
fn commits_on_receipt_are_found() {
    let crashes = Faults::none().with(Fault::Crash);
    assert_found(crashes, Broken::CommitOnReceipt, "a committed record has no effect");
}

#[test]
fn a_hand_over_without_a_drain_is_found() {
    assert_found(Faults::none(), Broken::NoDrain, "a record has a second effect");
}
