//! The files of a simulated host.
//!
//! What the system would do in the poll if it were in memory, a simulated host does in the poll, or, by choice, on a
//! blocking thread, which is an actor of the simulation: reads, writes, openings of files that exist, and metadata. All
//! other operations are left to the actor, as elsewhere.

mod likeness;

use super::open::OpenOptions;
use crate::world::{Family, Host};
use colored_sim::disk::{Disk, Error, Handle, Options};
use std::ffi::OsString;
use std::fs::{FileType, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An operation that could be done in the poll is left to the actor of blocking calls once in so many times. A guess.
const DEFERRED: u32 = 4;

/// The tree of a host.
#[derive(Clone, Debug)]
pub(super) struct Tree(Arc<Host>);

impl Tree {
    pub(super) fn of(host: &Arc<Host>) -> Tree {
        Tree(Arc::clone(host))
    }

    /// Whether an operation is left to the actor of blocking calls, by choice.
    pub(super) fn is_deferred(&self) -> bool {
        self.0.world.is_one_in(DEFERRED, Family::Disk, self.0.number)
    }

    fn with<R>(&self, f: impl FnOnce(&mut Disk) -> R) -> R {
        f(&mut self.0.disk_now())
    }

    fn is_failed(&self) -> bool {
        self.0.world.fault(Family::Disk, self.0.number)
    }

    pub(super) fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        let (access, creation) = (options.access, options.creation);
        let options = Options {
            read: access.read,
            write: access.write,
            append: access.append,
            truncate: creation.truncate,
            create: creation.create,
            create_new: creation.create_new,
            sync: likeness::is_synced(options.flags)?,
            mode: creation.mode.unwrap_or(0o666),
        };
        let handle = self.with(|disk| disk.open(path, &options))?;
        Ok(File { tree: self.clone(), handle })
    }

    pub(super) fn look_at(&self, path: &Path, follow: bool) -> io::Result<Metadata> {
        likeness::of(&self.with(|disk| disk.stat(path, follow))?)
    }

    /// The entries of a directory, by their names.
    pub(super) fn read_dir(
        &self,
        path: &Path,
    ) -> io::Result<Vec<(OsString, io::Result<FileType>)>> {
        let entries = self.with(|disk| disk.read_dir(path))?;
        Ok(entries.into_iter().map(|entry| (entry.name, likeness::file_type(entry.kind))).collect())
    }

    pub(super) fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.create_dir_by(path, false, None)
    }

    pub(super) fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.create_dir_by(path, true, None)
    }

    pub(super) fn create_dir_by(
        &self,
        path: &Path,
        all: bool,
        mode: Option<u32>,
    ) -> io::Result<()> {
        let mode = mode.unwrap_or(0o777);
        self.with(|disk| match all {
            true => disk.create_dir_all(path, mode),
            false => disk.create_dir(path, mode),
        })
    }

    pub(super) fn set_permissions(&self, path: &Path, permissions: Permissions) -> io::Result<()> {
        let mode = likeness::mode(&permissions);
        self.with(|disk| disk.set_mode(path, mode))
    }
}

macro_rules! calls_of_the_disk {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Tree {$(
            pub(super) fn $name(&self, $($argument: $type),*) -> io::Result<$output> {
                self.with(|disk| disk.$name($($argument),*))
            }
        )*}
    };
}

calls_of_the_disk! {
    copy(from: &Path, to: &Path) -> u64;
    rename(from: &Path, to: &Path) -> ();
    hard_link(original: &Path, link: &Path) -> ();
    remove_file(path: &Path) -> ();
    remove_dir(path: &Path) -> ();
    remove_dir_all(path: &Path) -> ();
    read_link(path: &Path) -> PathBuf;
    canonicalize(path: &Path) -> PathBuf;
    write(path: &Path, bytes: &[u8]) -> ();
}

#[cfg(unix)]
calls_of_the_disk! {
    symlink(original: &Path, link: &Path) -> ();
}

/// An open file of a host. Dropping it closes it.
#[derive(Debug)]
pub(super) struct File {
    tree: Tree,
    handle: Handle,
}

impl File {
    /// The result of the call; `None` if it is left to the actor of blocking calls, by choice.
    pub(super) fn unless_deferred<T>(
        &self,
        call: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        if self.tree.is_deferred() { Ok(None) } else { call().map(Some) }
    }

    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.tree.is_failed() {
            return Err(Error::Io.into());
        }
        self.tree.with(|disk| disk.read_at(self.handle, buf, offset))
    }

    /// Writes at an offset; of a file in append mode, at the end.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if self.tree.is_failed() {
            let host = &self.tree.0;
            let is_full = host.world.is_tails(Family::Disk, host.number);
            return Err(if is_full { Error::Full } else { Error::Io }.into());
        }
        self.tree.with(|disk| disk.write_at(self.handle, bytes, offset))
    }

    /// A simulated file has every position.
    #[expect(clippy::unused_self, reason = "as without simulations")]
    pub(super) fn seek(&self, to: u64) -> io::Result<u64> {
        if i64::try_from(to).is_ok() { Ok(to) } else { Err(Error::Invalid.into()) }
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        self.tree.with(|disk| disk.set_len(self.handle, len))
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        Ok(self.tree.with(|disk| disk.stat_of(self.handle))?.len)
    }

    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        likeness::of(&self.tree.with(|disk| disk.stat_of(self.handle))?)
    }

    pub(super) fn set_permissions(&self, permissions: &Permissions) -> io::Result<()> {
        let mode = likeness::mode(permissions);
        self.tree.with(|disk| disk.set_mode_of(self.handle, mode))
    }

    pub(super) fn sync(&self, all: bool) -> io::Result<()> {
        let host = &self.tree.0;
        let happens = &mut |many| host.world.is_one_in(many, Family::Disk, host.number);
        self.tree.with(|disk| match self.tree.is_failed() {
            true => Err(disk.fail_sync(self.handle, happens)),
            false => disk.sync(self.handle, all),
        })
    }

    pub(super) fn try_clone(&self) -> io::Result<File> {
        let handle = self.tree.with(|disk| disk.duplicate(self.handle))?;
        Ok(File { tree: self.tree.clone(), handle })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.tree.with(|disk| disk.close(self.handle));
    }
}
