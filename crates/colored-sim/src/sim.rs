//! A program under many schedules, by seed, in a time of its own. `colored::sim` is this module for users, and its page says what
//! a simulation is.

mod again;
mod attempts;
pub mod attribute;
mod builder;
mod cancel;
mod child;
mod control;
#[cfg_attr(any(not(target_os = "linux"), miri), path = "sim/cpus/absent.rs")]
mod cpus;
mod evidence;
mod examine;
mod exhaustive;
mod failure;
mod faults;
pub mod fs;
mod host;
mod hosts;
mod jobs;
mod kept;
mod keys;
mod lines;
pub mod net;
mod panics;
#[cfg_attr(not(target_os = "linux"), path = "sim/personality/absent.rs")]
mod personality;
mod places;
mod process_faults;
mod record;
mod report;
mod run;
mod runtime;
mod trace;
mod turns;
mod warm_up;

pub use self::builder::Builder;
pub use self::cancel::{Cancellable, Waits, cancellable};
pub use self::control::drawn_below;
pub use self::exhaustive::Exhaustive;
pub use self::failure::Failure;
pub use self::faults::{Fault, Faults, FaultsError};
pub use self::host::{Host, begin_quiet_phase, host};
pub use self::panics::fail_at_panics;
pub use self::report::Report;
pub use self::run::{happens, note_sometimes, shared};
pub use self::runtime::{Main, Runtime, Runtimes, Settings};

/// A number by the seed of the run. Outside a simulation, a number that no seed decides.
///
/// A replay gives the same numbers. Costs some nanoseconds.
#[must_use]
pub fn random() -> u64 {
    run::random()
}

/// Whether this code runs in a simulation.
#[must_use]
pub fn is_on() -> bool {
    run::is_on()
}
