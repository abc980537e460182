//! The memory of a server for each connection that it keeps.

use crate::foreign::Tool;
use crate::memory::{self, PAGE};
use crate::server::{self, Nginx, nginx_version};
use crate::setup::Setup;
use colored_benches::http::load::{Load, Script};
use colored_benches::http::wire::Address;
use colored_benches::measure::{Case, Entry, Role, Sample};
use std::io;
use std::time::Duration;

/// Connections that each server has before it is measured: they make what every process has.
const FIRST: usize = 200;

/// The names of servers with a pipe, ours first, and what the table calls them. tokio's is hyper without what `serve` adds.
const SERVERS: [(&str, &str); 4] = [
    ("colored_serve", "colored"),
    ("tokio", "tokio"),
    ("actix-web", "actix-web"),
    ("may_minihttp", "may_minihttp"),
];

pub(super) fn case(setup: &Setup) -> Case {
    let count = setup.count(2_000, 20);
    let piped = move |kind: &'static str, name: &'static str| {
        let role = if kind == SERVERS[0].0 { Role::Subject } else { Role::Peer };
        let sample = move || {
            let server = server::start(kind).expect(name);
            grown(&server.address, count, || memory::resident_of(server.id())).expect(name)
        };
        Entry { name, role, sample: Box::new(sample) }
    };
    let mut entries: Vec<_> = SERVERS.iter().map(|&(kind, name)| piped(kind, name)).collect();
    if Tool::Go.program().is_some() {
        entries.push(piped("Go", "Go"));
    }
    if nginx_version().is_ok() {
        let sample = move || {
            let nginx = Nginx::start().expect("nginx");
            let all = || nginx.processes()?.into_iter().map(memory::resident_of).sum();
            grown(&nginx.address, count, all).expect("nginx")
        };
        entries.push(Entry { name: "nginx", role: Role::Peer, sample: Box::new(sample) });
    }
    Case { unit: memory::bytes("B/connection"), pace: setup.rounds(1), entries }
}

/// By how much a server's memory grows, while so many connections each send a request and stay.
fn grown(
    server: &Address,
    count: u64,
    resident: impl Fn() -> io::Result<u64>,
) -> io::Result<Sample> {
    let first = Load::connect(server, FIRST, Script::HELLO)?;
    let before = resident()?;
    let rest = Load::connect(server, count as usize, Script::HELLO)?;
    let grown = resident()?.saturating_sub(before).max(PAGE);
    drop((first, rest));
    let cost = Duration::from_nanos(grown);
    Ok(Sample { cost, wall: cost, ops: count })
}
