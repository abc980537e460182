//! The settings of a run that is recorded or replayed.

use super::Builder;
use crate::recording::Setting;
use std::path::PathBuf;

impl Builder {
    /// Writes a record of the run into a file, which [`replay`](Self::replay) follows: [the module](crate::record) says what
    /// a record covers. The file is complete when the runtime has been shut down or dropped. An existing file is
    /// overwritten by `build`.
    ///
    /// The thread that calls [`build`](Self::build) is the one outside of the runtime that may spawn and send.
    ///
    /// # Costs
    ///
    /// About a byte, and some nanoseconds, for a turn and for each answer that it gets. A call of a cell whose color is
    /// idle is queued, as for a busy color. A color that has been used keeps some 300 bytes until the runtime ends, and up to
    /// 4 KiB that are not written yet.
    ///
    /// # Errors
    ///
    /// `build` returns the system's error if the file cannot be created. A later error is written to the standard error,
    /// and ends the record, which then is no complete one; the run goes on.
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.recording = Setting::Record(path.into());
        self
    }

    /// Follows a record: the turns of each color come in the recorded order, and get the recorded answers, on any number of
    /// workers. [The module](crate::record) says what this means for a program.
    ///
    /// The thread that calls [`build`](Self::build) must do what the one of the recorded run did.
    ///
    /// # Errors
    ///
    /// `build` returns an error of the kind `InvalidData` if the file is no record, or is truncated or damaged, and the
    /// system's error if it cannot be read.
    ///
    /// # Panics
    ///
    /// [`Runtime::block_on`](super::super::Runtime::block_on) and [`Runtime::run`](super::super::Runtime::run) panic when the program does
    /// what the record does not have, or does not cover: the text names the operation, the color and the number of its
    /// turn. All other tasks are cancelled then.
    pub fn replay(mut self, path: impl Into<PathBuf>) -> Self {
        self.recording = Setting::Replay(path.into());
        self
    }
}
