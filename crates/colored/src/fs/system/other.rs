//! Systems without attempts: the pool serves everything.

use super::{Access, Attempt, Identity, Readiness, identify_by_metadata};
use crate::device::Kind;
use socket2::Socket;
use std::fs::File;
use std::io;
use std::path::Path;

pub(in crate::fs) fn read(_: &File, _: &mut [u8], _: u64) -> io::Result<Attempt<usize>> {
    Ok(Attempt::Unsupported)
}

pub(in crate::fs) fn write(_: &File, _: &[u8], _: u64) -> io::Result<Attempt<usize>> {
    Ok(Attempt::Unsupported)
}

/// No system but Linux is asked what is in memory.
#[derive(Debug)]
pub(in crate::fs) enum Residency {}

impl Residency {
    pub(in crate::fs) fn of(_: &File) -> Option<Self> {
        None
    }

    pub(in crate::fs) fn resident(&self, _: u64, _: usize) -> usize {
        match *self {}
    }
}

/// Only Linux is asked to: elsewhere nothing tells what is in memory.
pub(in crate::fs) fn send(_: &File, _: &Socket, _: u64, _: usize) -> io::Result<usize> {
    Ok(0)
}

pub(in crate::fs) fn read_stream(_: &File, _: &mut [u8]) -> io::Result<Attempt<usize>> {
    Ok(Attempt::Unsupported)
}

pub(in crate::fs) fn write_stream(_: &File, _: &[u8]) -> io::Result<Attempt<usize>> {
    Ok(Attempt::Unsupported)
}

pub(in crate::fs) fn open(_: &Path, _: Access) -> io::Result<Attempt<(File, Identity)>> {
    Ok(Attempt::Unsupported)
}

pub(in crate::fs) fn find(_: &Path, _: bool) -> io::Result<Attempt<(File, Identity)>> {
    Ok(Attempt::Unsupported)
}

pub(in crate::fs) fn identify(file: &File) -> Option<Identity> {
    identify_by_metadata(file)
}

pub(in crate::fs) fn kind(_: &File) -> Kind {
    Kind::Remote
}

/// No kind of a file system is known.
pub(in crate::fs) fn is_anonymous(_: u64) -> bool {
    false
}

pub(in crate::fs) fn readiness(_: &File) -> Readiness {
    Readiness::Unknown
}
