//! The settings of the flight recorder.

use super::Options;
use crate::diagnose::environment::path;
use crate::environment;
use colored_diagnose::trace::{Level, Trigger};
use std::io;
use std::path::PathBuf;

/// What is recorded, and when it is kept.
#[derive(Clone, Debug, Default)]
pub(in crate::diagnose) struct Trace {
    level: Option<Level>,
    bytes: Option<usize>,
    pub(in crate::diagnose) triggers: Vec<Trigger>,
    file: Option<PathBuf>,
}

/// # The flight recorder
///
/// See [`trace`](crate::diagnose::trace).
impl Options {
    /// What the runtime records from its begin on. Default: the environment variable `COLORED_TRACE`; without it
    /// [`Level::Off`]. [`Handle::set_trace_level`](crate::Handle::set_trace_level) changes it at any time.
    pub fn trace_level(mut self, level: Level) -> Self {
        self.trace.level = Some(level);
        self
    }

    /// The size of the ring that each worker keeps its records in, in bytes, 4,096 to 2³⁰. A record takes 32; the ring
    /// has the largest power of two of them that fits. All threads that are no workers share one more such ring. The
    /// rings have no memory before the runtime records something. Default: 1 MiB.
    pub fn trace_bytes(mut self, bytes: usize) -> Self {
        self.trace.bytes = Some(bytes);
        self
    }

    /// Keeps a copy of all records at each of these events, until [`Handle::frozen`](crate::Handle::frozen) takes it.
    /// While a copy is kept there is no other one, so it is of the first event; and there is at most one copy a second.
    /// Nothing is copied at [`Level::Off`]. Further calls add further events. Default: none.
    ///
    /// The thread of the event makes the copy, some 2 ms for each full ring of 1 MiB: the thread of a task that panics or
    /// is refused, or the reactor thread.
    pub fn freeze_on(mut self, triggers: impl IntoIterator<Item = Trigger>) -> Self {
        self.trace.triggers.extend(triggers);
        self
    }

    /// Writes each copy of [`freeze_on`](Self::freeze_on) to this file too, in place of what it held: for <https://ui.perfetto.dev>, as
    /// [`Snapshot::write_perfetto`](crate::diagnose::trace::Snapshot::write_perfetto). A thread of the file pool writes it under the
    /// name with `.part` behind it, and renames it when it is complete. A line on the standard error tells if that fails.
    ///
    /// Default: the environment variable `COLORED_TRACE_FILE`; without it no file. With the variable, the end of the runtime
    /// also writes what is recorded then, in place of an earlier copy, except an end that does not wait
    /// ([`Runtime::shutdown_background`](crate::Runtime::shutdown_background)); and unless a level is set, the runtime
    /// records at [`Level::Slices`]. Of several runtimes in a process, the last to end has the file.
    pub fn trace_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.trace.file = Some(path.into());
        self
    }
}

impl Trace {
    /// The level to begin with.
    ///
    /// # Errors
    ///
    /// If the variable has another value than the number of a level.
    pub(in crate::diagnose) fn level(&self) -> io::Result<Level> {
        match self.level {
            Some(level) => Ok(level),
            None => Ok(match environment::number("COLORED_TRACE", 0..=3, "0")? {
                // Somebody wants a file.
                None if self.file_at_end()?.is_some() => Level::Slices,
                None | Some(0) => Level::Off,
                Some(1) => Level::Slices,
                Some(2) => Level::Tasks,
                Some(_) => Level::All,
            }),
        }
    }

    /// The file that the operator wants at the end.
    fn file_at_end(&self) -> io::Result<Option<PathBuf>> {
        match self.file {
            Some(_) => Ok(None),
            None => path("COLORED_TRACE_FILE", "no file"),
        }
    }

    /// The file, and whether it gets what is recorded at the end.
    ///
    /// # Errors
    ///
    /// If the variable has no path.
    pub(in crate::diagnose) fn file(&self) -> io::Result<(Option<PathBuf>, bool)> {
        let at_end = self.file_at_end()?;
        let ends = at_end.is_some();
        Ok((self.file.clone().or(at_end), ends))
    }

    pub(in crate::diagnose) fn add_to(&self, options: &mut colored_core::Options) {
        if let Some(bytes) = self.bytes {
            options.trace_bytes = bytes;
        }
    }
}
