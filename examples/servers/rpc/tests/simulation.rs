//! The same calls in a simulation: hosts, a relay between them, and faults.

use colored::net::{UdpSocket, lookup_host};
use colored::sim::{self, Builder, Fault, Faults, Report};
use colored::time::{Duration, sleep};
use rpc::bank::{Bank, deposit_and_check};
use rpc::relay::{Loss, Relay};
use rpc::{Retry, Udp, UdpOptions};
use std::net::SocketAddr;

const ACCOUNTS: u32 = 3;
const DEPOSITS: u32 = 6;

/// Until a call fails. A partition lasts for minutes.
const DEADLINE: Duration = Duration::from_secs(3600);

async fn address(host: &str) -> SocketAddr {
    lookup_host(host).await.unwrap().next().expect("a host has an address")
}

/// The bank, on a host of its own.
async fn serve(cache_bytes: usize, cache_age: Duration) {
    let socket = UdpSocket::bind("0.0.0.0:9").await.unwrap();
    let seed = sim::random();
    let options = UdpOptions { cache_bytes, cache_age, seed, ..UdpOptions::default() };
    let server = Udp::over(socket, options);
    server.serve(Bank::new(ACCOUNTS).services());
    std::future::pending::<()>().await;
}

/// A network that loses datagrams, on a host of its own.
async fn pass_on() {
    let loss = Loss { late: Duration::from_millis(50), ..Loss::default() };
    let relay = Relay::start("0.0.0.0:10", address("bank:9").await, loss, sim::random()).await;
    let _relay = relay.unwrap();
    std::future::pending::<()>().await;
}

async fn deposit() {
    // The relay is there by then.
    sleep(Duration::from_millis(1)).await;
    let retry = Retry {
        first: Duration::from_millis(20),
        most: Duration::from_secs(1),
        deadline: DEADLINE,
    };
    let options = UdpOptions { retry, seed: sim::random(), ..UdpOptions::default() };
    let client = Udp::over(UdpSocket::bind("0.0.0.0:0").await.unwrap(), options);
    let checked = deposit_and_check(&client, address("relay:10").await, ACCOUNTS, DEPOSITS).await;
    sim::always!(checked == Ok(()), "each call is executed once and answered");
}

/// Crashes are left out: a bank that crashes forgets its balances.
fn simulate(cache_bytes: usize, cache_age: Duration) -> Report {
    let faults = Faults::swarm().without(Fault::Crash).without(Fault::Clock);
    let builder = Builder::new().seeds(0..1000).workers(1..=4).faults(faults);
    let builder = builder.host("bank", move || serve(cache_bytes, cache_age));
    builder.host("relay", pass_on).run(deposit)
}

fn assert_found(report: &Report) {
    let failure = report.failure().expect("a call is executed twice");
    assert!(failure.message().contains("each call is executed once"), "{failure}");
}

#[test]
fn each_call_is_executed_once_whatever_the_schedule() {
    simulate(1 << 20, 2 * DEADLINE).assert_passed();
}

#[test]
fn without_a_cache_a_seed_is_found() {
    assert_found(&simulate(0, 2 * DEADLINE));
}

/// The network is cut for longer than a reply is kept, and then the call comes again.
#[test]
fn a_cache_that_forgets_before_the_deadline_is_found() {
    assert_found(&simulate(1 << 20, Duration::from_secs(5)));
}
