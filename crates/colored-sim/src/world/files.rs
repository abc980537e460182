//! The files of a host.
//!
//! What the system would do in the poll if it were in memory, a simulated host does in the poll, or, by choice, on a
//! blocking thread, which is an actor of the simulation: reads, writes, openings of files that exist, and metadata. All
//! other operations are left to the actor, as elsewhere.

mod likeness;

use super::{Fault, Host};
use crate::disk::{Disk, Error, Handle, Options};
use colored_machine::{self as machine, Files, OpenOptions};
use std::ffi::OsString;
use std::fs::{FileType, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// An operation that could be done in the poll is left to the actor of blocking calls once in so many times. A guess.
const DEFERRED: u32 = 4;

impl Host {
    fn with_disk<R>(&self, f: impl FnOnce(&mut Disk) -> R) -> R {
        f(&mut self.disk_now())
    }

    fn is_disk_failed(&self) -> bool {
        self.world.fault(Fault::Disk, self.number)
    }
}

macro_rules! calls_of_the_disk {
    ($($(#[$if:meta])* $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {$(
        $(#[$if])*
        fn $name(&self, $($argument: $type),*) -> io::Result<$output> {
            self.with_disk(|disk| disk.$name($($argument),*))
        }
    )*};
}

impl Files for Host {
    fn is_deferred(&self) -> bool {
        self.world.is_one_in(DEFERRED, Fault::Disk, self.number)
    }

    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<Box<dyn machine::File>> {
        let OpenOptions { read, write, append, truncate, create, create_new, mode, flags } =
            *options;
        let (sync, mode) = (likeness::is_synced(flags)?, mode.unwrap_or(0o666));
        let options = Options { read, write, append, truncate, create, create_new, sync, mode };
        let handle = self.with_disk(|disk| disk.open(path, &options))?;
        Ok(Box::new(File { host: self.clone(), handle }))
    }

    fn look_at(&self, path: &Path, follow: bool) -> io::Result<Metadata> {
        likeness::of(&self.with_disk(|disk| disk.stat(path, follow))?)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<(OsString, io::Result<FileType>)>> {
        let entries = self.with_disk(|disk| disk.read_dir(path))?;
        Ok(entries.into_iter().map(|entry| (entry.name, likeness::file_type(entry.kind))).collect())
    }

    fn create_dir(&self, path: &Path, all: bool, mode: Option<u32>) -> io::Result<()> {
        let mode = mode.unwrap_or(0o777);
        self.with_disk(|disk| match all {
            true => disk.create_dir_all(path, mode),
            false => disk.create_dir(path, mode),
        })
    }

    fn set_permissions(&self, path: &Path, permissions: Permissions) -> io::Result<()> {
        let mode = likeness::mode(&permissions);
        self.with_disk(|disk| disk.set_mode(path, mode))
    }

    calls_of_the_disk! {
        copy(from: &Path, to: &Path) -> u64;
        rename(from: &Path, to: &Path) -> ();
        hard_link(original: &Path, link: &Path) -> ();
        #[cfg(unix)]
        symlink(original: &Path, link: &Path) -> ();
        remove_file(path: &Path) -> ();
        remove_dir(path: &Path) -> ();
        remove_dir_all(path: &Path) -> ();
        read_link(path: &Path) -> PathBuf;
        canonicalize(path: &Path) -> PathBuf;
        write(path: &Path, bytes: &[u8]) -> ();
    }
}

/// An open file of a host.
#[derive(Debug)]
struct File {
    host: Host,
    handle: Handle,
}

impl machine::File for File {
    fn is_deferred(&self) -> bool {
        self.host.is_deferred()
    }

    fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.host.is_disk_failed() {
            return Err(Error::Io.into());
        }
        self.host.with_disk(|disk| disk.read_at(self.handle, buf, offset))
    }

    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let host = &self.host;
        if host.is_disk_failed() {
            let is_full = host.world.is_tails(Fault::Disk, host.number);
            return Err(if is_full { Error::Full } else { Error::Io }.into());
        }
        host.with_disk(|disk| disk.write_at(self.handle, bytes, offset))
    }

    fn seek(&self, to: u64) -> io::Result<u64> {
        if i64::try_from(to).is_ok() { Ok(to) } else { Err(Error::Invalid.into()) }
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.host.with_disk(|disk| disk.stat_of(self.handle))?.len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.host.with_disk(|disk| disk.set_len(self.handle, len))
    }

    fn metadata(&self) -> io::Result<Metadata> {
        likeness::of(&self.host.with_disk(|disk| disk.stat_of(self.handle))?)
    }

    fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        let mode = likeness::mode(&permissions);
        self.host.with_disk(|disk| disk.set_mode_of(self.handle, mode))
    }

    fn sync(&self, all: bool) -> io::Result<()> {
        let host = &self.host;
        let happens = &mut |many| host.world.is_one_in(many, Fault::Disk, host.number);
        host.with_disk(|disk| match host.is_disk_failed() {
            true => Err(disk.fail_sync(self.handle, happens)),
            false => disk.sync(self.handle, all),
        })
    }

    fn try_clone(&self) -> io::Result<Box<dyn machine::File>> {
        let handle = self.host.with_disk(|disk| disk.duplicate(self.handle))?;
        Ok(Box::new(File { host: self.host.clone(), handle }))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.host.with_disk(|disk| disk.close(self.handle));
    }
}
