//! [`Backing`]: what an open file reads and writes: a file of the system, or a simulated one.

use super::positional;
use crate::driver::simulated::Simulated;
use crate::ready::{Direction, until_done};
use colored_machine as machine;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write};
use std::sync::Arc;

/// What an open file reads and writes.
#[derive(Debug)]
pub(super) enum Backing {
    /// Counted: a registration has a reference, so that it ends before the descriptor does.
    System(Arc<File>),
    Simulated(Simulated<Box<dyn machine::File>>),
}

impl Backing {
    pub(super) fn simulated(&self) -> Option<&dyn machine::File> {
        match self {
            Backing::System(_) => None,
            Backing::Simulated(file) => Some(&***file),
        }
    }

    /// Reads once at an offset.
    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Backing::System(file) => {
                until_done(file, Direction::Read, || positional::read(file, buf, offset))
            }
            Backing::Simulated(file) => file.read(buf, offset),
        }
    }

    /// Writes once at an offset.
    pub(super) fn write(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        match self {
            Backing::System(file) => {
                until_done(file, Direction::Write, || positional::write(file, buf, offset))
            }
            Backing::Simulated(file) => file.write(buf, offset),
        }
    }

    /// Writes once, where the system keeps its position. Of a simulated file that is the end: only its append mode comes
    /// here.
    pub(super) fn write_where_it_is(&self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Backing::System(file) => until_done(file, Direction::Write, || (&**file).write(buf)),
            Backing::Simulated(file) => file.write(buf, 0),
        }
    }

    pub(super) fn try_clone(&self) -> io::Result<Backing> {
        match self {
            Backing::System(file) => file.try_clone().map(Backing::from),
            Backing::Simulated(file) => {
                file.as_ref().try_map(|file| file.try_clone()).map(Backing::Simulated)
            }
        }
    }

    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        match self {
            Backing::System(file) => file.metadata(),
            Backing::Simulated(file) => file.metadata(),
        }
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        match self {
            Backing::System(file) => file.metadata().map(|metadata| metadata.len()),
            Backing::Simulated(file) => file.length(),
        }
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        match self {
            Backing::System(file) => file.set_len(len),
            Backing::Simulated(file) => file.set_len(len),
        }
    }

    pub(super) fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        match self {
            Backing::System(file) => file.set_permissions(permissions),
            Backing::Simulated(file) => file.set_permissions(permissions),
        }
    }

    pub(super) fn sync_all(&self) -> io::Result<()> {
        match self {
            Backing::System(file) => file.sync_all(),
            Backing::Simulated(file) => file.sync(true),
        }
    }

    pub(super) fn sync_data(&self) -> io::Result<()> {
        match self {
            Backing::System(file) => file.sync_data(),
            Backing::Simulated(file) => file.sync(false),
        }
    }
}

impl From<File> for Backing {
    fn from(file: File) -> Backing {
        Backing::System(Arc::new(file))
    }
}
