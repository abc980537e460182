//! What a file is to its operations: who keeps its position, and on which threads it waits.
//!
//! A file on a disk has positions of ours, and one call at a position has the answer that it will always have. Other
//! files are read and written as the standard library would, by `read(2)`, `write(2)` and `lseek(2)`: what they are is
//! up to a driver, which may keep the position, refuse one, or wait until there is something.

use super::open_file::{Facts, OpenFile};
use super::system::{self, FileType, Readiness};
use crate::blocking::{self, Deferred};
use crate::device::Kind;
use crate::pool::Class;
use crate::wait_reason::{Kind as Leaf, labeled};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

impl OpenFile {
    fn file_type(&self) -> Option<FileType> {
        self.facts().map(|facts| facts.file_type)
    }

    fn is_on(&self, kind: Kind) -> bool {
        self.facts().is_some_and(|facts| facts.device.kind() == Some(kind))
    }

    /// Whether the system makes the contents of the file.
    fn is_made(&self) -> bool {
        self.is_on(Kind::Generated) && self.file_type() == Some(FileType::Regular)
    }

    /// Whether [`has_positions`](Self::has_positions) has its final answer, as far as that can be found out before an
    /// operation.
    pub(super) fn is_known(&self) -> bool {
        self.facts().is_none_or(|facts| {
            facts.file_type != FileType::Regular
                || facts.device.kind().is_some()
                || !facts.is_anonymous
        })
    }

    /// Waits until [`has_positions`](Self::has_positions) has its answer.
    pub(super) async fn know(self: &Arc<Self>) -> io::Result<()> {
        while !self.is_known() {
            labeled(Leaf::File, 0, self.look()?).await;
        }
        Ok(())
    }

    /// Finds out what is not known, on a thread: a server may have to answer.
    pub(super) fn look(self: &Arc<Self>) -> io::Result<Deferred<()>> {
        let file = Arc::clone(self);
        blocking::defer_to(&self.services().pool, Class::File, move || file.learn_kind())
            .map_err(|error| self.failed("examine", error))
    }

    /// Whether the file has positions, of which it takes any: it is on a disk or in memory, or nothing is known of it.
    /// Of other files the system keeps the position, if there is one.
    pub(super) fn has_positions(&self) -> bool {
        // Ordering: the flag stands for itself; who reads it late is refused again.
        if self.refuses.load(Ordering::Relaxed) {
            return false;
        }
        self.facts().is_none_or(|facts| match facts.file_type {
            FileType::Regular => facts.device.kind() != Some(Kind::Generated),
            FileType::Block => true,
            FileType::Stream | FileType::Device | FileType::Other => false,
        })
    }

    /// Whether the file is one for which the attempts are made.
    pub(super) fn has_attempts(&self) -> bool {
        !self.is_direct() && self.file_type() == Some(FileType::Regular) && self.has_positions()
    }

    /// Whether the system keeps the position, if there is one. A pipe and a socket have none.
    pub(super) fn may_keep_position(&self) -> bool {
        !self.has_positions() && !self.is_pipe_or_socket()
    }

    /// Whether the file is a pipe or a socket.
    pub(super) fn is_pipe_or_socket(&self) -> bool {
        self.file_type() == Some(FileType::Stream)
    }

    /// Sets the mode of a file that was opened here, `tried` if in non-blocking mode. On a disk the mode means nothing.
    ///
    /// A read of a file that the system makes does not wait on a thread: the reactor may tell several readers of one
    /// message. Of other files a server might learn the mode.
    pub(super) fn set_mode(&self, tried: bool) -> io::Result<()> {
        let is_near = |facts: &Facts| {
            let kind = facts.device.kind();
            !facts.is_anonymous || matches!(kind, Some(Kind::Memory | Kind::Local))
        };
        let set = match self.is_made() {
            true if !tried => system::set_nonblock(self.system_file()),
            false if tried && !self.facts().is_none_or(is_near) => {
                system::clear_nonblock(self.system_file())
            }
            _ => Ok(()),
        };
        set.map_err(|error| self.failed("open", error))
    }

    /// Makes operations of a file that was opened here wait, as the standard library would have opened it.
    pub(super) fn reset_mode(&self) -> io::Result<()> {
        match self.has_positions() || self.is_made() && self.path().is_some() {
            true => system::clear_nonblock(self.system_file()),
            false => Ok(()),
        }
    }

    /// From now on the system keeps the position.
    pub(super) fn refuse_positions(&self) {
        // Ordering: the flag stands for itself.
        self.refuses.store(true, Ordering::Relaxed);
    }

    /// Whether an error says that the file takes no position. Then the system's own position is `position` from now on.
    pub(super) fn learn_refusal(&self, error: &io::Error, position: u64) -> bool {
        // A pipe's of Windows is `ERROR_INVALID_FUNCTION`, for which std has no kind.
        let is_pipe = cfg!(windows) && error.raw_os_error() == Some(1);
        if error.kind() != ErrorKind::NotSeekable && !is_pipe {
            return false;
        }
        // Some such files do have a position, and others say again that they have none.
        let _moved = (&**self.system_file()).seek(SeekFrom::Start(position));
        self.refuse_positions();
        true
    }

    /// Whether one answer to a read, at `end` afterwards, is all that there is for now.
    pub(super) fn is_all(&self, end: u64) -> bool {
        // A process may give less than it has. To ask again might mean to wait.
        self.is_on(Kind::Served) || self.length().is_ok_and(|length| end >= length)
    }

    /// Whether a read at the end of the file says so by its length.
    pub(super) fn ends_short(&self) -> bool {
        self.has_positions() && !self.is_on(Kind::Served)
    }

    /// The length, if telling it does not wait.
    pub(super) fn try_length(&self) -> io::Result<Option<u64>> {
        if let Some(file) = self.backing.simulated() {
            return file.unless_deferred(|| self.length());
        }
        match self.file_type() {
            Some(FileType::Block) => Ok(None),
            _ => Ok(self.try_metadata()?.map(|metadata| metadata.len())),
        }
    }

    /// The length of a file that has positions; may block.
    pub(super) fn length(&self) -> io::Result<u64> {
        match self.file_type() {
            Some(FileType::Block) => {
                let end = (&**self.system_file()).seek(SeekFrom::End(0));
                end.map_err(|error| self.failed("find the end of", error))
            }
            _ => self.backing.len().map_err(|error| self.failed("find the end of", error)),
        }
    }

    /// Where a read runs. The reactor waits for a terminal, and for a file that the system makes, before a thread does.
    pub(super) fn poll_reader(&self, cx: &mut Context<'_>) -> Poll<io::Result<Class>> {
        if self.has_positions() {
            return Poll::Ready(Ok(self.class_at_offset()));
        }
        if !self.is_made() && self.file_type() != Some(FileType::Device) {
            return Poll::Ready(Ok(Class::Stream));
        }
        let is_ready =
            ready!(self.poll_readable(cx, |open| system::readiness(open.system_file())))?;
        let class = if is_ready == Readiness::Ready { Class::Ready } else { Class::Stream };
        Poll::Ready(Ok(class))
    }

    /// Where a write runs.
    pub(super) fn writer(&self) -> Class {
        let is_terminal = || io::IsTerminal::is_terminal(&**self.system_file());
        match self.file_type() {
            _ if self.has_positions() => Class::File,
            _ if self.is_made() => Class::Ready,
            Some(FileType::Device) if !is_terminal() => Class::Ready,
            _ => Class::Stream,
        }
    }

    /// Where a read at a given offset runs.
    pub(super) fn class_at_offset(&self) -> Class {
        match self.has_positions() {
            true if self.is_on(Kind::Served) => Class::Served,
            true => Class::File,
            false => Class::Stream,
        }
    }
}
