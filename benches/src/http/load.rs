//! The load generator: keep-alive HTTP/1.1 clients, all on the calling thread.
//!
//! Every connection has one request under way at any time. Every response is checked: status,
//! length, and body to the byte. [`Load::run`] is a closed loop, as wrk is: the next request follows the
//! response. [`Load::run_paced`] is an open loop: requests do not wait for responses.

mod connection;
mod paced;
mod response;
mod script;

pub use paced::Paced;
pub use script::Script;

use super::wire::Address;
use crate::placement::Placement;
use connection::{Connection, State};
use mio::{Events, Poll};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Connections opened at once: fewer than any listener's backlog.
const BATCH: usize = 100;

/// The longest sleep, so that the loop sees the end of its time.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long a response may take once the load has ended, before it counts as an error.
const GRACE: Duration = Duration::from_secs(5);

/// When a load ends.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// No request starts after this time.
    pub time: Duration,
    /// No request starts after this many responses.
    pub requests: u64,
}

impl Limit {
    /// A limit of time alone.
    #[must_use]
    pub const fn time(time: Duration) -> Self {
        Self { time, requests: u64::MAX }
    }
}

/// The result of a load.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Responses that were right.
    pub requests: u64,
    /// Responses that were wrong or never came, and connections that broke.
    pub errors: u64,
    /// From the first request to the last response.
    pub wall: Duration,
    /// Right responses per second up to the limit, without later ones.
    pub rate: f64,
    /// CPU time of the clients' thread.
    pub cpu: Duration,
}

/// Open connections to one server.
pub struct Load {
    server: Address,
    script: Script,
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    buffer: Box<[u8]>,
}

impl Load {
    /// Opens `count` connections, and sends one request on each so that all are accepted. They
    /// come in batches, so that the server's backlog does not overflow.
    ///
    /// # Errors
    ///
    /// If a connection cannot be opened, or a first response is wrong or does not come.
    pub fn connect(server: &Address, count: usize, script: Script) -> io::Result<Self> {
        let mut load = Self {
            server: server.clone(),
            script,
            poll: Poll::new()?,
            events: Events::with_capacity(1_024),
            connections: Vec::with_capacity(count),
            buffer: vec![0; 4_096].into(),
        };
        for first in (0..count).step_by(BATCH) {
            for index in first..count.min(first + BATCH) {
                let visit = script.first_visit(index);
                let opened = Connection::open(server, load.poll.registry(), index, visit)?;
                load.connections.push(opened);
            }
            let tally = load.drive(first, Limit { time: GRACE, requests: 0 })?;
            if tally.errors > 0 {
                return Err(io::Error::other(format!("after {first} connections: {tally:?}")));
            }
        }
        Ok(load)
    }

    /// Keeps every connection busy up to the limit, then waits for the last responses.
    ///
    /// The calling thread keeps to one core meanwhile. With 512 connections, two servers of one
    /// kind then came within 2 % of each other in CPU time per request, in the median over paired
    /// rounds; with a client that changed cores, within 6 %.
    ///
    /// Every connection sends at least one request. A connection that breaks is not used again, and
    /// counts as one error in each later run.
    ///
    /// # Errors
    ///
    /// If polling fails, a connection cannot be opened anew, or the threads of this process cannot be
    /// placed.
    pub fn run(&mut self, limit: Limit) -> io::Result<Tally> {
        let _placed = Placement::Apart.hold()?;
        self.drive(0, limit)
    }

    /// Drives the connections from `first` on; the earlier connections stay idle.
    fn drive(&mut self, first: usize, limit: Limit) -> io::Result<Tally> {
        let (start, cpu) = (Instant::now(), thread_cpu());
        let mut tally = Tally::default();
        let mut waiting = 0;
        let mut in_time = 0_u64;
        for index in first..self.connections.len() {
            self.send(index)?;
            waiting += usize::from(self.connections[index].state == State::Waiting);
        }
        while waiting > 0 {
            let timeout = self.script.look.map_or(PATIENCE, |pause| {
                thread::sleep(pause);
                Duration::ZERO
            });
            if !poll(&mut self.poll, &mut self.events, timeout)? {
                continue;
            }
            let passed = start.elapsed();
            if passed > limit.time + GRACE {
                self.give_up();
                break;
            }
            // Moved out of `self` meanwhile, so that connections can be opened.
            let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
            for event in &events {
                let index = event.token().0;
                let more = passed < limit.time && tally.requests < limit.requests;
                waiting -= usize::from(self.connections[index].state == State::Waiting);
                if self.connections[index].receive(&mut self.buffer, &self.script) {
                    tally.requests += 1;
                    if more {
                        self.send(index)?;
                    }
                }
                waiting += usize::from(self.connections[index].state == State::Waiting);
                if more {
                    in_time = tally.requests;
                }
            }
            self.events = events;
        }
        tally.errors = self.broken();
        tally.wall = start.elapsed();
        tally.rate = in_time as f64 / tally.wall.min(limit.time).as_secs_f64();
        tally.cpu = thread_cpu() - cpu;
        Ok(tally)
    }

    /// Sends a request, on a new connection if the old one is spent.
    fn send(&mut self, index: usize) -> io::Result<()> {
        let connection = &mut self.connections[index];
        if let (State::Spent, Some(visit)) = (connection.state, self.script.visit) {
            *connection = Connection::open(&self.server, self.poll.registry(), index, visit)?;
        }
        connection.send(&self.script);
        Ok(())
    }

    fn broken(&self) -> u64 {
        let broken = self.connections.iter().filter(|one| one.state == State::Broken);
        broken.count() as u64
    }

    fn give_up(&mut self) {
        for connection in &mut self.connections {
            if connection.state == State::Waiting {
                connection.state = State::Broken;
            }
        }
    }
}

/// Waits for events; false if it was interrupted.
fn poll(poll: &mut Poll, events: &mut Events, timeout: Duration) -> io::Result<bool> {
    match poll.poll(events, Some(timeout)) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        other => other.map(|()| true),
    }
}

/// CPU time of the calling thread so far.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
