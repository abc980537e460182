//! The same nodes under `colored::sim`: a thousand schedules, with churn, lost packets, partitions and crashes.

use super::world::blocks;
use chord::{Census, Client, Contact, Mistake, Process, Settings, Value};
use colored::sim::{self, Builder, Fault, Faults, Report};
use colored::spawn;
use colored::time::{Duration, Instant, sleep};
use std::net::{Ipv4Addr, SocketAddrV4};

/// The hosts of processes. Host number 0 is the main future's.
const HOSTS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Nodes of a process.
const NODES: u16 = 2;

const SEEDS: u64 = 1000;

pub(crate) fn address(host: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, host + 1), 7000)
}

/// The addresses of the processes.
fn addresses() -> [SocketAddrV4; HOSTS.len()] {
    [1, 2, 3, 4, 5].map(address)
}

pub(crate) fn settings(mistake: Mistake) -> Settings {
    let (round, repair) = (Duration::from_millis(500), Duration::from_secs(2));
    let deadline = Duration::from_secs(1);
    Settings { round, repair, deadline, seed: sim::random(), mistake, ..Settings::default() }
}

fn census() -> Census {
    let nodes = (0..NODES).flat_map(|number| addresses().map(|host| Contact::new(host, number)));
    Census::new(nodes)
}

/// A host that begins, maybe again. The first one begins a ring of its own each time, which finds the other one by its seeds.
async fn run_host(host: u8, mistake: Mistake, has_churn: bool) {
    let mistake = if has_churn && host == 5 { Mistake::AltersValues } else { mistake };
    let process = Process::bind(address(host), NODES, &addresses(), settings(mistake)).await;
    let process = process.expect("nobody else has the port");
    if host == 1 {
        process.begin(0).await;
    }
    for number in 0..NODES {
        while !(host == 1 && number == 0) && process.join(number).await.is_err() {
            sleep(Duration::from_millis(300)).await;
        }
    }
    let churn = if has_churn { sim::random() % 4 } else { 0 };
    for _ in 0..churn {
        sleep(Duration::from_millis(200 + sim::random() % 1000)).await;
        match sim::random() % 2 {
            0 => process.leave(1).await,
            _ => process.stop(1).await,
        }
        sleep(Duration::from_millis(sim::random() % 1000)).await;
        while process.join(1).await.is_err() {
            sleep(Duration::from_millis(300)).await;
        }
    }
    std::future::pending::<()>().await;
}

fn simulate<F, P>(
    seeds: u64,
    mistake: Mistake,
    has_churn: bool,
    faults: Faults,
    program: P,
) -> Report
where
    F: Future<Output = ()> + Send + 'static,
    P: Fn() -> F + Send + Sync + 'static,
{
    let builder = Builder::new().seeds(0..seeds).workers(1..=3).faults(faults).max_turns(2_000_000);
    let hosts = (1..).zip(HOSTS).fold(builder, |builder, (number, name)| {
        builder.host(name, move || run_host(number, mistake, has_churn))
    });
    hosts.run(program)
}

async fn client(mistake: Mistake) -> Client {
    let client = Client::bind(address(0), &addresses(), settings(mistake)).await;
    client.expect("nobody else has the port")
}

/// Waits until the ring is as it should be.
async fn settle(client: &Client, most: Duration) {
    let begin = Instant::now();
    while !census().unsettled(client).await.is_empty() {
        sim::always!(begin.elapsed() < most, "the ring settles");
        sleep(Duration::from_millis(250)).await;
    }
}

async fn all_keys_resolve(client: &Client) {
    let census = census();
    for (number, by) in census.nodes().iter().enumerate() {
        let key = chord::Id::hash(&[&number.to_be_bytes()]);
        let found = client.look_up_by(*by, key).await;
        sim::always!(
            found.is_ok_and(|found| found.owner() == census.owner(key)),
            "a key resolves to its owner"
        );
    }
}

/// Nodes join, leave and crash, the network loses packets and falls apart, and one process alters what it sends. Whatever
/// is read meanwhile is right. When all is healed, the ring is right.
fn churn(seeds: u64, mistake: Mistake) -> Report {
    let faults = Faults::swarm().without(Fault::Clock).without(Fault::Disk);
    simulate(seeds, mistake, true, faults, move || async move {
        let client = client(mistake).await;
        let using = client.clone();
        let using = spawn(async move {
            for value in blocks(4) {
                let stored = using.put(&value).await;
                sim::sometimes!(stored.is_ok(), "a block is stored during faults");
                let read = using.block(value.key()).await;
                sim::sometimes!(read.is_ok(), "a block is read during faults");
                let is_right = read.map_or(true, |read| read.bytes() == value.bytes());
                sim::always!(is_right, "what is read is what was stored");
            }
        });
        sleep(Duration::from_secs(6)).await;
        sim::begin_quiet_phase();
        using.await.expect("it does not panic");
        settle(&client, Duration::from_secs(60)).await;
        all_keys_resolve(&client).await;
    })
}

/// Two of five processes die at once, twice; in between the others repair. Packets are lost, late and doubled.
fn deaths(seeds: u64, mistake: Mistake) -> Report {
    let faults = Faults::none().with(Fault::Loss).with(Fault::Doubling);
    simulate(seeds, mistake, false, faults, move || async move {
        let first = (sim::random() % 5) as usize;
        let client = client(mistake).await;
        settle(&client, Duration::from_secs(60)).await;
        let values = blocks(6);
        for value in &values {
            let stored = client.put(value).await;
            sim::always!(stored.is_ok(), "a block is stored at three processes");
        }
        let host = |place: usize| sim::host(HOSTS[(first + place) % HOSTS.len()]);
        for place in [0, 1] {
            host(place).crash().await;
        }
        all_are_readable(&client, &values).await;
        // The three that are left have all blocks soon.
        sleep(Duration::from_secs(8)).await;
        for place in [2, 3] {
            host(place).crash().await;
        }
        all_are_readable(&client, &values).await;
    })
}

async fn all_are_readable(client: &Client, values: &[Value]) {
    for value in values {
        let read = client.block(value.key()).await;
        let is_right = read.is_ok_and(|read| read.bytes() == value.bytes());
        sim::always!(is_right, "a block can be read");
    }
}

#[test]
fn the_ring_is_right_behind_churn_in_a_thousand_runs() {
    let report = churn(SEEDS, Mistake::None);
    report.assert_passed();
    assert!(report.never_seen().is_empty(), "{report}");
}

#[test]
fn blocks_survive_two_deaths_at_once_in_a_thousand_runs() {
    deaths(SEEDS, Mistake::None).assert_passed();
}

#[test]
fn each_mistake_is_found() {
    for (is_churn, mistake) in [
        (true, Mistake::IgnoresJoins),
        (true, Mistake::TrustsReplies),
        (false, Mistake::NeverRepairs),
        (false, Mistake::ReplicatesInOneProcess),
    ] {
        let simulated = if is_churn { churn } else { deaths };
        assert!(simulated(100, mistake).failure().is_some(), "{mistake:?} is not found");
    }
}
