//! [`Child`]: a server in a process of its own, whose CPU time is counted alone.

use crate::Failure;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{self, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A server that ends when this is dropped.
pub(crate) struct Child {
    process: process::Child,
    /// What it prints later goes here: it must not be closed.
    _output: BufReader<ChildStdout>,
    pub(crate) tcp: SocketAddr,
    pub(crate) udp: SocketAddr,
}

impl Child {
    /// Starts a server with so many workers, under one color or under a color for each client.
    pub(crate) fn start(workers: usize, is_serial: bool) -> Result<Self, Failure> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["serve", &workers.to_string()]).args(is_serial.then_some("serial"));
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let mut output = BufReader::new(process.stdout.take().ok_or("no output")?);
        let mut addr = || -> Result<SocketAddr, Failure> {
            let mut line = String::new();
            output.read_line(&mut line)?;
            Ok(line.split_whitespace().last().ok_or("no address")?.parse()?)
        };
        let (tcp, udp) = (addr()?, addr()?);
        Ok(Self { process, _output: output, tcp, udp })
    }

    /// The CPU time of the server so far, in steps of 10 ms. Linux has it.
    pub(crate) fn cpu_time(&self) -> Result<Duration, Failure> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // Behind the name, which is in parentheses: fields 14 and 15 of the line, in hundredths of a second.
        let fields = stat.rsplit_once(')').ok_or("no name")?.1.split_whitespace();
        let ticks: Result<Vec<u64>, _> = fields.skip(11).take(2).map(str::parse).collect();
        Ok(Duration::from_millis(ticks?.iter().sum::<u64>() * 10))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It has no state that matters.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
