//! Attempts that do not wait, by operating system. Only Linux has them.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(super) use self::linux::{
    Residency, clear_nonblock, find, identify, kind, open, read, read_stream, write, write_stream,
};
#[cfg(not(target_os = "linux"))]
pub(super) use self::other::{
    Residency, clear_nonblock, find, identify, kind, open, read, read_stream, write, write_stream,
};

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
    #[cfg(unix)]
    let is_stream = {
        use std::os::unix::fs::FileTypeExt;
        metadata.file_type().is_fifo() || metadata.file_type().is_socket()
    };
    #[cfg(not(unix))]
    let is_stream = false;
    let file_type = match metadata.is_file() {
        true => FileType::Regular,
        false if is_stream => FileType::Stream,
        false => FileType::Other,
    };
    Some(Identity { device, file_type })
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
    /// It has positions, and waits for a device.
    Regular,
    /// A pipe or a socket: it waits for its other end, and the reactor can tell.
    Stream,
    /// A directory, a terminal, or another device.
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
}

/// How the standard library opened a file, as far as the system tells.
#[cfg(unix)]
pub(super) fn status(file: &std::fs::File) -> Status {
    use rustix::fs::{OFlags, fcntl_getfl};
    let flags = fcntl_getfl(file).unwrap_or(OFlags::empty());
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let is_direct = flags.contains(OFlags::DIRECT);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let is_direct = false;
    Status { appends: flags.contains(OFlags::APPEND), is_direct }
}

/// As on unix, of a system that does not tell.
#[cfg(not(unix))]
pub(super) fn status(_: &std::fs::File) -> Status {
    Status::default()
}
