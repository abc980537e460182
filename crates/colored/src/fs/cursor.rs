//! [`Cursor`]: a file with a position, and the operation on it that has not returned yet.
//!
//! A deferred operation owns its bytes, and has a counted reference to the file. Only the owner of the
//! `File` touches the cursor. So a dropped future leaves its operation here, and the next operation
//! waits for it. The position changes only when an operation returns to its caller.

use super::backing::Backing;
use super::open_file::{BYTES_OF_A_UNIT, INLINE, OpenFile};
use super::transfer::{Place, Written};
use crate::blocking::{self, Deferred};
use crate::budget::{poll_proceed, spend};
use crate::io::ReadBuf;
use crate::pool::Class;
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A file with a position.
#[derive(Debug)]
pub(super) struct Cursor {
    open: Arc<OpenFile>,
    position: u64,
    /// Whether writes go to the end of the file, and leave the position alone.
    appends: bool,
    deferred: Option<Operation>,
    /// Bytes of a file without positions that were read for a caller who did not wait for them.
    unread: Vec<u8>,
    /// Where a seek goes, from its start to its end.
    target: Option<SeekFrom>,
}

/// A deferred operation.
#[derive(Debug)]
enum Operation {
    Read(Deferred<io::Result<Vec<u8>>>),
    Write(Deferred<Written>),
    Length(Deferred<io::Result<u64>>),
    /// A seek of the position that the system keeps.
    Seek(SeekFrom, Deferred<io::Result<u64>>),
    Look(Deferred<()>),
}

impl Cursor {
    pub(super) fn new(open: Arc<OpenFile>, position: u64, appends: bool) -> Self {
        Self { open, position, appends, deferred: None, unread: Vec::new(), target: None }
    }

    /// A cursor at the same position of another descriptor of the file.
    pub(super) fn clone_onto(&self, open: Arc<OpenFile>) -> Self {
        Self::new(open, self.position, self.appends)
    }

    pub(super) fn open(&self) -> &Arc<OpenFile> {
        &self.open
    }

    pub(super) fn into_open(self) -> Arc<OpenFile> {
        self.open
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Moves the position over bytes that were read.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.position += bytes as u64;
    }

    /// Waits for an operation whose future was dropped.
    pub(super) fn poll_settle(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.deferred {
            None => return Poll::Ready(()),
            Some(Operation::Read(read)) => {
                let bytes = ready!(Pin::new(read).poll(cx));
                if let Some(Ok(bytes)) = bytes
                    && !self.open.has_positions()
                {
                    self.unread = bytes;
                }
            }
            Some(Operation::Seek(_, seek)) => {
                if let Some(Ok(_)) = ready!(Pin::new(seek).poll(cx)) {
                    self.unread.clear();
                }
            }
            // The caller gave the write up, and its error with it.
            Some(Operation::Write(write)) => drop(ready!(Pin::new(write).poll(cx))),
            Some(Operation::Length(length)) => drop(ready!(Pin::new(length).poll(cx))),
            Some(Operation::Look(look)) => drop(ready!(Pin::new(look).poll(cx))),
        }
        self.deferred = None;
        Poll::Ready(())
    }

    /// Waits for an operation whose future was dropped, and until it is known who keeps the position.
    pub(super) fn poll_know(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_settle(cx));
            if self.open.is_known() {
                return Poll::Ready(Ok(()));
            }
            self.deferred = Some(Operation::Look(self.open.look()?));
        }
    }

    /// The place of the next operation.
    fn place(&self) -> Place {
        match self.open.has_positions() {
            true => Place::Position(self.position),
            false => Place::System,
        }
    }

    /// Reads once.
    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            match &mut self.deferred {
                _ if !self.unread.is_empty() => {
                    let n = buf.remaining().min(self.unread.len());
                    buf.put_slice(&self.unread[..n]);
                    self.unread.drain(..n);
                    return Poll::Ready(Ok(()));
                }
                Some(Operation::Read(read)) => {
                    let bytes = taken(ready!(Pin::new(read).poll(cx)));
                    self.deferred = None;
                    let mut bytes = match bytes {
                        // It has to be asked for again.
                        Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                        bytes => bytes?,
                    };
                    let n = buf.remaining().min(bytes.len());
                    buf.put_slice(&bytes[..n]);
                    self.position += n as u64;
                    if !self.open.has_positions() {
                        self.unread = bytes.split_off(n);
                    }
                    return Poll::Ready(Ok(()));
                }
                Some(_) => ready!(self.poll_settle(cx)),
                None => {
                    ready!(poll_proceed(cx));
                    let room = buf.remaining().min(INLINE);
                    let unfilled = buf.initialize_unfilled_to(room);
                    if let Some(n) = ready!(self.open.poll_read_stream(cx, unfilled))? {
                        buf.advance(n);
                        return Poll::Ready(Ok(()));
                    }
                    if let Some(n) = self.open.try_read(unfilled, self.position)? {
                        buf.advance(n);
                        self.position += n as u64;
                        spend((n / BYTES_OF_A_UNIT) as u32);
                        return Poll::Ready(Ok(()));
                    }
                    let class = ready!(self.open.poll_reader(cx))?;
                    let read = self.open.defer_read(class, buf.remaining(), self.place())?;
                    self.deferred = Some(Operation::Read(read));
                }
            }
        }
    }

    /// Writes once, and returns the number of bytes when they are in the page cache.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        loop {
            match &mut self.deferred {
                Some(Operation::Write(write)) => {
                    let done = ready!(Pin::new(write).poll(cx));
                    self.deferred = None;
                    let (bytes, written) = done.ok_or_else(blocking::shut_down)?;
                    // Otherwise its caller gave that write up, and its error with it: this write is
                    // another, and goes to the same position.
                    if buf.starts_with(bytes.bytes()) {
                        let n = match written {
                            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                            written => written?,
                        };
                        self.move_position(n);
                        return Poll::Ready(Ok(n));
                    }
                }
                Some(_) => ready!(self.poll_settle(cx)),
                None => {
                    ready!(poll_proceed(cx));
                    if let Some(n) = ready!(self.open.poll_write_stream(cx, buf))? {
                        return Poll::Ready(Ok(n));
                    }
                    if let Some(n) = self.open.try_write(buf, self.position)? {
                        self.move_position(n);
                        spend((n / BYTES_OF_A_UNIT) as u32);
                        return Poll::Ready(Ok(n));
                    }
                    let place = if self.appends { Place::System } else { self.place() };
                    let write = self.open.defer_write(self.open.writer(), buf, place)?;
                    self.deferred = Some(Operation::Write(write));
                }
            }
        }
    }

    fn move_position(&mut self, bytes: usize) {
        if !self.appends {
            self.position += bytes as u64;
        }
    }

    /// Begins a seek; [`poll_seek`](Self::poll_seek) ends it.
    pub(super) fn start_seek(&mut self, target: SeekFrom) {
        self.target = Some(target);
    }

    /// Goes to the target of the last [`start_seek`](Self::start_seek), and returns the position.
    pub(super) fn poll_seek(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        loop {
            match (&mut self.deferred, self.target) {
                (Some(Operation::Length(length)), Some(SeekFrom::End(offset))) => {
                    let length = taken(ready!(Pin::new(length).poll(cx)));
                    self.deferred = None;
                    self.target = None;
                    return Poll::Ready(length.and_then(|length| self.go(length, offset)));
                }
                (Some(Operation::Seek(to, seek)), Some(target)) if *to == target => {
                    let position = taken(ready!(Pin::new(seek).poll(cx)));
                    self.deferred = None;
                    self.target = None;
                    if position.is_ok() {
                        self.unread.clear();
                    }
                    return Poll::Ready(position);
                }
                (Some(_), _) => ready!(self.poll_settle(cx)),
                (None, None) => return Poll::Ready(Ok(self.position)),
                (None, Some(_)) if !self.open.is_known() => ready!(self.poll_know(cx))?,
                (None, Some(target)) if self.open.may_keep_position() => {
                    let seek = self.seek_by_system(target)?;
                    self.deferred = Some(Operation::Seek(target, seek));
                }
                (None, Some(SeekFrom::Start(position))) => {
                    self.target = None;
                    return Poll::Ready(self.go(position, 0));
                }
                (None, Some(SeekFrom::Current(offset))) => {
                    self.target = None;
                    return Poll::Ready(self.go(self.position, offset));
                }
                (None, Some(SeekFrom::End(offset))) => {
                    if let Some(length) = self.open.try_length()? {
                        self.target = None;
                        return Poll::Ready(self.go(length, offset));
                    }
                    let length = self.open.defer(Class::File, "seek in", OpenFile::length)?;
                    self.deferred = Some(Operation::Length(length));
                }
            }
        }
    }

    /// Asks the system to move the position that it keeps.
    fn seek_by_system(&self, target: SeekFrom) -> io::Result<Deferred<io::Result<u64>>> {
        let unread = self.unread.len() as i64;
        let to = match target {
            // The system is behind the bytes that nobody has taken.
            SeekFrom::Current(offset) => SeekFrom::Current(offset.saturating_sub(unread)),
            target => target,
        };
        self.open.defer(Class::Stream, "seek in", move |open| {
            (&**open.system_file()).seek(to).map_err(|error| open.failed("seek in", error))
        })
    }

    /// Leaves the position with the system, where it is for the next owner of the file.
    pub(super) fn leave_position(&self) -> io::Result<()> {
        if self.open.has_positions() {
            (&**self.open.system_file()).seek(SeekFrom::Start(self.position))?;
        } else if !self.unread.is_empty() && self.open.may_keep_position() {
            // Where that fails the bytes are lost.
            let _position =
                (&**self.open.system_file()).seek(SeekFrom::Current(-(self.unread.len() as i64)));
        }
        Ok(())
    }

    fn go(&mut self, from: u64, offset: i64) -> io::Result<u64> {
        // A sum that is no position is negative for the system.
        let to = from.wrapping_add_signed(offset);
        let gone = match &self.open.backing {
            // It is up to the file which positions there are: a device has none behind its end, and a pipe none at all.
            Backing::System(file) => (&**file).seek(SeekFrom::Start(to)),
            Backing::Simulated(_) if i64::try_from(to).is_ok() => Ok(to),
            Backing::Simulated(_) => {
                let text =
                    format!("{from} and {offset} make no position; allowed are 0 to {}", i64::MAX);
                Err(io::Error::new(ErrorKind::InvalidInput, text))
            }
        };
        self.position = gone.map_err(|error| self.open.failed("seek in", error))?;
        Ok(self.position)
    }

    /// Waits until a write that was given up is over, and returns its error.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(Operation::Write(write)) = &mut self.deferred {
            let done = ready!(Pin::new(write).poll(cx));
            self.deferred = None;
            let (_, written) = done.ok_or_else(blocking::shut_down)?;
            return Poll::Ready(written.map(|_| ()));
        }
        Poll::Ready(Ok(()))
    }
}

fn taken<T>(result: Option<io::Result<T>>) -> io::Result<T> {
    result.ok_or_else(blocking::shut_down)?
}
