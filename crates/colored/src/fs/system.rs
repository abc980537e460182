//! Attempts that do not wait, by operating system. Only Linux has them.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(super) use self::linux::{
    Residency, find, identify, is_anonymous, kind, open, read, read_stream, readiness, send, write,
    write_stream,
};
#[cfg(not(target_os = "linux"))]
pub(super) use self::other::{
    Residency, find, identify, is_anonymous, kind, open, read, read_stream, readiness, send, write,
    write_stream,
};

/// Whether a read of a device, or of a file that the system makes, would find something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Ready,
    /// The reactor can tell when it would.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no other system tells"))]
    Waits,
    /// The read itself has to find out.
    Unknown,
}

/// The answer of an attempt.
#[derive(Debug)]
pub(super) enum Attempt<T> {
    Done(T),
    /// The operation would wait.
    WouldBlock,
    /// The system or the file system has no such attempt.
    Unsupported,
}

/// What an open file is, by a call that may ask a server, on a system without a better one.
fn identify_by_metadata(file: &std::fs::File) -> Option<Identity> {
    let metadata = file.metadata().ok()?;
    #[cfg(unix)]
    let device = std::os::unix::fs::MetadataExt::dev(&metadata);
    #[cfg(not(unix))]
    let device = 0;
    let file_type = match metadata.is_file() {
        true => FileType::Regular,
        false => special_type(metadata.file_type()),
    };
    Some(Identity { device, file_type })
}

#[cfg(unix)]
fn special_type(of: std::fs::FileType) -> FileType {
    use std::os::unix::fs::FileTypeExt;
    match () {
        () if of.is_fifo() || of.is_socket() => FileType::Stream,
        () if of.is_block_device() => FileType::Block,
        () if of.is_char_device() => FileType::Device,
        () => FileType::Other,
    }
}

#[cfg(not(unix))]
fn special_type(_: std::fs::FileType) -> FileType {
    FileType::Other
}

/// What an open file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// As in `st_dev`.
    pub(super) device: u64,
    pub(super) file_type: FileType,
}

/// What kind of file a file is, by how it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileType {
    /// It has positions, and waits for a device; or the system makes its contents.
    Regular,
    /// It has positions, and waits for a device. Its metadata does not tell its length.
    #[cfg_attr(not(unix), expect(dead_code, reason = "no other system has any"))]
    Block,
    /// A pipe or a socket: it waits for its other end, and the reactor can tell.
    Stream,
    /// A terminal, or another device that is a stream of characters.
    Device,
    /// A directory, or something that no path leads to.
    Other,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) append: bool,
}

/// How a file was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// Writes go to the end of the file.
    pub(super) appends: bool,
    /// Reads and writes bypass the page cache, so an attempt would wait for the device.
    pub(super) is_direct: bool,
    /// It is only a name of a file, which cannot be read or written.
    pub(super) is_path: bool,
}

/// How the standard library opened a file, as far as the system tells.
#[cfg(unix)]
pub(super) fn status(file: &std::fs::File) -> Status {
    use rustix::fs::{OFlags, fcntl_getfl};
    let flags = fcntl_getfl(file).unwrap_or(OFlags::empty());
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let (is_direct, is_path) = (flags.contains(OFlags::DIRECT), flags.contains(OFlags::PATH));
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let (is_direct, is_path) = (false, false);
    Status { appends: flags.contains(OFlags::APPEND), is_direct, is_path }
}

/// Makes operations wait.
#[cfg(unix)]
pub(super) fn clear_nonblock(file: &std::fs::File) -> std::io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let flags = fcntl_getfl(file)?;
    Ok(fcntl_setfl(file, flags - OFlags::NONBLOCK)?)
}

/// Makes operations fail that would wait.
#[cfg(unix)]
pub(super) fn set_nonblock(file: &std::fs::File) -> std::io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let flags = fcntl_getfl(file)?;
    Ok(fcntl_setfl(file, flags | OFlags::NONBLOCK)?)
}

/// No system but unix has the mode.
#[cfg(not(unix))]
pub(super) fn clear_nonblock(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

/// As [`clear_nonblock`].
#[cfg(not(unix))]
pub(super) fn set_nonblock(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

/// As on unix, of a system that does not tell.
#[cfg(not(unix))]
pub(super) fn status(_: &std::fs::File) -> Status {
    Status::default()
}
