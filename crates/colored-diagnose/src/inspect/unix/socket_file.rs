//! [`SocketFile`]: a socket at a path, which nobody else can connect to at any time.

use mio::net::UnixStream;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The name of the socket while it is in a directory of its own. Short, as the system allows some 100 bytes for a path.
const NAME: &str = "s";

/// The file of a socket. Dropping it removes the file, unless another file has taken its place.
pub(super) struct SocketFile {
    path: PathBuf,
    /// The device and the number of the file there.
    identity: (u64, u64),
}

impl SocketFile {
    /// Makes a socket with the mode 0600 that listens at `path`. The file comes into being in a directory that only this
    /// user may enter, and moves to `path` with the mode that it is to have: the mask of new files belongs to the whole
    /// process, so it cannot be changed for a moment.
    ///
    /// # Errors
    ///
    /// If there is something else than a socket of a process that has ended, or the system refuses.
    pub(super) fn bind(path: &Path) -> io::Result<(Self, UnixListener)> {
        check_place(path)?;
        let nursery = Nursery::beside(path)?;
        let within = nursery.0.join(NAME);
        let listener = UnixListener::bind(&within)?;
        fs::set_permissions(&within, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let identity = identity(&within)?;
        fs::rename(&within, path)?;
        Ok((Self { path: path.to_owned(), identity }, listener))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|there| there == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A directory that only this user may enter. Dropping it removes it.
struct Nursery(PathBuf);

impl Nursery {
    fn beside(path: &Path) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            // Ordering: the numbers are different, whatever their order.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let directory = path.with_file_name(format!(".{}-{number}", process::id()));
            match DirBuilder::new().mode(0o700).create(&directory) {
                // Of a process that has ended, and had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(directory)),
            }
        }
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0.join(NAME));
        let _ = fs::remove_dir(&self.0);
    }
}

/// Whether a socket may take this path.
fn check_place(path: &Path) -> io::Result<()> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there?,
    };
    if !there.file_type().is_socket() {
        let text = "there is a file of another kind; remove it, or choose another path";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    match UnixStream::connect(path) {
        // Nobody listens: its process has ended.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        // A process listens, and may have as many connections as it can take.
        Ok(_) => Err(in_use()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(in_use()),
        Err(error) => Err(error),
    }
}

fn in_use() -> io::Error {
    let text = "a process listens there, this one or another; choose another path, in which the variable \
        COLORED_INSPECT has the number of the process for {pid}";
    io::Error::new(io::ErrorKind::AddrInUse, text)
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))
}
