//! CPU time per request: `colored` beside tokio and beside N copies of it.

use super::child::Server;
use super::load::{Limit, Load, Script};
use super::server::Kind;
use super::wire::Family;
use crate::measure::{Case, Entry, Mode, Pace, Role, Sample, Unit};
use crate::rivals::workers;
use std::io;
use std::path::Path;
use std::time::Duration;

/// One comparison of servers.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name in a `RATIO` line, before `_vs_` and the peer.
    pub name: &'static str,
    /// Keep-alive connections, all busy.
    pub connections: usize,
    /// Their requests.
    pub script: Script,
    /// The kind of connection.
    pub family: Family,
    /// Workers of each server; `None` for one per core.
    pub workers: Option<usize>,
    /// The measured server.
    pub subject: Kind,
    /// The servers to compare with.
    pub peers: &'static [Kind],
}

/// The rows of this file.
pub const ROWS: &[Row] = &[
    Row {
        name: "http_64",
        connections: 64,
        script: Script::HELLO,
        family: Family::Tcp,
        workers: None,
        subject: Kind::Colored,
        peers: &[Kind::TokioMt, Kind::TokioNCopy],
    },
    Row {
        name: "http_512",
        connections: 512,
        script: Script::HELLO,
        family: Family::Tcp,
        workers: None,
        subject: Kind::Colored,
        peers: &[Kind::TokioMt, Kind::TokioNCopy],
    },
    // One copy is tokio's current-thread runtime.
    Row {
        name: "http_64_one_worker",
        connections: 64,
        script: Script::HELLO,
        family: Family::Tcp,
        workers: Some(1),
        subject: Kind::Colored,
        peers: &[Kind::TokioNCopy],
    },
];

/// Samples of each server, and how long each loads it. The samples are many and short: the kernel
/// places threads anew in each, and a median evens that out.
const fn windows(mode: Mode) -> (usize, Duration) {
    match mode {
        Mode::Full => (31, Duration::from_millis(250)),
        Mode::Quick => (15, Duration::from_millis(120)),
        Mode::Smoke => (1, Duration::from_millis(20)),
    }
}

/// Samples of a process before it is started anew. The place of its memory, and which connections
/// share a worker, are chance, and last as long as the process: with 1,024 connections, two
/// processes of one kind differ by up to 10 %.
const SAMPLES_A_PROCESS: usize = 8;

impl Row {
    /// Starts the servers and opens the connections.
    ///
    /// # Errors
    ///
    /// If a server does not start, or a connection is refused.
    pub fn build(&self, program: &Path, mode: Mode) -> io::Result<Case> {
        let (rounds, window) = windows(mode);
        let (connections, script, family) = (self.connections, self.script, self.family);
        let entry = |(role, kind): (Role, Kind)| -> io::Result<Entry> {
            let name = if (kind, self.workers) == (Kind::TokioNCopy, Some(1)) {
                "tokio_ct"
            } else {
                kind.name()
            };
            let workers = self.workers.unwrap_or_else(workers);
            let program = program.to_owned();
            let start = move || -> io::Result<(Server, Load)> {
                let server = Server::start(&program, kind, workers, family)?;
                let load = Load::connect(&server.address, connections, script)?;
                Ok((server, load))
            };
            let mut running = Some(start()?);
            let mut taken = 0;
            let sample = move || {
                taken += 1;
                if taken > SAMPLES_A_PROCESS {
                    // The old process ends first: two would share sockets and cores.
                    running = None;
                    taken = 1;
                }
                let running = running.get_or_insert_with(|| start().expect("the server starts"));
                let (server, load) = running;
                sample(server, load, window).expect("every answer is right")
            };
            Ok(Entry { name, role, sample: Box::new(sample) })
        };
        let peers = self.peers.iter().map(|&peer| (Role::Peer, peer));
        let entries = [(Role::Subject, self.subject)].into_iter().chain(peers).map(entry);
        let entries = entries.collect::<io::Result<_>>()?;
        Ok(Case { unit: Unit::us("us-cpu/request"), pace: Pace::Rounds(rounds), entries })
    }
}

/// One window of load. A wrong response fails it: a server that errs is not fast.
///
/// # Errors
///
/// If a response is wrong or missing, or the server is gone.
pub fn sample(server: &mut Server, load: &mut Load, window: Duration) -> io::Result<Sample> {
    let before = server.cpu_time()?;
    let tally = load.run(Limit::time(window))?;
    let cost = server.cpu_time()? - before;
    if tally.errors > 0 {
        return Err(io::Error::other(format!("{tally:?}")));
    }
    Ok(Sample { cost, wall: tally.wall, ops: tally.requests })
}
