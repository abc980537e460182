//! [`OpenFile`]: the part of a file that deferred operations keep.

use super::fault;
use super::offload::failed;
use super::positional;
use super::system::{self, Attempt, Identity};
use crate::blocking::{self, Deferred};
use crate::device::{Device, Event, Kind, Outcome, Tries};
use crate::driver::Driver;
use crate::driver::current::Context;
use crate::explained::explained;
use crate::pool::Class;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// An attempt moves so many bytes at most, which takes some 30 µs.
pub(super) const INLINE: usize = 256 << 10;

/// A deferred operation moves so many bytes at most: its buffer is the memory that it costs.
pub(super) const DEFERRED: usize = 1 << 20;

/// One unit of the cooperative budget pays for so many bytes, so that a poll moves [`INLINE`].
pub(super) const BYTES_OF_A_UNIT: usize = INLINE / crate::budget::PER_POLL as usize;

/// How an operation runs on the worker.
enum How {
    /// By a call that returns in place of waiting.
    NoWait,
    /// By an ordinary call, of a file in memory.
    Plain,
}

/// An open file with its runtime.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: std::fs::File,
    /// `None` for a file that the standard library opened.
    path: Option<PathBuf>,
    context: Arc<Context>,
    facts: OnceLock<Facts>,
    /// Whether the file bypasses the page cache: then an attempt would wait for the device.
    is_direct: bool,
}

/// What is known of a file after its first operation.
#[derive(Debug)]
struct Facts {
    device: Arc<Device>,
    is_regular: bool,
}

impl OpenFile {
    pub(super) fn new(
        file: std::fs::File,
        path: Option<PathBuf>,
        context: Arc<Context>,
        is_direct: bool,
    ) -> Self {
        Self { file, path, context, facts: OnceLock::new(), is_direct }
    }

    fn driver(&self) -> &Driver {
        &self.context.driver
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Notes what the opening has found.
    pub(super) fn learn(&self, identity: Identity) {
        let device = self.driver().devices.get(identity.device);
        let _first = self.facts.set(Facts { device, is_regular: identity.is_regular });
    }

    fn facts(&self) -> Option<&Facts> {
        if self.facts.get().is_none() {
            self.learn(system::identify(&self.file)?);
        }
        self.facts.get()
    }

    /// Whether the file has positions: a regular file, or one of which nothing is known.
    pub(super) fn is_regular(&self) -> bool {
        self.facts().is_none_or(|facts| facts.is_regular)
    }

    /// Reads what is in memory, at most [`INLINE`] bytes. `None` if a thread has to read, or to find the
    /// end of the file.
    pub(super) fn try_read(&self, buf: &mut [u8], offset: u64) -> io::Result<Option<usize>> {
        let room = buf.len().min(INLINE);
        let buf = &mut buf[..fault::limit(room)];
        self.attempt(
            |device| &device.reads,
            room,
            |how| match how {
                How::NoWait => system::read(&self.file, buf, offset),
                How::Plain => positional::read(&self.file, buf, offset).map(Attempt::Done),
            },
        )
        .map_err(|error| self.failed("read", error))
    }

    /// Writes what the page cache takes at once, at most [`INLINE`] bytes.
    pub(super) fn try_write(&self, buf: &[u8], offset: u64) -> io::Result<Option<usize>> {
        let room = buf.len().min(INLINE);
        let buf = &buf[..fault::limit(room)];
        self.attempt(
            |device| &device.writes,
            room,
            |how| match how {
                How::NoWait => system::write(&self.file, buf, offset),
                How::Plain => positional::write(&self.file, buf, offset).map(Attempt::Done),
            },
        )
        .map_err(|error| self.failed("write to", error))
    }

    fn attempt(
        &self,
        direction: fn(&Device) -> &Tries,
        room: usize,
        call: impl FnOnce(How) -> io::Result<Attempt<usize>>,
    ) -> io::Result<Option<usize>> {
        if self.is_direct || !self.driver().devices.tries() {
            return Ok(None);
        }
        let Some(Facts { device, is_regular: true }) = self.facts() else { return Ok(None) };
        let tries = direction(device);
        let how = match (tries.should_try(), tries.is_unsupported()) {
            (true, _) => How::NoWait,
            (false, true) if device.kind() == Some(Kind::Memory) => How::Plain,
            (false, true) => return Ok(None),
            (false, false) => {
                device.counts.add(Event::Skipped);
                return Ok(None);
            }
        };
        let answer = match fault::answer().unwrap_or_else(|| call(how)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => Attempt::WouldBlock,
            answer => answer?,
        };
        let (outcome, event, moved) = match answer {
            Attempt::Done(n) if n == room || n == 0 => (Outcome::Hit, Event::Hit, Some(n)),
            // Up to the end of the file, or to the first page that is not in memory.
            Attempt::Done(n) => (Outcome::Hit, Event::Partial, Some(n)),
            Attempt::WouldBlock => (Outcome::Miss, Event::WouldBlock, None),
            Attempt::Unsupported => (Outcome::Unsupported, Event::Unsupported, None),
        };
        tries.note(outcome);
        device.counts.add(event);
        device.counts.add_hit_bytes(moved.unwrap_or(0));
        Ok(moved)
    }

    /// Runs `f` on a thread that may block.
    pub(super) fn defer<T, F>(self: &Arc<Self>, f: F) -> io::Result<Deferred<T>>
    where
        F: FnOnce(&Self) -> T + Send + 'static,
        T: Send + 'static,
    {
        let class = if self.is_regular() { Class::File } else { Class::Stream };
        let file = Arc::clone(self);
        blocking::defer_to(&self.driver().pool, class, move || {
            if let Some(facts) = file.facts() {
                if facts.device.kind().is_none() {
                    facts.device.learn(system::kind(&file.file));
                }
                facts.device.counts.add(Event::Deferred);
            }
            f(&file)
        })
    }

    /// Counts bytes that a deferred operation has moved.
    pub(super) fn count_deferred(&self, bytes: usize) {
        if let Some(facts) = self.facts() {
            facts.device.counts.add_deferred_bytes(bytes);
        }
    }

    /// The metadata, if asking for it does not wait.
    pub(super) fn try_metadata(&self) -> io::Result<Option<Metadata>> {
        let is_near = |kind| matches!(kind, Kind::Memory | Kind::Local);
        let known = self.facts().and_then(|facts| facts.device.kind());
        if !self.driver().devices.tries() || !known.is_some_and(is_near) {
            return Ok(None);
        }
        self.metadata().map(Some)
    }

    /// The metadata; may block.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata().map_err(|error| self.failed("read the metadata of", error))
    }

    /// An error with the operation and the file.
    pub(super) fn failed(&self, operation: &str, source: io::Error) -> io::Error {
        match &self.path {
            Some(path) => failed(operation, path, source),
            None => explained(format!("cannot {operation} a file: {source}"), source),
        }
    }
}
