//! [`OpenFile`]: the part of a file that deferred operations keep.

use super::backing::Backing;
use super::descriptor::Descriptor;
use super::fault;
use super::offload::failed;
use super::positional;
use super::system::{self, Attempt, FileType, Identity, Residency};
use crate::blocking::{self, Deferred};
use crate::device::{Device, Event, Kind, Outcome, Tries, slow};
use crate::driver::ring::Opened;
use crate::error_context::with_context;
use crate::pool::Class;
use crate::registration::Registered;
use crate::services::Services;
use crate::services::current::Context;
use crate::wall;
use colored_core::port::in_own_call;
use socket2::Socket;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
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
    /// By an ordinary call, of the part that is in memory.
    Resident,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

/// An open file with its runtime.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) backing: Backing,
    /// `None` for a file that the standard library opened.
    path: Option<PathBuf>,
    context: Arc<Context>,
    facts: OnceLock<Facts>,
    /// Tells what is in memory, where the file system has no attempts.
    residency: OnceLock<Option<Residency>>,
    /// The registration of a pipe or a socket that had to wait.
    pub(super) waits: OnceLock<Registered<Descriptor>>,
    /// Whether the file bypasses the page cache: then an attempt would wait for the device.
    is_direct: bool,
    /// Whether the file has refused a position.
    pub(super) refuses: AtomicBool,
}

/// What is known of a file after its first operation.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) device: Arc<Device>,
    pub(super) file_type: FileType,
    /// Whether the device is none of the machine's.
    pub(super) is_anonymous: bool,
}

impl Opened for OpenFile {
    fn file(&self) -> &std::fs::File {
        self.system_file()
    }
}

impl OpenFile {
    pub(super) fn new(
        backing: Backing,
        path: Option<PathBuf>,
        context: Arc<Context>,
        is_direct: bool,
    ) -> Self {
        Self {
            backing,
            path,
            context,
            facts: OnceLock::new(),
            residency: OnceLock::new(),
            waits: OnceLock::new(),
            is_direct,
            refuses: AtomicBool::new(false),
        }
    }

    /// The file alone: what is registered is no more.
    pub(super) fn into_file(self) -> std::fs::File {
        let Self { backing, waits, .. } = self;
        drop(waits);
        match backing {
            Backing::System(file) => {
                Arc::into_inner(file).expect("only the registration has another reference")
            }
            Backing::Simulated(_) => unreachable!("no simulated file is given away"),
        }
    }

    /// The file of the system.
    ///
    /// # Panics
    ///
    /// If the file is simulated, which has none.
    #[track_caller]
    pub(super) fn system_file(&self) -> &Arc<std::fs::File> {
        match &self.backing {
            Backing::System(file) => file,
            Backing::Simulated(_) => panic!("a simulated file has no descriptor"),
        }
    }

    pub(super) fn services(&self) -> &Services {
        &self.context.services
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
        let device = self.services().devices.get(identity.device);
        let is_anonymous = system::is_anonymous(identity.device);
        let file_type = identity.file_type;
        let _first = self.facts.set(Facts { device, file_type, is_anonymous });
    }

    pub(super) fn facts(&self) -> Option<&Facts> {
        if self.facts.get().is_none() {
            // Nothing is to be known of a simulated one: it is a regular file with positions.
            let Backing::System(file) = &self.backing else { return None };
            self.learn(system::identify(file)?);
        }
        self.facts.get()
    }

    /// Learns what is not known of the device; may block.
    pub(super) fn learn_kind(&self) {
        if let Some(facts) = self.facts()
            && facts.device.kind().is_none()
        {
            facts.device.learn(system::kind(self.system_file()));
        }
    }

    /// Whether the file is a pipe or a socket that may be tried.
    pub(super) fn is_stream(&self) -> bool {
        self.services().devices.tries() && self.is_pipe_or_socket()
    }

    /// The device, if its reads can wait in the background: it is of this machine, and has not refused a try.
    pub(super) fn ring_device(&self) -> Option<&Device> {
        let device = &*self.facts()?.device;
        let can_wait = device.kind() == Some(Kind::Local) && !device.reads.is_unsupported();
        (can_wait && self.has_attempts()).then_some(device)
    }

    /// Reads what is in memory, at most [`INLINE`] bytes. `None` if a thread has to read, or to find the
    /// end of the file.
    pub(super) fn try_read(&self, buf: &mut [u8], offset: u64) -> io::Result<Option<usize>> {
        let room = buf.len().min(INLINE);
        if let Some(file) = self.backing.simulated() {
            let read = file.unless_deferred(|| file.read(&mut buf[..room], offset));
            return read.map_err(|error| self.failed("read", error));
        }
        let buf = &mut buf[..fault::limit(room)];
        self.attempt(Direction::Read, offset, room, |how| match how {
            How::NoWait => system::read(self.system_file(), buf, offset),
            How::Plain => positional::read(self.system_file(), buf, offset).map(Attempt::Done),
            How::Resident => self.read_resident(buf, offset),
        })
        .map_err(|error| self.failed("read", error))
    }

    /// Writes what the page cache takes at once, at most [`INLINE`] bytes.
    pub(super) fn try_write(&self, buf: &[u8], offset: u64) -> io::Result<Option<usize>> {
        let room = buf.len().min(INLINE);
        if let Some(file) = self.backing.simulated() {
            let written = file.unless_deferred(|| file.write(&buf[..room], offset));
            return written.map_err(|error| self.failed("write to", error));
        }
        let buf = &buf[..fault::limit(room)];
        self.attempt(Direction::Write, offset, room, |how| match how {
            How::NoWait => system::write(self.system_file(), buf, offset),
            How::Plain => positional::write(self.system_file(), buf, offset).map(Attempt::Done),
            How::Resident => Ok(Attempt::Unsupported),
        })
        .map_err(|error| self.failed("write to", error))
    }

    /// Sends what is in memory at the start of a part to a socket, at most [`INLINE`] bytes, without a copy. 0 if the system
    /// does not say that the first byte is in memory, or the file system may wait for more than a disk.
    pub(super) fn send(&self, socket: &Socket, part: &Range<u64>) -> io::Result<usize> {
        if !self.has_attempts() || !self.services().devices.tries() {
            return Ok(0);
        }
        let Some(Facts { device, is_anonymous, .. }) = self.facts() else { return Ok(0) };
        let is_near = match device.kind() {
            Some(kind) => matches!(kind, Kind::Local | Kind::Memory),
            None => !is_anonymous,
        };
        let room = part.end.saturating_sub(part.start).min(INLINE as u64) as usize;
        let resident = match is_near {
            true => self.residency().map_or(0, |of| of.resident(part.start, room)),
            false => 0,
        };
        if resident == 0 {
            return Ok(0);
        }
        let sent = in_own_call(|| system::send(self.system_file(), socket, part.start, resident))?;
        device.counts.add(Event::Hit);
        device.counts.add_hit_bytes(sent);
        Ok(sent)
    }

    /// Reads what is in memory by an ordinary call.
    fn read_resident(&self, buf: &mut [u8], offset: u64) -> io::Result<Attempt<usize>> {
        let resident = self.residency().map_or(0, |of| of.resident(offset, buf.len()));
        if resident > 0 {
            return positional::read(self.system_file(), &mut buf[..resident], offset)
                .map(Attempt::Done);
        }
        // No page is in memory behind the end.
        match offset >= self.system_file().metadata()?.len() {
            true => Ok(Attempt::Done(0)),
            false => Ok(Attempt::WouldBlock),
        }
    }

    /// Whether the system says that the first byte of a read is not in memory.
    fn is_absent(&self, offset: u64) -> bool {
        let is_absent = |of: &Residency| of.resident(offset, 1) == 0;
        // No page is in memory behind the end, and the attempt finds that at once.
        self.residency().is_some_and(is_absent)
            && self.system_file().metadata().is_ok_and(|metadata| offset < metadata.len())
    }

    fn residency(&self) -> Option<&Residency> {
        self.residency.get_or_init(|| Residency::of(self.system_file())).as_ref()
    }

    /// How to attempt an operation without waiting for the device, if there is a way.
    fn how(&self, direction: Direction, tries: &Tries, kind: Option<Kind>) -> Option<How> {
        match kind {
            _ if !tries.is_unsupported() => Some(How::NoWait),
            Some(Kind::Memory) => Some(How::Plain),
            Some(Kind::Local) => {
                let is_known = direction == Direction::Read && self.residency().is_some();
                is_known.then_some(How::Resident)
            }
            _ => None,
        }
    }

    fn attempt(
        &self,
        direction: Direction,
        offset: u64,
        room: usize,
        call: impl FnOnce(How) -> io::Result<Attempt<usize>>,
    ) -> io::Result<Option<usize>> {
        if !self.has_attempts() || !self.services().devices.tries() {
            return Ok(None);
        }
        let Some(Facts { device, .. }) = self.facts() else { return Ok(None) };
        let tries = match direction {
            Direction::Read => &device.reads,
            Direction::Write => &device.writes,
        };
        let Some(how) = self.how(direction, tries, device.kind()) else { return Ok(None) };
        let is_first_asked = direction == Direction::Read && tries.should_ask_first();
        if !tries.should_try() || is_first_asked && self.is_absent(offset) {
            device.counts.add(Event::Skipped);
            return Ok(None);
        }
        let begin = slow::sample();
        let answer = match fault::answer().unwrap_or_else(|| in_own_call(|| call(how))) {
            // A file without positions is read and written by a thread.
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::NotSeekable) =>
            {
                Attempt::WouldBlock
            }
            answer => answer?,
        };
        let (outcome, event, moved) = match answer {
            Attempt::Done(n) if n == room || n == 0 => (Outcome::Hit, Event::Hit, Some(n)),
            // Up to the end of the file, or to the first page that is not in memory.
            Attempt::Done(n) => (Outcome::Hit, Event::Partial, Some(n)),
            Attempt::WouldBlock => (Outcome::Miss, Event::WouldBlock, None),
            Attempt::Unsupported => (Outcome::Unsupported, Event::Unsupported, None),
        };
        if let (Some(begin), Some(event)) = (begin, slow::event(outcome)) {
            let was_slow = wall::since(begin) > slow::LIMIT;
            if was_slow {
                device.counts.add(event);
            }
            if outcome == Outcome::Miss {
                tries.note_timed(was_slow);
            }
        }
        tries.note(outcome);
        device.counts.add(event);
        device.counts.add_hit_bytes(moved.unwrap_or(0));
        Ok(moved)
    }

    /// Runs `f` on a thread that may block. If there is none, the error names the operation and the file.
    pub(super) fn defer<T, F>(
        self: &Arc<Self>,
        class: Class,
        operation: &'static str,
        f: F,
    ) -> io::Result<Deferred<T>>
    where
        F: FnOnce(&Self) -> T + Send + 'static,
        T: Send + 'static,
    {
        let file = Arc::clone(self);
        let deferred = blocking::defer_to(&self.services().pool, class, move || {
            file.learn_kind();
            if let Some(facts) = file.facts() {
                facts.device.counts.add(Event::Deferred);
            }
            f(&file)
        });
        deferred.map_err(|error| self.failed(operation, error))
    }

    /// Counts bytes that a deferred operation has moved.
    pub(super) fn count_deferred(&self, bytes: usize) {
        if let Some(facts) = self.facts() {
            facts.device.counts.add_deferred_bytes(bytes);
        }
    }

    /// The metadata, if asking for it does not wait.
    pub(super) fn try_metadata(&self) -> io::Result<Option<Metadata>> {
        if let Some(file) = self.backing.simulated() {
            return file.unless_deferred(|| self.metadata());
        }
        let is_near = |kind| matches!(kind, Kind::Memory | Kind::Local);
        let known = self.facts().and_then(|facts| facts.device.kind());
        if !self.services().devices.tries() || !known.is_some_and(is_near) {
            return Ok(None);
        }
        self.metadata().map(Some)
    }

    /// The metadata; may block.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.backing.metadata().map_err(|error| self.failed("read the metadata of", error))
    }

    /// An error with the operation and the file.
    pub(super) fn failed(&self, operation: &str, source: io::Error) -> io::Error {
        match &self.path {
            Some(path) => failed(operation, path, source),
            None => with_context(format!("cannot {operation} a file: {source}"), source),
        }
    }
}
