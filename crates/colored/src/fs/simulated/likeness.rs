//! The standard library's metadata of simulated files.
//!
//! Only the system makes such values. So a file of the same kind, length, permissions and times is made in the directory for
//! temporary files, looked at, and removed.

use crate::error_context::with_context;
use colored_sim::disk::{Kind, Stat};
use std::env;
use std::fs::{self, File, FileTimes, FileType, Metadata};
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The metadata of a file like this.
pub(super) fn of(stat: &Stat) -> io::Result<Metadata> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Ordering: the numbers are different, whatever their order.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("colored-sim-{}-{number}", std::process::id());
    let path = env::temp_dir().join(name);
    make(stat, &path).map_err(|error| {
        let text = format!("{} cannot be made like a simulated file: {error}", path.display());
        with_context(text, error)
    })
}

fn make(stat: &Stat, path: &Path) -> io::Result<Metadata> {
    let times = FileTimes::new().set_modified(stat.modified).set_accessed(stat.modified);
    match stat.kind {
        Kind::File => {
            let file = File::create_new(path)?;
            let filled = file.set_len(stat.len).and_then(|()| file.set_times(times));
            let metadata = filled.and_then(|()| look(stat, path));
            fs::remove_file(path)?;
            metadata
        }
        Kind::Directory => {
            fs::create_dir(path)?;
            // Not every system opens directories.
            if let Ok(directory) = File::open(path) {
                let _ = directory.set_times(times);
            }
            let metadata = look(stat, path);
            fs::remove_dir(path)?;
            metadata
        }
        Kind::Link => {
            system::symlink(stat.len, path)?;
            let metadata = fs::symlink_metadata(path);
            fs::remove_file(path)?;
            metadata
        }
    }
}

fn look(stat: &Stat, path: &Path) -> io::Result<Metadata> {
    system::set_mode(path, stat.mode)?;
    fs::symlink_metadata(path)
}

/// The type of such files. The first call of a process makes a file.
pub(super) fn file_type(kind: Kind) -> io::Result<FileType> {
    static KNOWN: [OnceLock<FileType>; 3] = [const { OnceLock::new() }; 3];
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
    use rustix::fs::OFlags;
    use std::fs::{self, Permissions};
    use std::io;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    pub(in crate::fs::simulated) fn mode(permissions: &Permissions) -> u32 {
        permissions.mode()
    }

    pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, Permissions::from_mode(mode))
    }

    pub(super) fn symlink(len: u64, path: &Path) -> io::Result<()> {
        std::os::unix::fs::symlink("x".repeat(len.max(1) as usize), path)
    }

    /// Whether the flags of the caller make each write synced. Reads and writes that bypass the page cache are as others.
    pub(in crate::fs::simulated) fn is_synced(flags: i32) -> io::Result<bool> {
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
    use std::fs::{self, Permissions};
    use std::io;
    use std::path::Path;

    pub(in crate::fs::simulated) fn mode(permissions: &Permissions) -> u32 {
        if permissions.readonly() { 0o444 } else { 0o644 }
    }

    pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        let mut permissions = fs::metadata(path)?.permissions();
        permissions.set_readonly(mode & 0o200 == 0);
        fs::set_permissions(path, permissions)
    }

    pub(super) fn symlink(_: u64, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::fs::simulated) fn is_synced(_: i32) -> io::Result<bool> {
        Ok(false)
    }
}
