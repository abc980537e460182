//! Reads and writes that a thread does. They own their bytes, so that their futures can be dropped.

use super::open_file::{DEFERRED, OpenFile};
use super::positional;
use crate::blocking::{self, Deferred};
use crate::device::Event;
use crate::driver::ring::{self, Opened};
use crate::pool::{Class, Job, Refused};
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use tokio::sync::oneshot;

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
        if let Some(offset) = at
            && let Some(device) = self.ring_device()
            && let Some(read) = self.read_by_ring(len, offset)
        {
            device.counts.add(Event::Deferred);
            device.counts.add(Event::Ring);
            return Ok(read);
        }
        self.defer("read", move |open| open.read_blocking(len, at))
    }

    fn read_blocking(&self, len: usize, at: Option<u64>) -> io::Result<Vec<u8>> {
        let bytes = match at {
            Some(offset) => positional::read_up_to(&self.file, len, offset),
            None => read_once(&self.file, len),
        };
        self.count_deferred(bytes.as_ref().map_or(0, Vec::len));
        bytes.map_err(|error| self.failed("read", error))
    }

    /// Leaves a read to the system. If that fails, a thread reads: what it says is what is wrong.
    fn read_by_ring(
        self: &Arc<Self>,
        len: usize,
        offset: u64,
    ) -> Option<Deferred<io::Result<Vec<u8>>>> {
        let (sender, mut receiver) = oneshot::channel();
        let (job, read) = blocking::job(move || {
            receiver.try_recv().expect("whoever runs the job has sent the bytes")
        });
        let open = Arc::clone(self);
        let done = move |bytes: io::Result<Vec<u8>>| {
            let end = move |bytes| {
                let _unless_dropped = sender.send(bytes);
                job();
            };
            match bytes {
                Ok(bytes) => {
                    open.count_deferred(bytes.len());
                    end(Ok(bytes));
                }
                Err(_) => {
                    let of = Arc::clone(&open);
                    let again = Job::new(move || end(of.read_blocking(len, Some(offset))));
                    match open.driver().pool.submit(Class::File, again) {
                        // Dropping a job cancels it.
                        Ok(()) | Err(Refused::ShutDown(_)) => {}
                        // It is late, but not lost.
                        Err(Refused::NoThread(again, _)) => again.run(),
                    }
                }
            }
        };
        let of = Arc::clone(self) as Arc<dyn Opened>;
        let begun = ring::Read { of, len, offset, done: Box::new(done) };
        self.driver().read(self.context().worker, begun).ok()?;
        Some(read)
    }

    /// Writes a copy of the bytes, at most [`DEFERRED`], at a position; without one, where the system
    /// puts them.
    pub(super) fn defer_write(
        self: &Arc<Self>,
        bytes: &[u8],
        at: Option<u64>,
    ) -> io::Result<Deferred<Written>> {
        let bytes = bytes[..bytes.len().min(DEFERRED)].to_vec();
        self.defer("write to", move |open| {
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
