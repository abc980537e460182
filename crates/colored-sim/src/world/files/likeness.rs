//! The standard library's metadata of simulated files.
//!
//! Only the system makes such values. So the process keeps a file of the system without a name, and gives it the length, the
//! permissions and the times of the simulated file whose metadata is asked for. The same for directories.

use crate::disk::{Kind, Stat};
use std::env;
use std::fs::{self, File, FileTimes, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The metadata of a file like this.
pub(super) fn of(stat: &Stat) -> io::Result<Metadata> {
    static FILE: StandIn = StandIn(Mutex::new(None));
    let found = match stat.kind {
        Kind::File => FILE.look_like(stat, make_file),
        Kind::Directory => system::directory(stat),
        Kind::Link => system::link(stat.len),
        Kind::Socket => system::socket(stat),
    };
    found.map_err(|error| {
        let place = env::temp_dir().display().to_string();
        let text = format!("nothing in {place} can be made like a simulated file: {error}");
        io::Error::new(error.kind(), text)
    })
}

/// A path that nothing else has.
fn new_path() -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Ordering: the numbers are different, whatever their order.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("colored-sim-{}-{number}", std::process::id()))
}

fn make_file(path: &Path) -> io::Result<File> {
    let file = File::create_new(path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// A file or a directory of the system that has no name any more.
struct StandIn(Mutex<Option<File>>);

impl StandIn {
    /// The metadata of the stand-in, which looks like this first. `make` makes it.
    fn look_like(&self, stat: &Stat, make: fn(&Path) -> io::Result<File>) -> io::Result<Metadata> {
        // No lock is held while the system works: a run that waits for another run's lock would look stuck.
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let file = taken.map_or_else(|| make(&new_path()), Ok)?;
        if stat.kind == Kind::File {
            file.set_len(stat.len)?;
        }
        file.set_times(FileTimes::new().set_modified(stat.modified).set_accessed(stat.modified))?;
        system::set_mode(&file, stat.mode)?;
        let metadata = file.metadata();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        metadata
    }
}

/// The type of such files. The first call of a process makes a file.
pub(super) fn file_type(kind: Kind) -> io::Result<FileType> {
    static KNOWN: [OnceLock<FileType>; 4] = [const { OnceLock::new() }; 4];
    let known = &KNOWN[kind as usize];
    match known.get() {
        Some(file_type) => Ok(*file_type),
        None => {
            let modified = fs::metadata(env::temp_dir())?.modified()?;
            let found = of(&Stat { kind, len: 0, mode: 0o700, modified, links: 1 })?;
            Ok(*known.get_or_init(|| found.file_type()))
        }
    }
}

pub(super) use self::system::{is_synced, mode};

#[cfg(unix)]
mod system {
    use super::{StandIn, new_path};
    use crate::disk::Stat;
    use rustix::fs::OFlags;
    use std::fs::{self, File, Metadata, Permissions};
    use std::io;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::sync::Mutex;

    pub(in crate::world::files) fn mode(permissions: &Permissions) -> u32 {
        permissions.mode()
    }

    pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(mode))
    }

    pub(super) fn directory(stat: &Stat) -> io::Result<Metadata> {
        static DIRECTORY: StandIn = StandIn(Mutex::new(None));
        DIRECTORY.look_like(stat, make_directory)
    }

    fn make_directory(path: &Path) -> io::Result<File> {
        fs::create_dir(path)?;
        let directory = File::open(path);
        fs::remove_dir(path)?;
        directory
    }

    /// A link needs a name. Its length is that of its target.
    pub(super) fn link(len: u64) -> io::Result<Metadata> {
        let path = new_path();
        symlink("x".repeat(len.max(1) as usize), &path)?;
        let metadata = fs::symlink_metadata(&path);
        fs::remove_file(&path)?;
        metadata
    }

    /// A socket has times of its own only while it has a name.
    pub(super) fn socket(stat: &Stat) -> io::Result<Metadata> {
        let path = new_path();
        let _socket = UnixListener::bind(&path)?;
        let looks = fs::set_permissions(&path, Permissions::from_mode(stat.mode));
        let metadata = looks.and_then(|()| fs::symlink_metadata(&path));
        fs::remove_file(&path)?;
        metadata
    }

    /// Whether the flags of the caller make each write synced. Reads and writes that bypass the page cache are as others.
    pub(in crate::world::files) fn is_synced(flags: i32) -> io::Result<bool> {
        let flags = OFlags::from_bits_retain(flags.cast_unsigned());
        let syncs = OFlags::SYNC | OFlags::DSYNC;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let known = syncs | OFlags::DIRECT | OFlags::CLOEXEC;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let known = syncs | OFlags::CLOEXEC;
        match (flags - known).is_empty() {
            true => Ok(flags.intersects(syncs)),
            false => {
                let text =
                    format!("a simulated file is opened without the flags {:?}", flags - known);
                Err(io::Error::new(io::ErrorKind::Unsupported, text))
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    use crate::disk::Stat;
    use std::env;
    use std::fs::{self, File, Metadata, Permissions};
    use std::io;

    pub(in crate::world::files) fn mode(permissions: &Permissions) -> u32 {
        if permissions.readonly() { 0o444 } else { 0o644 }
    }

    pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
        let mut permissions = file.metadata()?.permissions();
        permissions.set_readonly(mode & 0o200 == 0);
        file.set_permissions(permissions)
    }

    /// Any directory, for these systems open none without special flags.
    pub(super) fn directory(_: &Stat) -> io::Result<Metadata> {
        fs::metadata(env::temp_dir())
    }

    pub(super) fn link(_: u64) -> io::Result<Metadata> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn socket(_: &Stat) -> io::Result<Metadata> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::world::files) fn is_synced(_: i32) -> io::Result<bool> {
        Ok(false)
    }
}
