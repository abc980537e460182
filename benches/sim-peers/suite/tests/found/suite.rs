//! Kernels of known bugs, each with a twin that has none: what share of them a thousand seeds find, and how soon.
//!
//! The kernels are written from published descriptions: GoBench (Yuan and others, CGO 2021), SCTBench (Thomson and others,
//! TOPC 2016), ConVul (Cai and others), Node.fz (Davis and others, EuroSys 2017), and issues of projects. A goroutine or
//! a thread is a task of a color of its own; a variable of theirs is a [`Shared`](tools::Shared), so that each access is a
//! turn.
//!
//! The environment variable `COLORED_SUITE_SEEDS` sets the number of seeds of each twin. The table of seeds until a bug is
//! found: `cargo test --release -p colored-sim-suite -- --ignored --nocapture the_table`.

#[path = "../../kernels/cancelled.rs"]
mod cancelled;
#[path = "../../kernels/channels.rs"]
mod channels;
#[path = "../../kernels/convul.rs"]
mod convul;
#[path = "../../kernels/events.rs"]
mod events;
#[path = "../../kernels/issues.rs"]
mod issues;
#[path = "../../kernels/locks.rs"]
mod locks;
#[path = "../../kernels/memory.rs"]
mod memory;
#[path = "../../kernels/mixed.rs"]
mod mixed;
#[path = "../../kernels/pushes.rs"]
mod pushes;
#[path = "../../kernels/sctbench.rs"]
mod sctbench;
#[path = "../../kernels/services.rs"]
mod services;
mod table;
#[path = "../../kernels/tools.rs"]
mod tools;
#[path = "../../kernels/waits.rs"]
mod waits;

use colored::sim::{Builder, Report};
use std::env;
use std::pin::Pin;

/// What a schedule must interleave for the bug to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grain {
    /// Turns: one poll, or one operation of it.
    Turn,
    /// What one turn pushes to several colors.
    Push,
    /// Accesses to memory inside one poll. They are out of reach of the simulation, by its rules.
    Memory,
}

type Program = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Kernel {
    name: &'static str,
    /// Where the bug is described.
    source: &'static str,
    grain: Grain,
    /// A part of the failure's message.
    text: &'static str,
    /// The program with the bug, or its twin.
    program: fn(bool) -> Program,
}

/// The failure of a program that waits for ever.
const HANGS: &str = "nothing is runnable";

/// The kernels of a module: grain, function, source, and a part of the failure's message.
macro_rules! kernels {
    ($($grain:ident $name:ident $source:literal $text:expr;)*) => {
        pub(super) const KERNELS: &[$crate::suite::Kernel] = &[$($crate::suite::Kernel {
            name: stringify!($name),
            source: $source,
            grain: $crate::suite::Grain::$grain,
            text: $text,
            program: |wrong| Box::pin($name(wrong)),
        }),*];
    };
}
use kernels;

/// All kernels, by module.
const FAMILIES: &[(&str, &[Kernel])] = &[
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
    ("memory", memory::KERNELS),
];

impl Kernel {
    fn run(&self, builder: Builder, wrong: bool) -> Report {
        let program = self.program;
        builder.run(move || program(wrong))
    }

    /// Whether some run of the simulation has the bug.
    fn is_in_reach(&self) -> bool {
        match self.grain {
            Grain::Turn | Grain::Push => true,
            Grain::Memory => false,
        }
    }

    /// What is wrong with the result of this kernel's runs.
    fn complaint(&self) -> Option<String> {
        let name = self.name;
        let report = self.run(Builder::new(), true);
        let about_bug = match (report.failure(), self.is_in_reach()) {
            (Some(failure), true) => {
                let is_it = failure.differs().is_none() && failure.message().contains(self.text);
                (!is_it).then(|| format!("{name}: another failure: {failure}"))
            }
            (None, true) => Some(format!("{name}: not found: {report}")),
            (Some(failure), false) => {
                Some(format!("{name}: found, though out of reach: {failure}"))
            }
            (None, false) => None,
        };
        let twin = self.run(Builder::new().seeds(0..twin_seeds()), false);
        let about_twin = twin.failure().map(|failure| format!("{name}: a false alarm: {failure}"));
        about_bug.or(about_twin)
    }
}

/// The number of seeds of each twin.
fn twin_seeds() -> u64 {
    match env::var("COLORED_SUITE_SEEDS") {
        Ok(count) => count.parse().expect("COLORED_SUITE_SEEDS is a number"),
        Err(_) => 50,
    }
}

#[track_caller]
fn check(kernels: &[Kernel]) {
    let complaints: Vec<String> = kernels.iter().filter_map(Kernel::complaint).collect();
    assert!(
        complaints.is_empty(),
        "{} of {}:\n{}",
        complaints.len(),
        kernels.len(),
        complaints.join("\n")
    );
}

/// A test for each module: several run at once.
macro_rules! families {
    ($($family:ident)*) => {$(
        #[test]
        fn $family() {
            super::check(super::$family::KERNELS);
        }
    )*};
}

mod found {
    families!(locks channels mixed waits sctbench convul events cancelled issues services pushes memory);
}

#[test]
fn each_family_has_its_test_and_its_sources() {
    let all: Vec<&Kernel> = FAMILIES.iter().flat_map(|(_, kernels)| kernels.iter()).collect();
    assert!(all.len() >= 60, "{} kernels", all.len());
    let mut names: Vec<&str> = all.iter().map(|kernel| kernel.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len(), "each name is one kernel's");
}
