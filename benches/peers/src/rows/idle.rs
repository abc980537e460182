//! What a task costs that waits.

use crate::foreign::{self, Tool};
use crate::memory;
use crate::setup::Setup;
use colored_benches::measure::{Case, Role};

pub(super) fn case(setup: &Setup, subject: &str) -> Case {
    let mode = setup.mode;
    let mut entries =
        vec![memory::entry(Role::Subject, "colored", format!("idle:{subject}"), mode)];
    let peers = ["tokio", "smol", "async-executor"];
    entries.extend(peers.map(|name| memory::entry(Role::Peer, name, format!("idle:{name}"), mode)));
    entries.extend(foreign::fresh_entry(Tool::Go, "idle", setup.count(200_000, 1_000)));
    Case { unit: memory::bytes("B/task"), pace: setup.rounds(1), entries }
}
