//! `redis-benchmark` against all servers in turn.

use crate::server::SERVERS;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    rounds: usize,
    requests: u32,
}

pub(crate) const FULL: Size = Size { rounds: 5, requests: 400_000 };
pub(crate) const QUICK: Size = Size { rounds: 1, requests: 20_000 };

/// The rows: commands in flight of each of the 50 connections, and what a command computes.
const ROWS: [(u32, u32); 3] = [(1, 0), (16, 0), (1, 10)];

const CONNECTIONS: u32 = 50;

/// What a run of a server has taken, per request.
#[derive(Clone, Copy, Default)]
struct Taken {
    cpu_nanos: f64,
    clock_nanos: f64,
    resident_kib: f64,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) fn run(size: Size) -> Result<()> {
    if Command::new("redis-benchmark").arg("--version").output().is_err() {
        println!("redis-benchmark is not installed (Debian: redis-tools): nothing was measured");
        return Ok(());
    }
    println!(
        "{CONNECTIONS} connections, SET and GET of 100,000 keys, 2 workers; medians of {} rounds",
        size.rounds
    );
    println!(
        "| pipeline | computes | server | CPU a request | of `lock` | requests a second | of `lock` | resident |"
    );
    println!("|---:|---:|---|---:|---:|---:|---:|---:|");
    for (pipeline, compute) in ROWS {
        let requests = match (pipeline, compute) {
            (1, 0) => size.requests / 2,
            (_, 0) => size.requests,
            _ => size.requests / 8,
        };
        let mut all = [const { Vec::new() }; SERVERS.len()];
        for _ in 0..size.rounds {
            for (taken, (name, _)) in all.iter_mut().zip(SERVERS) {
                taken.push(measure(name, pipeline, compute, requests)?);
            }
        }
        let median = |of: &[Taken], get: fn(&Taken) -> f64| {
            let mut all: Vec<_> = of.iter().map(get).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let first = (median(&all[0], |one| one.cpu_nanos), median(&all[0], |one| one.clock_nanos));
        for (taken, (_, meaning)) in all.iter().zip(SERVERS) {
            let (cpu, clock) =
                (median(taken, |one| one.cpu_nanos), median(taken, |one| one.clock_nanos));
            println!(
                "| {pipeline} | {compute} µs | {meaning} | {:.2} µs | {:.2} | {:.0} | {:.2} | {:.1} MiB |",
                cpu / 1e3,
                cpu / first.0,
                1e9 / clock,
                first.1 / clock,
                median(taken, |one| one.resident_kib) / 1024.0,
            );
        }
    }
    Ok(())
}

/// Starts a server, and has `redis-benchmark` send so many requests of each kind.
fn measure(name: &str, pipeline: u32, compute: u32, requests: u32) -> Result<Taken> {
    let mut server = Server::start(name, compute)?;
    // A first round makes the values and warms everything up.
    server.load(pipeline, requests / 10)?;
    let before = server.ask()?;
    let begin = std::time::Instant::now();
    server.load(pipeline, requests)?;
    let (clock, after) = (begin.elapsed(), server.ask()?);
    let of_request = f64::from(requests) * 2.0;
    Ok(Taken {
        cpu_nanos: (after.0 - before.0) as f64 / of_request,
        clock_nanos: clock.as_nanos() as f64 / of_request,
        resident_kib: after.1 as f64,
    })
}

struct Server {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    port: String,
}

impl Server {
    fn start(name: &str, compute: u32) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", name, "2", &compute.to_string()]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(questions), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("the pipes were asked for".into());
        };
        let mut answers = BufReader::new(answers);
        let mut line = String::new();
        answers.read_line(&mut line)?;
        let port = line.trim().strip_prefix("PORT ").ok_or("the server did not start")?.to_owned();
        Ok(Self { process, questions, answers, port })
    }

    /// Its CPU time in nanoseconds, and its resident memory in KiB.
    fn ask(&mut self) -> Result<(u64, u64)> {
        writeln!(self.questions)?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let (nanos, kib) = line.trim().split_once(' ').ok_or("the server has ended")?;
        Ok((nanos.parse()?, kib.parse()?))
    }

    fn load(&self, pipeline: u32, requests: u32) -> Result<()> {
        let mut command = Command::new("redis-benchmark");
        command.args(["-q", "-h", "127.0.0.1", "-t", "set,get", "-r", "100000", "-p", &self.port]);
        command.args(["-c", &CONNECTIONS.to_string(), "-P", &pipeline.to_string()]);
        command.args(["-n", &requests.to_string()]);
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let ended = output.status.success() && said.contains("GET: ") && !said.contains("rror");
        if ended { Ok(()) } else { Err(format!("redis-benchmark failed: {said}").into()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
