//! Messages that want no answer: their time, and the memory of those that wait.

use crate::actors::{self, NAMES, POSTS};
use crate::foreign::{self, Tool};
use crate::memory;
use crate::setup::Setup;
use colored_benches::measure::{Case, Entry, Role, Sample, Unit};

pub(super) fn time(setup: &Setup) -> Case {
    let count = setup.count(POSTS, 1_000);
    let mut entries: Vec<_> = NAMES
        .iter()
        .map(|&name| {
            let mut post = actors::post(setup, name).expect("it is one of the names");
            let sample = move || {
                Sample::time(count, || assert_eq!(post(count), count, "a message was lost"))
            };
            Entry { name, role: role(name), sample: Box::new(sample) }
        })
        .collect();
    entries.extend(foreign::entry(Tool::Go, "post", count));
    entries.extend(foreign::entry(Tool::Asio, "post", count));
    Case { unit: Unit::ns("ns/message"), pace: setup.rounds(5), entries }
}

pub(super) fn memory(setup: &Setup) -> Case {
    let mode = setup.mode;
    let rival =
        |&name: &&'static str| memory::entry(role(name), name, format!("post:{name}"), mode);
    let mut entries: Vec<_> = NAMES.iter().map(rival).collect();
    let count = setup.count(POSTS, 1_000);
    entries.extend(foreign::fresh_entry(Tool::Go, "post_memory", count));
    entries.extend(foreign::fresh_entry(Tool::Asio, "post_memory", count));
    Case { unit: memory::kibibytes("KiB"), pace: setup.rounds(1), entries }
}

fn role(name: &str) -> Role {
    if name == NAMES[0] { Role::Subject } else { Role::Peer }
}
