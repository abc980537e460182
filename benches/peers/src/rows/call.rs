//! A request and its answer: clients add one, and are told the sum.

use crate::actors::{self, NAMES};
use crate::foreign::{self, Tool};
use crate::setup::Setup;
use colored_benches::measure::{Case, Entry, Role, Sample, Unit};

pub(super) fn case(setup: &Setup, clients: u64) -> Case {
    let each = setup.count(25_600, 256) / clients;
    let mut entries: Vec<_> = NAMES
        .iter()
        .map(|&name| {
            let mut call = actors::call(setup, name).expect("it is one of the names");
            let sample = move || {
                let count = clients * each;
                Sample::time(count, || {
                    assert_eq!(call(clients, each), count, "a call was lost");
                })
            };
            let role = if name == NAMES[0] { Role::Subject } else { Role::Peer };
            Entry { name, role, sample: Box::new(sample) }
        })
        .collect();
    let work = if clients == 1 { "call" } else { "call_64" };
    entries.extend(foreign::entry(Tool::Go, work, each));
    entries.extend(foreign::entry(Tool::Asio, work, each));
    Case { unit: Unit::ns("ns/call"), pace: setup.pace(), entries }
}
