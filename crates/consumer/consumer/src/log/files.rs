//! The open files of an engine: a bounded number, whatever the number of its segments.
//!
//! Invariants:
//!
//! * At most `most` files are in use, by permits, and at most as many are open: whoever opens one has a permit, so that one
//!   of the others is in use by nobody if there are `most`.
//! * A file that a handle has opened is the handle's until it is dropped: another file of the same path has another handle.

use super::head::{SEGMENT_HEAD, SegmentHead};
use colored::fs::{File, OpenOptions};
use colored::sync::{OwnedSemaphorePermit, Semaphore};
use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// So many files of an engine are open at a time. A guess: an eighth of what a process may usually have, of which two thirds
/// are left to the rest of the process even if it may have 200 only.
pub(crate) const FILES: usize = 64;

/// The files of an engine.
#[derive(Debug)]
pub(crate) struct Files {
    most: usize,
    in_use: Arc<Semaphore>,
    open: Mutex<Open>,
    /// Buffers of reads that have ended, for the next ones.
    buffers: Mutex<Vec<Vec<u8>>>,
}

/// So many buffers wait for the next reads, and none that is longer. Guesses: a mebibyte together, and few read at a time.
const BUFFERS: usize = 4;
const BUFFER_BYTES: usize = 256 << 10;

#[derive(Debug, Default)]
struct Open {
    /// The number of the last handle.
    last_handle: u64,
    /// The number of the last use.
    last_use: u64,
    /// By handle, with the last use.
    files: BTreeMap<u64, (u64, Arc<File>)>,
}

/// A file that is open when it is used.
#[derive(Debug)]
pub(crate) struct Handle {
    number: u64,
    path: PathBuf,
    files: Arc<Files>,
    head: OnceLock<SegmentHead>,
}

/// An open file in use.
#[derive(Debug)]
pub(crate) struct InUse {
    file: Arc<File>,
    _permit: OwnedSemaphorePermit,
}

impl Deref for InUse {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Files {
    pub(crate) fn new(most: usize) -> Arc<Files> {
        let most = most.max(1);
        Arc::new(Files {
            most,
            in_use: Arc::new(Semaphore::new(most)),
            open: Mutex::default(),
            buffers: Mutex::default(),
        })
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        // Nothing is left half done by a panic.
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing is left half done by a panic.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle of a file, which is not opened yet.
    pub(crate) fn handle(self: &Arc<Self>, path: PathBuf) -> Arc<Handle> {
        let mut open = self.open();
        open.last_handle += 1;
        let (number, files) = (open.last_handle, Arc::clone(self));
        Arc::new(Handle { number, path, files, head: OnceLock::new() })
    }
}

impl Open {
    fn get(&mut self, number: u64) -> Option<Arc<File>> {
        self.last_use += 1;
        let (used, file) = self.files.get_mut(&number)?;
        *used = self.last_use;
        Some(Arc::clone(file))
    }

    /// Takes out the file that was not used for the longest time, if there are too many.
    fn evict(&mut self, most: usize) -> Option<Arc<File>> {
        let unused = self.files.iter().filter(|(_, (_, file))| Arc::strong_count(file) == 1);
        let (number, _) = unused.min_by_key(|(_, (used, _))| *used)?;
        let number = *number;
        if self.files.len() < most {
            return None;
        }
        self.files.remove(&number).map(|(_, file)| file)
    }
}

impl Handle {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// At least so many bytes for a read, whatever they are.
    pub(crate) fn buffer(&self, length: usize) -> Vec<u8> {
        let mut buffer = self.files.buffers().pop().unwrap_or_default();
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        buffer
    }

    /// The read has ended.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        let mut buffers = self.files.buffers();
        if buffers.len() < BUFFERS && buffer.len() <= BUFFER_BYTES {
            buffers.push(buffer);
        }
    }

    /// The file, open.
    pub(crate) async fn open(&self) -> io::Result<InUse> {
        let permit = Arc::clone(&self.files.in_use).acquire_owned().await;
        let _permit = permit.expect("it is never closed");
        let known = self.files.open().get(self.number);
        if let Some(file) = known {
            return Ok(InUse { file, _permit });
        }
        // In a box, or each read would have room for what few do.
        let file = Box::pin(self.open_file()).await?;
        Ok(InUse { file, _permit })
    }

    async fn open_file(&self) -> io::Result<Arc<File>> {
        let evicted = self.files.open().evict(self.files.most);
        drop(evicted);
        let file = Arc::new(OpenOptions::new().read(true).write(true).open(&self.path).await?);
        let mut open = self.files.open();
        open.last_use += 1;
        let entry = (open.last_use, Arc::clone(&file));
        open.files.insert(self.number, entry);
        Ok(file)
    }

    /// The head of the file, which is read once. `None` if the file has none.
    pub(crate) async fn head(&self, file: &File) -> io::Result<Option<SegmentHead>> {
        if let Some(head) = self.head.get() {
            return Ok(Some(*head));
        }
        // As above.
        Box::pin(self.read_head(file)).await
    }

    async fn read_head(&self, file: &File) -> io::Result<Option<SegmentHead>> {
        let size = file.metadata().await?.len();
        let mut bytes = vec![0; usize::try_from(size.min(SEGMENT_HEAD)).expect("it is small")];
        file.read_exact_at(&mut bytes, 0).await?;
        let head = SegmentHead::decode(&bytes, &self.path)?;
        Ok(head.inspect(|head| self.set_head(*head)))
    }

    pub(crate) fn set_head(&self, head: SegmentHead) {
        let _ = self.head.set(head);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let file = self.files.open().files.remove(&self.number);
        drop(file);
    }
}
