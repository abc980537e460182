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

const MEASURED: Duration = Duration::from_secs(2);

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

pub(crate) fn run() -> Result<(), Failure> {
    println!(
        "{CLIENTS} clients in this process, {PIPELINED} calls under way each; the server is another process."
    );
    println!("This ends by itself, after about 40 s. Ctrl-C stops it.\n");
    println!("| transport | a call | colors | workers | calls/s | CPU µs of the server a call |");
    println!("|---|---|---|---|---|---|");
    for transport in ["TCP", "UDP"] {
        for rounds in [0, ROUNDS] {
            for (is_serial, workers) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
                measure(transport, rounds, is_serial, workers)?;
            }
        }
    }
    Ok(())
}

fn measure(
    transport: &'static str,
    rounds: u32,
    is_serial: bool,
    workers: usize,
) -> Result<(), Failure> {
    let server = Child::start(workers, is_serial)?;
    let before = server.cpu_time()?;
    let runtime = Runtime::builder().workers(2).build()?;
    let begin = Instant::now();
    let (tcp, udp) = (server.tcp, server.udp);
    let calls = runtime.run(async move {
        let mut callers = Vec::new();
        for _ in 0..CLIENTS {
            let remote = match transport {
                "TCP" => Remote::over_tcp(tcp).await?,
                _ => Remote::over_udp(udp).await?,
            };
            for _ in 0..PIPELINED {
                let calling = remote.clone().call_until(begin + MEASURED, rounds);
                callers.push(spawn_unique(calling));
            }
        }
        let mut calls = 0;
        for caller in callers {
            calls += caller.await??;
        }
        Ok::<_, Failure>(calls)
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    let cpu = server.cpu_time()?.saturating_sub(before).as_secs_f64();
    let call = if rounds == 0 { "empty" } else { "computes" };
    let colors = if is_serial { "one" } else { "one a client" };
    let (rate, each) = (f64::from(calls) / seconds, cpu / f64::from(calls) * 1e6);
    println!("| {transport} | {call} | {colors} | {workers} | {rate:.0} | {each:.1} |");
    Ok(())
}
