//! Opening a FIFO.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::{Receiver, Sender};
use crate::error_context::with_context;
use crate::services::current;

/// How to open a FIFO: a pipe that has a path.
///
/// ```
/// use colored::io::{AsyncReadExt, AsyncWriteExt};
/// use colored::net::unix::pipe::OpenOptions;
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// # let path = std::env::temp_dir().join(format!("colored-fifo-{}", std::process::id()));
/// # let _ = std::fs::remove_file(&path);
/// # assert!(colored::process::Command::new("mkfifo").arg(&path).status().await?.success());
/// // A FIFO has to have a reader before it can be opened for writing.
/// let mut receiver = OpenOptions::new().open_receiver(&path)?;
/// let mut sender = OpenOptions::new().open_sender(&path)?;
/// sender.write_all(b"hello").await?;
/// drop(sender);
/// let mut text = String::new();
/// receiver.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # std::fs::remove_file(&path)
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    read_write: bool,
    unchecked: bool,
}

impl OpenOptions {
    /// Opens for one direction, and checks that the file is a FIFO.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Whether to open for both directions, though only one is used; default false. A receiver then does not come to an end
    /// when the last sender closes the FIFO, but waits for the next; and a sender needs no reader to open it. POSIX leaves
    /// open what this does; Linux, macOS and the BSDs have it.
    pub fn read_write(&mut self, both: bool) -> &mut OpenOptions {
        self.read_write = both;
        self
    }

    /// Whether to take any file, for instance one whose kind is known; default false. Saves two system calls.
    pub fn unchecked(&mut self, any: bool) -> &mut OpenOptions {
        self.unchecked = any;
        self
    }

    /// Opens the FIFO for reading, whether or not there is a sender. On Linux a read waits for the first sender; other
    /// systems may report the end of the stream before, unless [`read_write`](OpenOptions::read_write) is set.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it may not be opened; and [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no
    /// FIFO. [`named_call`](crate::io::named_call) names the path.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn open_receiver(&self, path: impl AsRef<Path>) -> io::Result<Receiver> {
        let of_file = match self.unchecked {
            true => Receiver::from_file_unchecked,
            false => Receiver::from_file,
        };
        self.open(path.as_ref(), fs::OpenOptions::new().read(true).write(self.read_write), of_file)
    }

    /// Opens the FIFO for writing.
    ///
    /// # Errors
    ///
    /// Those of [`open_receiver`](OpenOptions::open_receiver); and the system's `ENXIO` if nobody has opened the FIFO for
    /// reading: try again later.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn open_sender(&self, path: impl AsRef<Path>) -> io::Result<Sender> {
        let of_file = match self.unchecked {
            true => Sender::from_file_unchecked,
            false => Sender::from_file,
        };
        self.open(path.as_ref(), fs::OpenOptions::new().write(true).read(self.read_write), of_file)
    }

    #[track_caller]
    fn open<T>(
        &self,
        path: &Path,
        options: &mut fs::OpenOptions,
        of_file: impl FnOnce(File) -> io::Result<T>,
    ) -> io::Result<T> {
        // Before the other end sees that there is one.
        current::with(|_| ());
        // Without this flag the call would wait for the other end.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        options.custom_flags(flags).open(path).and_then(of_file).map_err(|error| {
            with_context(format!("cannot open the pipe {}: {error}", path.display()), error)
        })
    }
}
