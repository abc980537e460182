//! CPU time of a server's process for a request: every connection has one under way.
//!
//! hyper serves on `colored`, on tokio, and on as many current-thread tokio runtimes as workers.

use crate::foreign::Tool;
use crate::server::{self, Nginx, nginx_version};
use crate::setup::Setup;
use colored_benches::http::child::Server;
use colored_benches::http::load::{Limit, Load, Script};
use colored_benches::http::rows;
use colored_benches::measure::{Case, Entry, Role, Sample, Unit};
use std::io;
use std::time::Duration;

/// The names of servers with a pipe, ours first, and what the table calls them.
const SERVERS: [(&str, &str); 5] = [
    ("colored", "colored"),
    ("tokio", "tokio"),
    ("ncopy", "tokio, one runtime a core"),
    ("actix-web", "actix-web"),
    ("may_minihttp", "may_minihttp"),
];

pub(super) fn case(setup: &Setup, connections: usize) -> Case {
    let window = Duration::from_millis(setup.count(250, 20));
    let entry = |kind: &'static str, name: &'static str, start: Start| {
        let role = if kind == SERVERS[0].0 { Role::Subject } else { Role::Peer };
        let mut running = Running::start(start, kind, connections).expect(name);
        Entry { name, role, sample: Box::new(move || running.sample(window).expect(name)) }
    };
    let mut entries: Vec<_> =
        SERVERS.iter().map(|&(kind, name)| entry(kind, name, Start::Piped)).collect();
    if Tool::Go.program().is_some() {
        entries.push(entry("Go", "Go", Start::Piped));
    }
    if nginx_version().is_ok() {
        entries.push(entry("nginx", "nginx", Start::Nginx));
    }
    Case { unit: Unit::us("us/request"), pace: setup.rounds(4), entries }
}

/// How a server starts.
#[derive(Clone, Copy)]
enum Start {
    Piped,
    Nginx,
}

/// A server and its connections, which go first.
enum Running {
    Piped(Load, Server),
    Nginx(Load, Nginx),
}

impl Running {
    fn start(start: Start, kind: &str, connections: usize) -> io::Result<Self> {
        let script = Script::HELLO;
        match start {
            Start::Piped => {
                let server = server::start(kind)?;
                Ok(Self::Piped(Load::connect(&server.address, connections, script)?, server))
            }
            Start::Nginx => {
                let nginx = Nginx::start()?;
                Ok(Self::Nginx(Load::connect(&nginx.address, connections, script)?, nginx))
            }
        }
    }

    fn sample(&mut self, window: Duration) -> io::Result<Sample> {
        match self {
            Self::Piped(load, server) => rows::sample(server, load, window),
            Self::Nginx(load, nginx) => {
                let before = nginx.cpu_time()?;
                let tally = load.run(Limit::time(window))?;
                let cost = nginx.cpu_time()? - before;
                if tally.errors > 0 {
                    return Err(io::Error::other(format!("{tally:?}")));
                }
                Ok(Sample { cost, wall: tally.wall, ops: tally.requests })
            }
        }
    }
}
