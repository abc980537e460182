//! Reads and writes that a thread does. They own their bytes, so that their futures can be dropped.

use super::open_file::{DEFERRED, OpenFile};
use super::positional;
use crate::blocking::Deferred;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// The bytes of a write, and how many of them were written.
pub(super) type Written = (Vec<u8>, io::Result<usize>);

impl OpenFile {
    /// Reads up to `len` bytes, at most [`DEFERRED`], at a position. Without a position it reads what is
    /// there, because the other end of a pipe may wait for an answer.
    pub(super) fn defer_read(
        self: &Arc<Self>,
        len: usize,
        at: Option<u64>,
    ) -> io::Result<Deferred<io::Result<Vec<u8>>>> {
        let len = len.min(DEFERRED);
        self.defer(move |open| {
            let bytes = match at {
                Some(offset) => positional::read_up_to(&open.file, len, offset),
                None => read_once(&open.file, len),
            };
            open.count_deferred(bytes.as_ref().map_or(0, Vec::len));
            bytes.map_err(|error| open.failed("read", error))
        })
    }

    /// Writes a copy of the bytes, at most [`DEFERRED`], at a position; without one, where the system
    /// puts them.
    pub(super) fn defer_write(
        self: &Arc<Self>,
        bytes: &[u8],
        at: Option<u64>,
    ) -> io::Result<Deferred<Written>> {
        let bytes = bytes[..bytes.len().min(DEFERRED)].to_vec();
        self.defer(move |open| {
            let written = positional::repeat(bytes.len(), |done| match at {
                Some(offset) => positional::write(&open.file, &bytes[done..], offset + done as u64),
                None => (&open.file).write(&bytes[done..]),
            });
            open.count_deferred(*written.as_ref().unwrap_or(&0));
            (bytes, written.map_err(|error| open.failed("write to", error)))
        })
    }
}

fn read_once(mut file: &File, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let n = file.read(&mut bytes)?;
    bytes.truncate(n);
    Ok(bytes)
}
