//! [`Admitted`] work, and [`Running`] work.

mod run;

pub use self::run::Run;

use super::overloaded::{Check, Overloaded};
use super::shared::Shared;
use crate::wall;
use colored_core::port::report_overload;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Work that has been admitted and waits for its turn. Dropping this value abandons the work.
#[must_use = "dropping it abandons the work"]
pub struct Admitted {
    shared: Arc<Shared>,
    arrived: u64,
    waits: bool,
}

impl Admitted {
    pub(super) const fn new(shared: Arc<Shared>, arrived: u64) -> Self {
        Self { shared, arrived, waits: true }
    }

    /// Begins the work. Call it right before the work, under its color.
    ///
    /// # Errors
    ///
    /// [`Overloaded`] if the work has waited for more than two targets: do not do the work.
    pub fn begin(mut self) -> Result<Running, Overloaded> {
        self.waits = false;
        let (mut control, now) = self.shared.lock();
        let begins = control.turn(self.arrived, now);
        drop(control);
        if !begins {
            report_overload();
            return Err(Overloaded::new(Check::AgeAtTurn, now.saturating_sub(self.arrived)));
        }
        // Ordering: a figure, not a signal.
        self.shared.running.fetch_add(1, Ordering::Relaxed);
        Ok(Running { shared: Arc::clone(&self.shared) })
    }

    /// Returns a future, for spawning, that [begins](Self::begin) the work with its first poll. If
    /// the work has waited too long by then, the future never polls `future`, and returns
    /// [`Overloaded`].
    ///
    /// Refused work is dropped with everything that `future` owns: a connection that was moved in
    /// is closed without an answer. To answer refused requests, call [`begin`](Self::begin) inside
    /// the task instead; see "Where requests come in" of `colored::admission`.
    ///
    /// Cancel safe: dropped before its first poll, it abandons the work.
    pub fn run<F: Future>(self, future: F) -> Run<F> {
        Run::new(self, future)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if self.waits {
            self.shared.lock().0.abandon();
        }
    }
}

impl fmt::Debug for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = self.shared.time(wall::now()).saturating_sub(self.arrived);
        f.debug_struct("Admitted").field("waited", &Duration::from_nanos(waited)).finish()
    }
}

/// Work that has begun. Drop this value when the work is done; it only counts the work as running.
#[must_use = "it is counted as running for as long as this lives"]
pub struct Running {
    shared: Arc<Shared>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Ordering: a figure, not a signal.
        self.shared.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Running")
    }
}
