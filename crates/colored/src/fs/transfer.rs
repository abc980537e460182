//! Reads and writes that a thread does. They own their bytes, so that their futures can be dropped.

use super::buffer::Buffer;
use super::fault;
use super::open_file::{DEFERRED, OpenFile};
use super::positional;
use crate::blocking::{self, Deferred};
use crate::device::Event;
use crate::driver::ring::{self, Opened};
use crate::error_context;
use crate::pool::{Class, Job, Refused};
use crate::ready::{Direction, is_ready, pause, until_done};
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The bytes of a write, and how many of them were written.
pub(super) type Written = (Buffer, io::Result<usize>);

/// Where an operation reads or writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// At the position of the cursor, unless the file refuses positions.
    Position(u64),
    /// Where the system keeps its position, or at the end.
    System,
    /// At an offset that the caller has given.
    Offset(u64),
}

impl Place {
    /// The offset of a file that has positions.
    fn offset(self) -> Option<u64> {
        match self {
            Place::Position(offset) | Place::Offset(offset) => Some(offset),
            Place::System => None,
        }
    }
}

impl OpenFile {
    /// Reads up to `len` bytes, at most [`DEFERRED`]: all that a file with positions has there, or else
    /// what there is, because the other end of a pipe may wait for an answer.
    ///
    /// The answer is [`ErrorKind::WouldBlock`] if the read has to be asked for again: it turns out that the file
    /// has no positions, or somebody else has read what was there.
    pub(super) fn defer_read(
        self: &Arc<Self>,
        class: Class,
        len: usize,
        place: Place,
    ) -> io::Result<Deferred<io::Result<Vec<u8>>>> {
        let len = len.min(DEFERRED);
        let fault = fault::job();
        if let Some(offset) = place.offset()
            && !fault.is_of_threads()
            && let Some(device) = self.ring_device()
            && let Some(read) = self.read_by_ring(len, offset)
        {
            device.counts.add(Event::Deferred);
            device.counts.add(Event::Ring);
            return Ok(read);
        }
        self.defer(class, "read", move |open| match class {
            Class::Ready => open.read_ready(len),
            _ if open.is_misplaced(class) => Err(ErrorKind::WouldBlock.into()),
            _ => open.read_blocking(len, place, fault),
        })
    }

    /// Whether an operation has come to a thread for files with positions, and the thread has found out that this one
    /// has none. Then the operation is asked for again, because it may wait.
    fn is_misplaced(&self, class: Class) -> bool {
        matches!(class, Class::File | Class::Served) && !self.has_positions()
    }

    /// Reads once, if there is something.
    fn read_ready(&self, len: usize) -> io::Result<Vec<u8>> {
        let mut buffer = Buffer::zeros(len, self.is_direct());
        while is_ready(self.system_file(), Direction::Read) {
            match (&**self.system_file()).read(buffer.bytes_mut()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => pause(),
                Err(error) => return Err(self.failed("read", error)),
                Ok(n) => {
                    self.count_deferred(n);
                    return Ok(buffer.into_first(n));
                }
            }
        }
        Err(ErrorKind::WouldBlock.into())
    }

    fn read_blocking(&self, len: usize, place: Place, fault: fault::Job) -> io::Result<Vec<u8>> {
        let mut buffer = Buffer::zeros(len, self.is_direct());
        let buf = buffer.bytes_mut();
        let done = match place {
            Place::Position(offset) if self.has_positions() => {
                match self.read_all(buf, offset, fault) {
                    Err(error) if self.learn_refusal(&error, offset) => self.read_once(buf),
                    done => done,
                }
            }
            Place::Offset(offset) if self.has_positions() => self.read_all(buf, offset, fault),
            Place::Offset(offset) => self.read_part(buf, offset, fault),
            Place::Position(_) | Place::System => self.read_once(buf),
        };
        self.count_deferred(*done.as_ref().unwrap_or(&0));
        let done = done.map_err(|error| self.failed("read", error))?;
        Ok(buffer.into_first(done))
    }

    /// Reads what there is, as the standard library.
    fn read_once(&self, buf: &mut [u8]) -> io::Result<usize> {
        until_done(self.system_file(), Direction::Read, || (&**self.system_file()).read(buf))
    }

    /// Reads once at an offset.
    fn read_part(&self, buf: &mut [u8], offset: u64, fault: fault::Job) -> io::Result<usize> {
        fault.refuse()?;
        let most = fault.limit(buf.len());
        self.backing.read(&mut buf[..most], offset)
    }

    /// Reads at an offset until `buf` is full, or all is read that there is for now, or an error comes.
    fn read_all(&self, buf: &mut [u8], offset: u64, fault: fault::Job) -> io::Result<usize> {
        let mut is_all = false;
        positional::repeat(buf.len(), |done| {
            if is_all {
                return Ok(0);
            }
            let n = self.read_part(&mut buf[done..], offset + done as u64, fault)?;
            let end = done + n;
            is_all = end < buf.len() && self.is_all(offset + end as u64);
            Ok(n)
        })
    }

    /// Leaves a read to the system. If that fails, a thread reads: what it says is what is wrong.
    fn read_by_ring(
        self: &Arc<Self>,
        len: usize,
        offset: u64,
    ) -> Option<Deferred<io::Result<Vec<u8>>>> {
        let (sender, mut receiver) = oneshot::channel();
        let (job, read) = blocking::job(move || {
            let (bytes, met) =
                receiver.try_recv().expect("whoever runs the job has sent the bytes");
            error_context::hear(met);
            bytes
        });
        let open = Arc::clone(self);
        let done = move |bytes: io::Result<Vec<u8>>| {
            let end = move |bytes| {
                let _unless_dropped = sender.send(bytes);
                job();
            };
            match bytes {
                Ok(bytes) => {
                    open.count_deferred(bytes.len());
                    end((Ok(bytes), None));
                }
                Err(_) => {
                    let of = Arc::clone(&open);
                    let read =
                        move || of.read_blocking(len, Place::Offset(offset), fault::no_job());
                    let again = Job::new(move || end(error_context::listened(read)));
                    match open.services().pool.submit(Class::File, again) {
                        // Dropping a job cancels it.
                        Ok(()) | Err(Refused::ShutDown(_)) => {}
                        // It is late, but not lost.
                        Err(Refused::NoThread(again, _)) => again.run(),
                    }
                }
            }
        };
        let of = Arc::clone(self) as Arc<dyn Opened>;
        let begun = ring::Read { of, len, offset, done: Box::new(done) };
        self.context().driver.shards.read(self.context().worker, begun).ok()?;
        Some(read)
    }

    /// Writes a copy of the bytes, at most [`DEFERRED`]. The answer is [`ErrorKind::WouldBlock`] as for a read.
    pub(super) fn defer_write(
        self: &Arc<Self>,
        class: Class,
        bytes: &[u8],
        place: Place,
    ) -> io::Result<Deferred<Written>> {
        let bytes = Buffer::copy_of(&bytes[..bytes.len().min(DEFERRED)], self.is_direct());
        let fault = fault::job();
        self.defer(class, "write to", move |open| {
            let written = match open.is_misplaced(class) {
                true => return (bytes, Err(ErrorKind::WouldBlock.into())),
                false => open.write_blocking(bytes.bytes(), place, fault),
            };
            open.count_deferred(*written.as_ref().unwrap_or(&0));
            (bytes, written.map_err(|error| open.failed("write to", error)))
        })
    }

    fn write_blocking(&self, buf: &[u8], place: Place, fault: fault::Job) -> io::Result<usize> {
        let write_at = |done: usize, offset: u64| {
            fault.refuse()?;
            let left = &buf[done..];
            let part = &left[..fault.limit(left.len())];
            self.backing.write(part, offset + done as u64)
        };
        let write = |done: usize| self.backing.write_where_it_is(&buf[done..]);
        match place {
            Place::Position(offset) if self.has_positions() => {
                match positional::repeat(buf.len(), |done| write_at(done, offset)) {
                    Err(error) if self.learn_refusal(&error, offset) => {
                        positional::repeat(buf.len(), write)
                    }
                    written => written,
                }
            }
            Place::Offset(offset) if self.has_positions() => {
                positional::repeat(buf.len(), |done| write_at(done, offset))
            }
            Place::Offset(offset) => write_at(0, offset),
            Place::Position(_) | Place::System => positional::repeat(buf.len(), write),
        }
    }
}
