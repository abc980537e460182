//! Calls through a relay that loses, doubles and reorders datagrams.

use colored::Color;
use colored::net::UdpSocket;
use colored::sync::Semaphore;
use colored::time::{Duration, sleep};
use rpc::bank::{Bank, deposit_and_check};
use rpc::relay::{Loss, Relay};
use rpc::{
    Caller, Procedure, Refusal, Retry, RpcError, Services, Udp, UdpCounts, UdpOptions, service,
};
use std::sync::Arc;

/// The calls, unless `RPC_CALLS` says how many.
const CALLS: u32 = 10_000;

const ACCOUNTS: u32 = 50;

/// Makes the calls; then what is wrong, if anything is, and what the server has seen.
async fn deposit(calls: u32, options: UdpOptions) -> (Result<(), String>, UdpCounts) {
    let socket = || UdpSocket::bind("127.0.0.1:0");
    let (server, bank) = (Udp::over(socket().await.unwrap(), options), Bank::new(ACCOUNTS));
    server.serve(bank.services());
    let to = server.local_addr().unwrap();
    let relay = Relay::start("127.0.0.1:0", to, Loss::default(), 42).await.unwrap();
    let retry = Retry {
        first: Duration::from_millis(15),
        most: Duration::from_millis(200),
        deadline: Duration::from_secs(60),
    };
    let options = UdpOptions { retry, seed: 7, ..UdpOptions::default() };
    let client = Udp::over(socket().await.unwrap(), options);
    let each = calls / ACCOUNTS;
    let mut checked = deposit_and_check(&client, relay.addr(), ACCOUNTS, each).await;
    let total = bank.total().await;
    if checked.is_ok() && total != u64::from(each * ACCOUNTS) {
        checked = Err(format!("{calls} calls, and the total is {total}"));
    }
    let counts = relay.counts().await;
    println!("{counts:?}, {:?}", server.counts().await);
    // Both directions, and calls are sent again: a tenth of a fifth of a thousand is a safe distance.
    let rate = |count: u64| count as f64 / counts.received as f64;
    assert!((rate(counts.dropped) - 0.1).abs() < 0.02, "{counts:?}");
    assert!((rate(counts.doubled) - 0.09).abs() < 0.02, "{counts:?}");
    assert!(rate(counts.late) > 0.15, "{counts:?}");
    (checked, server.counts().await.unwrap())
}

#[colored::test]
async fn each_call_is_executed_once_and_answered() {
    let calls = std::env::var("RPC_CALLS").map_or(CALLS, |calls| calls.parse().unwrap());
    let (checked, counts) = deposit(calls, UdpOptions::default()).await;
    checked.unwrap();
    assert_eq!(counts.calls, u64::from(calls), "each is executed once");
    assert!(counts.repeated > u64::from(calls / 10), "calls came again: {counts:?}");
}

/// The test above is one that can fail.
#[colored::test]
async fn without_a_cache_calls_are_executed_twice() {
    let options = UdpOptions { cache_bytes: 0, ..UdpOptions::default() };
    let (checked, counts) = deposit(2000, options).await;
    assert!(checked.is_err(), "{counts:?}");
    assert!(counts.calls > 2000);
}

#[colored::test]
async fn the_cache_is_bounded_by_bytes() {
    let options = UdpOptions { cache_bytes: 100_000, ..UdpOptions::default() };
    let (_, counts) = deposit(2000, options).await;
    assert!(counts.cached_bytes <= 100_000, "{counts:?}");
    assert!(counts.cached_bytes > 90_000, "it is used: {counts:?}");
}

const WAIT: Procedure = Procedure::new(0x2000_0007, 1, 1);

/// Waits for the gate.
async fn wait(gate: Arc<Semaphore>, _: Caller, number: u32) -> Result<u32, Refusal> {
    gate.acquire().await.map_err(|_| Refusal::SystemError)?.forget();
    Ok(number)
}

#[colored::test]
async fn a_call_that_comes_again_while_it_runs_is_dropped() {
    let gate = Arc::new(Semaphore::new(0));
    let server = Udp::bind("127.0.0.1:0").await.unwrap();
    server.serve(Services::new().with(service! {
        program WAIT.program, version 1, state Arc::clone(&gate);
        WAIT.number => wait, under |_, _| Color::DEFAULT;
    }));
    let (to, pause) = (server.local_addr().unwrap(), Duration::from_millis(10));
    let client = Udp::bind("127.0.0.1:0").await.unwrap();
    let retry = Retry { first: pause, most: pause, deadline: Duration::from_secs(60) };
    let client = client.with_retry(retry);
    let call = colored::spawn(async move {
        let answer: Result<u32, RpcError> = client.call(to, WAIT, &7_u32).await;
        answer
    });
    while server.counts().await.unwrap().in_progress < 3 {
        sleep(pause).await;
    }
    gate.add_permits(10);
    assert_eq!(call.await.unwrap().unwrap(), 7);
    assert_eq!(server.counts().await.unwrap().calls, 1, "it is executed once");
}
