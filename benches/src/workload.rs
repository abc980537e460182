//! The cases that run inside this process: one file for each family.

pub mod echo;
pub mod files;
pub mod keyed;
pub mod makespan;
pub mod outside;
pub mod post;
pub mod spawn;
pub mod timers;
pub mod wake;

use crate::measure::{Case, Mode};
use crate::rivals::Runtimes;

/// A case by name. It is built only on request, because some cases start servers and actors.
#[derive(Clone, Copy)]
pub struct Row {
    /// The name in a `RATIO` line.
    pub name: &'static str,
    /// Makes the case.
    pub build: fn(Runtimes, Mode) -> Case,
}

/// The rows whose figures depend on the allocator: taken under two of them.
pub const ALLOCATING: &[&[Row]] = &[spawn::ROWS, wake::CHAINS, keyed::ROWS, post::ROWS];

/// Every other row.
pub const OTHERS: &[&[Row]] =
    &[wake::ROWS, outside::ROWS, echo::ROWS, timers::ROWS, makespan::ROWS, files::ROWS];
