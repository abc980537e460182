//! The kernels of the bug suite, compiled against what the crate names `colored`: the runtime itself, or a stand-in with
//! its names over another simulator. The crate has this file as its module `suite`, and says what a hang looks like.

use crate::HANGS;
use std::pin::Pin;

#[path = "kernels/cancelled.rs"]
mod cancelled;
#[path = "kernels/channels.rs"]
mod channels;
#[path = "kernels/convul.rs"]
mod convul;
#[path = "kernels/events.rs"]
mod events;
#[path = "kernels/issues.rs"]
mod issues;
#[path = "kernels/locks.rs"]
mod locks;
#[path = "kernels/mixed.rs"]
mod mixed;
#[path = "kernels/pushes.rs"]
mod pushes;
#[path = "kernels/sctbench.rs"]
mod sctbench;
#[path = "kernels/services.rs"]
mod services;
#[path = "kernels/tools.rs"]
mod tools;
#[path = "kernels/waits.rs"]
mod waits;

type Program = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A program with a bug that some schedules show, and its twin without.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    /// A part of the failure's message.
    pub(crate) text: &'static str,
    /// With the bug, or without.
    pub(crate) program: fn(bool) -> Program,
}

/// As the suite's own macro: grain, function, source, and a part of the failure's message.
macro_rules! kernels {
    ($($grain:ident $name:ident $source:literal $text:expr;)*) => {
        pub(super) const KERNELS: &[$crate::suite::Kernel] = &[$($crate::suite::Kernel {
            name: stringify!($name),
            text: $text,
            program: |wrong| Box::pin($name(wrong)),
        }),*];
    };
}
use kernels;

/// The kernels by module, and the module.
const FAMILIES: [(&str, &[Kernel]); 11] = [
    ("locks", locks::KERNELS),
    ("channels", channels::KERNELS),
    ("mixed", mixed::KERNELS),
    ("waits", waits::KERNELS),
    ("sctbench", sctbench::KERNELS),
    ("convul", convul::KERNELS),
    ("events", events::KERNELS),
    ("cancelled", cancelled::KERNELS),
    ("issues", issues::KERNELS),
    ("services", services::KERNELS),
    ("pushes", pushes::KERNELS),
];

/// The kernels that are in reach of a simulation by turns, with their families.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static Kernel)> {
    FAMILIES.iter().flat_map(|(family, kernels)| kernels.iter().map(|kernel| (*family, kernel)))
}

/// The first seed of the search of that number. No search of another kernel has its seeds: else the luck of nine seeds, of which
/// some have one worker, would be in all rows.
pub(crate) fn first_seed(kernel: &str, number: u64) -> u64 {
    let place = all().position(|(_, other)| other.name == kernel);
    (place.expect("a kernel has a place") as u64 * 1000 + number) * 1_000_000
}

pub(crate) fn by_name(name: &str) -> &'static Kernel {
    let found = all().map(|(_, kernel)| kernel).find(|kernel| kernel.name == name);
    found.unwrap_or_else(|| panic!("no kernel {name}"))
}
