//! Who comes too early waits: nodes join, and a client stores and reads, although the first process is not there yet.

use super::faults::{address, settings};
use super::world::blocks;
use chord::{Client, Error, Mistake, Process, Settings};
use colored::sim::{self, Builder, Faults, Report};
use colored::time::{Duration, Instant, sleep};

/// The first process comes so late. An attempt to join has failed by then, and a look-up has been lost.
const LATE: Duration = Duration::from_secs(12);

fn patient(patience: Duration) -> Settings {
    Settings { patience, ..settings(Mistake::None) }
}

async fn run_host(host: u8, patience: Duration) {
    if host == 1 {
        sleep(LATE).await;
    }
    let process = Process::bind(address(host), 1, &[address(1)], patient(patience)).await;
    let process = process.expect("nobody else has the port");
    if host == 1 {
        process.begin(0).await;
    } else {
        sim::always!(process.join(0).await.is_ok(), "a node joins");
    }
    std::future::pending::<()>().await;
}

fn simulate(patience: Duration) -> Report {
    let builder = Builder::new().seeds(0..30).workers(1..=3).faults(Faults::none());
    let hosts = (1..).zip(["first", "second", "third"]).fold(builder, |builder, (host, name)| {
        builder.host(name, move || run_host(host, patience))
    });
    hosts.run(move || async move {
        let client = Client::bind(address(0), &[address(1)], patient(patience)).await;
        let client = client.expect("nobody else has the port");
        for value in blocks(3) {
            let stored = client.put(&value).await;
            sim::always!(stored.is_ok(), "a block is stored");
            let read = client.block(value.key()).await;
            sim::always!(read.is_ok_and(|read| read == value), "a block is read");
        }
    })
}

#[test]
fn an_operation_waits_for_a_process_that_is_late() {
    simulate(Settings::default().patience).assert_passed();
}

#[test]
fn without_patience_an_operation_is_lost() {
    assert!(simulate(Duration::ZERO).failure().is_some(), "nobody had to wait");
}

#[test]
fn an_operation_gives_up_in_the_end() {
    let builder = Builder::new().seeds(0..10).faults(Faults::none());
    let report = builder.run(|| async {
        let (patience, begin) = (Duration::from_secs(20), Instant::now());
        let process = Process::bind(address(0), 1, &[address(1)], patient(patience)).await;
        let joined = process.expect("nobody else has the port").join(0).await;
        let error = joined.expect_err("nobody is there");
        sim::always!(
            matches!(&error, Error::GaveUp { why, .. } if matches!(**why, Error::NoRing(_))),
            "it says why"
        );
        // The last pause may be 2 s, and the last attempt 5 s.
        let tried = begin.elapsed();
        sim::always!(tried + Duration::from_secs(2) >= patience, "it does not give up early");
        sim::always!(tried <= patience + Duration::from_secs(5), "it gives up");
    });
    report.assert_passed();
}
