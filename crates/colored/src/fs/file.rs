//! [`File`].

use super::backing::Backing;
use super::buffer::ALIGNMENT;
use super::cursor::Cursor;
use super::offload::finished;
use super::open_file::{BYTES_OF_A_UNIT, DEFERRED, INLINE, OpenFile};
use super::positional;
use super::transfer::Place;
use crate::blocking;
use crate::budget::{poll_proceed, spend};
use crate::io::ReadBuf;
use crate::pool::Class;
use socket2::Socket;
use std::fs::{Metadata, Permissions};
use std::future::poll_fn;
use std::io::{self, ErrorKind, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

/// The first read of a file whose length is 0, or not known, is this long: files of `/proc` have no
/// length.
const SMALLEST: usize = 64;

/// The first read of a file that the system makes, or of a stream, is this long: most have no more.
const UNKNOWN: usize = 4095;

/// An open file.
///
/// A read or a write is first tried on the worker, by a call that returns at once. If the data is in
/// the page cache, that is all: no allocation, no thread switch, no submission. Otherwise the
/// operation, or the rest of it, becomes one job of a blocking thread, or one read of the system's
/// io_uring, and the task goes on, under its color, when all of it is done. In between other tasks of the color run, as at any `.await`.
///
/// A `File` has positions of its own, in place of the system's: [`read_at`](Self::read_at) and
/// [`write_at`](Self::write_at) take the position, and take `&self`, so that several tasks may use one
/// file at a time; [`read`](Self::read), [`write`](Self::write) and [`seek`](Self::seek) keep one, and
/// so do the traits [`AsyncRead`](crate::io::AsyncRead), [`AsyncWrite`](crate::io::AsyncWrite) and
/// [`AsyncSeek`](crate::io::AsyncSeek). With the feature `futures-io`, the traits of that crate do, too.
///
/// When a write returns, its bytes are in the page cache of the system: nothing is lost if the `File` is
/// dropped. They are on the device after [`sync_data`](Self::sync_data) or
/// [`sync_all`](Self::sync_all). Dropping a `File` closes it, after its last deferred operation.
///
/// # Cancel safety
///
/// All methods are cancel safe. A dropped read of a file with positions has no effect. A dropped write has written none, some or
/// all of its bytes: the position tells how many are confirmed, and the next operation at the position
/// waits until the write is over, and then goes on there. In append mode such bytes stay in the file.
///
/// # Files on disks, and others
///
/// All this is about regular files on disks, in memory and on other machines, and about block devices: a read fills its
/// buffer, or meets the end. The `File` does to all others what the standard library does: one
/// [`read`](Self::read) returns what one `read(2)` gives, which may be less than there is, and waits if there is nothing.
/// The system keeps the position, if there is one, so a clone and the descriptor share it;
/// [`seek`](Self::seek), [`read_at`](Self::read_at) and [`write_at`](Self::write_at) have the system's answer, each by one
/// call. A dropped read may have taken bytes, which the next read of this `File` returns, and which a seek drops. These
/// files are:
///
/// * pipes, sockets, terminals and other devices, directories, and what no path leads to, as an `eventfd`;
/// * regular files that the system makes when they are read: those of `/proc`, `/sys`, tracefs, debugfs, control groups
///   and their like;
/// * regular files that refuse a position, as some of FUSE do: the first operation finds that out.
///
/// Other files that a process serves by FUSE have positions of the `File`, but a read returns one answer of that process,
/// because it may have less than its length says, and wait for more. A read of any other regular file ends where its length
/// says that it ends, so one whose length is 0 is read once.
///
/// What may wait for ever keeps no program from its end, and stops only its like. Pipes and sockets are tried, on Linux 6.4
/// or later: what a pipe has is read at once, and else the task waits for the reactor. Reads of terminals, and of files
/// that the system makes, wait there, too, on Linux, and then take a thread. [`net`](crate::net) is better for sockets.
///
/// The mode of a descriptor that somebody else has opened, and may share, stays as it is. In non-blocking mode, too, an
/// operation waits: there is no error [`WouldBlock`](ErrorKind::WouldBlock).
///
/// # Direct files
///
/// A file that was opened with `O_DIRECT` is read and written in the lengths and at the positions of the caller, up to
/// 1 MiB a call, by buffers at multiples of 4096 bytes. Where the device takes no such length or position, the error is
/// `InvalidInput`, as of the standard library.
///
/// # Descriptors
///
/// [`AsFd`](std::os::fd::AsFd) and [`AsRawFd`](std::os::fd::AsRawFd), on Windows `AsHandle` and `AsRawHandle`, are for
/// system calls that have no method here, such as locks and hints. The position that the system keeps for the descriptor
/// is not the position of the `File`: it is anywhere, and calls that use it, such as `read(2)` and `lseek(2)`, neither
/// see nor move the other one. Calls with an offset, such as `pread(2)`, need none. A call may run beside an operation of
/// the `File` that was dropped and is not over. [`into_std`](Self::into_std) gives the file away with its position.
///
/// # Errors
///
/// An error is that of the system, as of the standard library. [`named`](crate::io::named) names the operation and the path,
/// if the file was opened by this module.
#[derive(Debug)]
pub struct File {
    pub(super) cursor: Cursor,
}

impl File {
    /// A second handle of the same open file, with a position of its own, which begins where this one's
    /// is; where the system keeps the position, both have one. Waits for the last deferred operation of this handle. Cancel
    /// safe.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left.
    pub async fn try_clone(&mut self) -> io::Result<File> {
        poll_fn(|cx| self.cursor.poll_settle(cx)).await;
        let open = self.cursor.open();
        let file = open.backing.try_clone().map_err(|error| open.failed("clone", error))?;
        let path = open.path().cloned();
        let same = OpenFile::new(file, path, Arc::clone(open.context()), open.is_direct());
        if !open.has_positions() {
            same.refuse_positions();
        }
        Ok(File { cursor: self.cursor.clone_onto(Arc::new(same)) })
    }

    /// Reads at a position until `buf` is full or the file ends, and returns the number of bytes. Cancel
    /// safe.
    ///
    /// Costs one system call if the data is in memory.
    ///
    /// # Errors
    ///
    /// The system's; bytes that were read before it are lost. `InvalidInput` if the position is behind
    /// the last one, 2⁶³ - 1.
    pub async fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let open = self.cursor.open();
        positional::check(offset, buf.len()).map_err(|error| open.failed("read", error))?;
        read_up_to(open, buf, |done| Place::Offset(offset + done as u64)).await
    }

    /// Sends what is in memory at the start of a part to a socket: see [`OpenFile::send`].
    pub(crate) fn send(&self, socket: &Socket, part: &Range<u64>) -> io::Result<usize> {
        let sent = self.cursor.open().send(socket, part)?;
        spend((sent / BYTES_OF_A_UNIT) as u32);
        Ok(sent)
    }

    /// As [`read_at`](Self::read_at), and the end of the file is an error. Cancel safe.
    ///
    /// # Errors
    ///
    /// [`UnexpectedEof`](ErrorKind::UnexpectedEof) if the file ends before `buf` is full.
    pub async fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let wanted = buf.len();
        match self.read_at(buf, offset).await? {
            n if n == wanted => Ok(()),
            n => {
                let text = format!("it ends {n} bytes behind offset {offset}, not {wanted}");
                let error = io::Error::new(ErrorKind::UnexpectedEof, text);
                Err(self.cursor.open().failed("read", error))
            }
        }
    }

    /// Writes all of `buf` at a position, and returns the number of bytes: fewer only before an error,
    /// which the next write meets again. Cancel safe: a dropped call has written any number of bytes, or
    /// will do so.
    ///
    /// In append mode, Linux ignores the position.
    ///
    /// # Errors
    ///
    /// The system's, if it comes before the first byte. `InvalidInput` if the position is behind the last
    /// one, 2⁶³ - 1.
    pub async fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let open = self.cursor.open();
        positional::check(offset, buf.len()).map_err(|error| open.failed("write to", error))?;
        let mut done = 0;
        while done < buf.len() {
            match write_some(open, &buf[done..], offset + done as u64).await {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// As [`write_at`](Self::write_at), and every error is reported. Cancel safe as that: a dropped call has written any
    /// number of bytes, or will do so.
    ///
    /// # Errors
    ///
    /// The system's, and [`WriteZero`](ErrorKind::WriteZero) if it takes no more bytes.
    pub async fn write_all_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match self.write_at(&buf[done..], offset + done as u64).await? {
                0 => {
                    let error = io::Error::from(ErrorKind::WriteZero);
                    return Err(self.cursor.open().failed("write to", error));
                }
                n => done += n,
            }
        }
        Ok(())
    }

    /// Reads from the position until `buf` is full or the file ends, and returns the number of bytes. Of
    /// a pipe, a terminal, a file of `/proc`, and the others that [`File`] lists, it reads what one call gives, and waits if
    /// there is nothing. Cancel safe.
    ///
    /// # Errors
    ///
    /// The system's.
    pub async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.cursor.poll_settle(cx)).await;
        let open = self.cursor.open();
        if open.has_positions() {
            let position = self.cursor.position();
            positional::check(position, buf.len()).map_err(|error| open.failed("read", error))?;
            match read_up_to(open, buf, |done| Place::Position(position + done as u64)).await {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => {
                    let n = read?;
                    self.cursor.advance(n);
                    return Ok(n);
                }
            }
        }
        let mut buf = ReadBuf::new(buf);
        poll_fn(|cx| self.cursor.poll_read(cx, &mut buf)).await?;
        Ok(buf.filled().len())
    }

    /// Appends everything from the position to the end of the file to `bytes`, and returns the number of
    /// bytes. What is not in memory is one deferred operation for each MiB. Cancel safe: the position is
    /// behind the bytes that were appended.
    ///
    /// # Errors
    ///
    /// The system's.
    pub async fn read_to_end(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let before = bytes.len();
        let mut more = self.length_to_end().await?.saturating_add(1).clamp(SMALLEST, INLINE);
        loop {
            if self.cursor.open().is_direct() {
                more = more.next_multiple_of(ALIGNMENT);
            }
            let filled = bytes.len();
            bytes.resize(filled + more, 0);
            let mut room = Room { bytes, filled };
            let n = self.read(room.free()).await?;
            room.filled += n;
            if n == 0 || (n < more && self.cursor.open().ends_short()) {
                drop(room);
                return Ok(bytes.len() - before);
            }
            more = DEFERRED;
        }
    }

    async fn length_to_end(&self) -> io::Result<usize> {
        if !self.cursor.open().has_positions() {
            return Ok(UNKNOWN);
        }
        let length = match self.cursor.open().try_length()? {
            Some(length) => length,
            None => self.metadata().await?.len(),
        };
        let left = length.saturating_sub(self.cursor.position());
        // That may have found it out.
        if !self.cursor.open().has_positions() {
            return Ok(UNKNOWN);
        }
        Ok(usize::try_from(left).unwrap_or(usize::MAX))
    }

    /// Writes all of `buf` at the position, and returns the number of bytes: fewer only before an error,
    /// which the next write meets again. Cancel safe: the position is behind the bytes of the calls that
    /// have returned.
    ///
    /// # Errors
    ///
    /// The system's, if it comes before the first byte.
    pub async fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            match poll_fn(|cx| self.cursor.poll_write(cx, &buf[done..])).await {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Moves the position, and returns it. A position behind the end of a regular file is allowed. Costs a system call, and,
    /// from the end of the file, a call of [`metadata`](Self::metadata); where the system keeps the position, a thread that
    /// calls it. Cancel safe: where the system keeps the position, a dropped call may still move it.
    ///
    /// # Errors
    ///
    /// The standard library's: `InvalidInput` if the position is before the start, or behind the last one that the
    /// file may have, which is the end of a block device; [`NotSeekable`](ErrorKind::NotSeekable) for a pipe or a terminal.
    pub async fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        self.cursor.start_seek(target);
        poll_fn(|cx| self.cursor.poll_seek(cx)).await
    }

    /// The metadata of the file. Cancel safe. Costs one system call if the file is on a device of this
    /// machine, after the first call for that device.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let open = self.cursor.open();
        match open.try_metadata()? {
            Some(metadata) => Ok(metadata),
            None => {
                let metadata =
                    open.defer(Class::File, "read the metadata of", OpenFile::metadata)?;
                finished(metadata).await
            }
        }
    }

    /// Makes the file that long: cuts its end off, or adds zeros. Not cancel safe: a dropped call may still do so.
    pub async fn set_len(&self, len: u64) -> io::Result<()> {
        let set = move |open: &OpenFile| {
            let operation = format!("set a length of {len} for");
            open.backing.set_len(len).map_err(|error| open.failed(&operation, error))
        };
        finished(self.cursor.open().defer(Class::File, "set the length of", set)?).await
    }

    /// Sets the permissions of the file. Not cancel safe: a dropped call may still set them.
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.offload("set the permissions of", |file| file.set_permissions(permissions)).await
    }

    /// Returns when the file's data and metadata are on the device. A write that has not returned is not
    /// waited for. Cancel safe.
    pub async fn sync_all(&self) -> io::Result<()> {
        self.offload("sync", Backing::sync_all).await
    }

    /// As [`sync_all`](Self::sync_all), without metadata that is not needed to read the data. Cancel
    /// safe.
    pub async fn sync_data(&self) -> io::Result<()> {
        self.offload("sync", Backing::sync_data).await
    }

    async fn offload<T: Send + 'static>(
        &self,
        operation: &'static str,
        f: impl FnOnce(&Backing) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let call =
            move |open: &OpenFile| f(&open.backing).map_err(|error| open.failed(operation, error));
        finished(self.cursor.open().defer(Class::File, operation, call)?).await
    }
}

/// The end of a vector that is being filled. Dropping it cuts off what is not, also if the read is
/// cancelled.
struct Room<'a> {
    bytes: &'a mut Vec<u8>,
    filled: usize,
}

impl Room<'_> {
    fn free(&mut self) -> &mut [u8] {
        &mut self.bytes[self.filled..]
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.bytes.truncate(self.filled);
    }
}

/// Reads until `buf` is full, or all is read that there is for now.
async fn read_up_to(
    open: &Arc<OpenFile>,
    buf: &mut [u8],
    place: impl Fn(usize) -> Place,
) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        let (n, is_all) = match read_some(open, &mut buf[done..], place(done)).await {
            // The offset is as good for a file without positions.
            Err(error)
                if error.kind() == ErrorKind::WouldBlock
                    && matches!(place(done), Place::Offset(_)) =>
            {
                continue;
            }
            read => read?,
        };
        done += n;
        if is_all {
            break;
        }
    }
    Ok(done)
}

/// Reads what is in memory, or else waits for the whole rest, up to [`DEFERRED`] bytes. Returns how many bytes these
/// were, and whether there are no more for now.
async fn read_some(
    open: &Arc<OpenFile>,
    buf: &mut [u8],
    place: Place,
) -> io::Result<(usize, bool)> {
    poll_fn(poll_proceed).await;
    if let Place::Position(offset) | Place::Offset(offset) = place
        && let Some(n) = open.try_read(buf, offset)?
    {
        spend((n / BYTES_OF_A_UNIT) as u32);
        return Ok((n, n == 0));
    }
    let wanted = buf.len().min(DEFERRED);
    let bytes = finished(open.defer_read(open.class_at_offset(), wanted, place)?).await?;
    buf[..bytes.len()].copy_from_slice(&bytes);
    Ok((bytes.len(), bytes.len() < wanted || !open.has_positions()))
}

/// As [`read_some`], writing.
async fn write_some(open: &Arc<OpenFile>, buf: &[u8], offset: u64) -> io::Result<usize> {
    poll_fn(poll_proceed).await;
    if let Some(n) = open.try_write(buf, offset)? {
        spend((n / BYTES_OF_A_UNIT) as u32);
        return Ok(n);
    }
    loop {
        let class = if open.has_positions() { Class::File } else { Class::Stream };
        let write = open.defer_write(class, buf, Place::Offset(offset))?.await;
        let (_, written) = write.ok_or_else(blocking::shut_down)?;
        if !written.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
            return written;
        }
    }
}
