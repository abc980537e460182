//! [`Options`]: how an engine keeps its records.

use super::engine::Engine;
use crate::log::{FILES, Keep};
use crate::source::Error;
use colored::time::Duration;
use std::path::Path;

/// How an engine keeps its records.
#[derive(Clone, Debug)]
pub struct Options {
    keep: Keep,
    files: usize,
}

/// What happens to records that cannot be read any more, though they were confirmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The engine is not opened, or the partition is not read beyond that place. The error names file, place and offset, and
    /// says what else can be read.
    #[default]
    Refuse,
    /// They are passed over: what is left is read, in order, and no offset is given again. [`Engine::lost`] names the offsets
    /// that were met. A commit that is lost is the one before it, or none, so records may come again. The files of damaged
    /// records stay as they are until retention deletes them, and they are read with this option only; of a damaged file in
    /// `groups`, a copy with the name `.damaged` stays.
    Skip,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// Segments of 64 MiB, all of which stay, appends that wait for the device, and [`Damage::Refuse`].
    #[must_use]
    pub fn new() -> Options {
        let keep =
            Keep { segment_bytes: 64 << 20, bytes: None, millis: None, sync: true, skips: false };
        Options { keep, files: FILES }
    }

    /// A segment with so many bytes is complete, and the next one begins. Retention deletes whole segments.
    #[must_use]
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.keep.segment_bytes = bytes;
        self
    }

    /// The oldest segments of a partition are deleted while it has more than so many bytes. The one with the last record stays.
    #[must_use]
    pub fn retain_bytes(mut self, bytes: u64) -> Self {
        self.keep.bytes = Some(bytes);
        self
    }

    /// Segments are deleted whose newest record is older. The one with the last record stays.
    #[must_use]
    pub fn retain_for(mut self, time: Duration) -> Self {
        self.keep.millis = Some(time.as_millis().try_into().unwrap_or(i64::MAX));
        self
    }

    /// Whether appends and commits wait for the device. Without, a crash of the machine may lose what was confirmed; a
    /// crash of the process does not. Default: yes.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        self.keep.sync = sync;
        self
    }

    /// How many segments are open at a time, at most, whatever the number of partitions and segments. Each of them takes a file
    /// descriptor; one that begins takes another one for a moment, and so does the directory that it is in. With fewer than
    /// the partitions in use a segment is opened again for most reads and writes, which costs some microseconds each.
    /// Default: 64. At least 1.
    #[must_use]
    pub fn open_files(mut self, most: usize) -> Self {
        self.files = most;
        self
    }

    /// What happens to confirmed records that cannot be read any more. Default: [`Damage::Refuse`].
    #[must_use]
    pub fn damage(mut self, damage: Damage) -> Self {
        self.keep.skips = damage == Damage::Skip;
        self
    }

    /// Opens the engine in a directory, which it makes if needed. Not cancel safe: a dropped call may leave an empty
    /// directory.
    ///
    /// # Errors
    ///
    /// If another engine has the directory, if confirmed records or commits are [damaged](Damage), if another version has written
    /// it in another format, or if the system refuses something.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn open(self, directory: impl AsRef<Path>) -> Result<Engine, Error> {
        Engine::open_with(directory.as_ref(), self.keep, self.files).await
    }
}
