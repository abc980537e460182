//! [`Outbox`]: the parts of files that a connection sends without reading them.
//!
//! A body gives hyper bytes, and hyper gives slices of them to the connection. A part of a file has no bytes before it is
//! read. In their place the body gives a [`Placeholder`]: as many bytes of a region that nobody reads. The connection
//! knows slices of the region by their addresses, and sends the part of the file that is next in the [`Outbox`]. hyper
//! copies no bytes of a body if the connection takes several slices at once. If it did, the placeholder would panic
//! before anything wrong is sent: it lets nobody past bytes that the connection has not sent.

use crate::access::{Access, Opened};
use crate::body::OpenEntry;
use bytes::Buf;
use colored::fs;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The longest part. What is in memory of so many bytes can be sent by one call.
pub(crate) const LONGEST: u64 = 256 * 1024;

/// Zeros that nobody reads, so that they take addresses and no memory.
static REGION: LazyLock<Vec<u8>> = LazyLock::new(|| vec![0; LONGEST as usize]);

/// An open file, and the way to it.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) access: Arc<Access>,
    pub(crate) path: Arc<Path>,
    pub(crate) entry: OpenEntry,
}

impl Source {
    /// The file, if it is one of the runtime's, which know what is in memory.
    pub(crate) fn lazy_file(&self) -> Option<&fs::File> {
        match self.entry.as_ref() {
            Opened::Lazy(file) => Some(file),
            Opened::Std(_) => None,
        }
    }
}

/// The parts of one connection, in the order in which it sends them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox(Arc<Mutex<VecDeque<Arc<Part>>>>);

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) source: Arc<Source>,
    /// What is not sent.
    rest: Mutex<Range<u64>>,
}

impl Outbox {
    /// Adds a part, which is not empty and not longer than [`LONGEST`].
    pub(crate) fn put(&self, source: &Arc<Source>, part: Range<u64>) -> Placeholder {
        let rest = part.clone();
        let part = Arc::new(Part { source: Arc::clone(source), rest: Mutex::new(part) });
        lock(&self.0).push_back(Arc::clone(&part));
        Placeholder { part, rest }
    }

    /// The part to send now.
    pub(crate) fn front(&self) -> Option<Arc<Part>> {
        lock(&self.0).front().cloned()
    }

    /// Notes that so many bytes of the first part are sent.
    pub(crate) fn note_sent(&self, count: usize) {
        let mut parts = lock(&self.0);
        let is_over = parts.front().is_some_and(|part| {
            let mut rest = lock(&part.rest);
            rest.start += count as u64;
            rest.is_empty()
        });
        if is_over {
            parts.pop_front();
        }
    }
}

impl Part {
    pub(crate) fn rest(&self) -> Range<u64> {
        lock(&self.rest).clone()
    }
}

/// Stands for a part of a file.
#[derive(Debug)]
pub(crate) struct Placeholder {
    part: Arc<Part>,
    /// What hyper does not take for sent.
    rest: Range<u64>,
}

/// Whether these bytes belong to a placeholder.
pub(crate) fn is_placeholder(bytes: &[u8]) -> bool {
    REGION.as_ptr_range().contains(&bytes.as_ptr())
}

impl Buf for Placeholder {
    fn remaining(&self) -> usize {
        (self.rest.end - self.rest.start) as usize
    }

    fn chunk(&self) -> &[u8] {
        &REGION[..self.remaining()]
    }

    fn advance(&mut self, count: usize) {
        let start = self.rest.start + count as u64;
        assert!(start <= self.part.rest().start, "hyper has copied a placeholder of a file");
        self.rest.start = start;
    }
}

/// A panic between two statements leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
