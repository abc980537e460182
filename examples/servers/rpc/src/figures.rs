//! `rpc figures`: calls a second, and CPU time of the server for each.

use crate::Failure;
use crate::load::COMPUTE;
use crate::process::Child;
use colored::net::{TcpStream, UdpSocket};
use colored::time::Instant;
use colored::{Runtime, spawn_unique};
use rpc::{Client, Connection, Retry, RpcError, Udp, UdpOptions};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Clients with a color each, and calls that each of them has under way.
const CLIENTS: usize = 8;
const PIPELINED: usize = 16;

/// Rounds of a call that computes: some 50 µs.
const ROUNDS: u32 = 60_000;

/// How often each row is measured, and how long each time.
const REPEATED: usize = 5;
const MEASURED: Duration = Duration::from_millis(500);

/// A client, and the way on which it calls.
#[derive(Clone)]
enum Remote {
    Tcp(Client),
    Udp(Udp, SocketAddr),
}

impl Remote {
    async fn over_tcp(server: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(Connection::over(stream).open()))
    }

    async fn over_udp(server: SocketAddr) -> io::Result<Self> {
        let retry = Retry { first: Duration::from_millis(200), ..Retry::default() };
        let options = UdpOptions { retry, ..UdpOptions::default() };
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        Ok(Self::Udp(Udp::over(socket, options), server))
    }

    /// Calls until then; the number of calls.
    async fn call_until(self, end: Instant, rounds: u32) -> Result<u32, RpcError> {
        let mut calls = 0;
        while Instant::now() < end {
            let _: u64 = match &self {
                Self::Tcp(client) => client.call(COMPUTE, &rounds).await?,
                Self::Udp(udp, server) => udp.call(*server, COMPUTE, &rounds).await?,
            };
            calls += 1;
        }
        Ok(calls)
    }
}

/// What is measured: a row of the table.
struct Row {
    transport: &'static str,
    rounds: u32,
    is_serial: bool,
    workers: usize,
    /// Calls a second, and CPU seconds of the server for a call, of each round.
    seen: Vec<(f64, f64)>,
}

pub(crate) fn run() -> Result<(), Failure> {
    println!(
        "{CLIENTS} clients in this process, {PIPELINED} calls under way each; the server is another process."
    );
    println!(
        "Medians of {REPEATED} rounds. This ends by itself, after some 45 s. Ctrl-C stops it.\n"
    );
    let mut rows = rows();
    for repeated in 0..REPEATED {
        // To and fro: what changes with time is in the rows alike.
        match repeated % 2 {
            0 => rows.iter_mut().try_for_each(Row::measure)?,
            _ => rows.iter_mut().rev().try_for_each(Row::measure)?,
        }
    }
    println!(
        "| transport | a call | colors | workers | calls/s | CPU µs of the server a call | least to most |"
    );
    println!("|---|---|---|---|---|---|---|");
    rows.iter().for_each(Row::print);
    Ok(())
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for transport in ["TCP", "UDP"] {
        for rounds in [0, ROUNDS] {
            for (is_serial, workers) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
                rows.push(Row { transport, rounds, is_serial, workers, seen: Vec::new() });
            }
        }
    }
    rows
}

impl Row {
    fn measure(&mut self) -> Result<(), Failure> {
        let server = Child::start(self.workers, self.is_serial)?;
        let before = server.cpu_time()?;
        let runtime = Runtime::builder().workers(2).build()?;
        let begin = Instant::now();
        let calls = runtime.run(call_all(self.transport, server.tcp, server.udp, self.rounds))?;
        let seconds = begin.elapsed().as_secs_f64();
        let cpu = server.cpu_time()?.saturating_sub(before).as_secs_f64();
        self.seen.push((f64::from(calls) / seconds, cpu / f64::from(calls)));
        Ok(())
    }

    fn print(&self) {
        let Self { transport, rounds, is_serial, workers, seen } = self;
        let call = if *rounds == 0 { "empty" } else { "computes" };
        let colors = if *is_serial { "one" } else { "one a client" };
        let rate = Spread::of(seen.iter().map(|(rate, _)| *rate)).median;
        let Spread { least, median, most } = Spread::of(seen.iter().map(|(_, cpu)| cpu * 1e6));
        println!(
            "| {transport} | {call} | {colors} | {workers} | {rate:.0} | {median:.1} | {least:.1} to {most:.1} |"
        );
    }
}

/// Calls from all clients for a while; the number of calls.
async fn call_all(
    transport: &str,
    tcp: SocketAddr,
    udp: SocketAddr,
    rounds: u32,
) -> Result<u32, Failure> {
    let end = Instant::now() + MEASURED;
    let mut callers = Vec::new();
    for _ in 0..CLIENTS {
        let remote = match transport {
            "TCP" => Remote::over_tcp(tcp).await?,
            _ => Remote::over_udp(udp).await?,
        };
        for _ in 0..PIPELINED {
            callers.push(spawn_unique(remote.clone().call_until(end, rounds)));
        }
    }
    let mut calls = 0;
    for caller in callers {
        calls += caller.await??;
    }
    Ok(calls)
}

/// The least, the median and the most of some values.
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let most = values[values.len() - 1];
        Self { least: values[0], median: values[values.len() / 2], most }
    }
}
