//! `rpc demo`: what survives, and what a foreign client sees.

use crate::Failure;
use crate::process::Child;
use colored::Runtime;
use colored::net::UdpSocket;
use colored::time::{Duration, Instant};
use rpc::bank::{Bank, PROGRAM, deposit_and_check};
use rpc::relay::{Loss, Relay};
use rpc::{Retry, Udp, UdpOptions};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

const ACCOUNTS: u32 = 50;
const DEPOSITS: u32 = 400;

/// Where Debian's package has it; its folder is not in everybody's path.
const RPCINFO: &str = "/usr/sbin/rpcinfo";

pub(crate) fn run() -> Result<(), Failure> {
    println!("This ends by itself, after some seconds. Ctrl-C stops it.\n");
    let with_cache = lose(UdpOptions::default())?;
    let without_cache = lose(UdpOptions { cache_bytes: 0, ..UdpOptions::default() })?;
    ask_rpcinfo()?;
    match (with_cache, without_cache) {
        (Ok(()), Err(_)) => Ok(()),
        (Err(wrong), _) => Err(wrong.into()),
        (_, Ok(())) => Err("without a cache, no call was executed twice".into()),
    }
}

/// Makes calls through a lossy network, and prints what has come of them.
fn lose(options: UdpOptions) -> Result<Result<(), String>, Failure> {
    let cache = match options.cache_bytes {
        0 => "without a cache of replies",
        _ => "with a cache of replies",
    };
    println!("{} deposits over UDP, {cache}; the network loses 10 %,", ACCOUNTS * DEPOSITS);
    println!("doubles 10 % and delays 20 % of the datagrams, each way:");
    let runtime = Runtime::builder().workers(2).build()?;
    let begin = Instant::now();
    let (checked, lines) = runtime.run(deposit(options))?;
    println!("{lines}\n  {:.1} s", begin.elapsed().as_secs_f64());
    match &checked {
        Ok(()) => println!("  each deposit was executed once and answered: balances as expected\n"),
        Err(wrong) => println!("  WRONG, as expected without the cache: {}..\n", shorten(wrong)),
    }
    Ok(checked)
}

fn shorten(text: &str) -> String {
    text.chars().take(90).collect()
}

async fn deposit(options: UdpOptions) -> io::Result<(Result<(), String>, String)> {
    let server = Udp::over(UdpSocket::bind("127.0.0.1:0").await?, options);
    let bank = Bank::new(ACCOUNTS);
    server.serve(bank.services());
    let relay = Relay::start("127.0.0.1:0", server.local_addr()?, Loss::default(), 42).await?;
    let retry = Retry {
        first: Duration::from_millis(15),
        most: Duration::from_millis(200),
        deadline: Duration::from_secs(60),
    };
    let options = UdpOptions { retry, ..UdpOptions::default() };
    let client = Udp::over(UdpSocket::bind("127.0.0.1:0").await?, options);
    let mut checked = deposit_and_check(&client, relay.addr(), ACCOUNTS, DEPOSITS).await;
    let total = bank.total().await;
    if total != u64::from(ACCOUNTS * DEPOSITS) && checked.is_ok() {
        checked = Err(format!("the balances are {total} together"));
    }
    let network = relay.counts().await;
    let seen = server.counts().await.map_err(io::Error::other)?;
    let lines = format!(
        "  network  {} datagrams: {} lost, {} doubled, {} late\n  \
           server   {} calls executed, {} answered again, {} dropped while they ran\n  \
           balances {total} together",
        network.received,
        network.dropped,
        network.doubled,
        network.late,
        seen.calls,
        seen.repeated,
        seen.in_progress
    );
    Ok((checked, lines))
}

/// Compares what `rpcinfo` says with what a server has.
fn ask_rpcinfo() -> Result<(), Failure> {
    if !Path::new(RPCINFO).exists() {
        println!("{RPCINFO} is not installed: it is in Debian's package rpcbind");
        return Ok(());
    }
    let server = Child::start(2, false)?;
    let cases = [
        ("the program", PROGRAM, 1, "ready and waiting"),
        ("version 2 of it", PROGRAM, 2, "low version = 1, high version = 1"),
        ("another program", PROGRAM + 100, 1, "Program unavailable"),
    ];
    for (transport, addr) in [("tcp", server.tcp), ("udp", server.udp)] {
        for (what, program, version, expected) in cases {
            let said = rpcinfo(addr, transport, program, version)?;
            let is_same = said.contains(expected);
            println!("rpcinfo -T {transport}, {what}: {said}");
            if !is_same {
                return Err(format!("expected: {expected}").into());
            }
        }
    }
    Ok(())
}

fn rpcinfo(
    addr: SocketAddr,
    transport: &str,
    program: u32,
    version: u32,
) -> Result<String, Failure> {
    let [high, low] = addr.port().to_be_bytes();
    let addr = format!("{}.{high}.{low}", addr.ip());
    let output = Command::new(RPCINFO)
        .args(["-a", &addr, "-T", transport, &program.to_string(), &version.to_string()])
        .output()?;
    let text = String::from_utf8([output.stdout, output.stderr].concat())?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}
