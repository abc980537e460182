//! The spans of tasks: what a subscriber of `tracing` hears of a task.
//!
//! With the feature `tracing`, a task has a span if the subscriber wants one: a wrapper of the task's future enters the
//! span for each poll and for the drop of the future. Without the feature nothing can make a [`TaskSpan`], so the compiler
//! leaves out what follows one, and a [`Carried`] has no size.

#[cfg(not(feature = "tracing"))]
#[path = "span/absent.rs"]
mod kind;
#[cfg(feature = "tracing")]
#[path = "span/present.rs"]
mod kind;

pub(crate) use self::kind::{Carried, TaskSpan};
#[cfg(feature = "sim")]
pub(crate) use self::kind::{Inside, exchange_inside};

use std::panic::Location;

/// Where a task comes from, and what its span is told.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The place of the call that spawns the task.
    pub site: &'static Location<'static>,
    /// The name of the task.
    pub name: Option<&'a str>,
}

impl From<&'static Location<'static>> for Origin<'_> {
    fn from(site: &'static Location<'static>) -> Self {
        Self { site, name: None }
    }
}
