//! [`ReadDir`]: the entries of a directory.

use super::files::Files;
use super::offload::{failed, offload};
use crate::blocking::{self, Deferred};
use crate::device::Event;
use crate::pool::Class;
use crate::services::current::{self, Context};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, ready};

/// A blocking thread lists so many entries at a time.
const BATCH: usize = 256;

/// Lists a directory, without `.` and `..`, in no order. Cancel safe.
///
/// A blocking thread reads the entries in batches of 256, with their types: so a short directory costs
/// one deferred operation. Entries that are made or removed meanwhile may be listed or not.
///
/// # Errors
///
/// The system's, with the path.
///
/// # Panics
///
/// Outside a runtime.
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref();
    let batch = offload("list", path, Batch::first).await?;
    Ok(ReadDir {
        path: path.to_owned(),
        context: current::with(Arc::clone),
        listing: Listing::Here(batch),
    })
}

/// The entries of a directory; see [`read_dir()`]. Also a [`Stream`](futures_core::Stream).
#[derive(Debug)]
pub struct ReadDir {
    path: PathBuf,
    context: Arc<Context>,
    listing: Listing,
}

#[derive(Debug)]
enum Listing {
    Here(Batch),
    /// A thread lists the next batch.
    Deferred(Deferred<Batch>),
    Failed,
}

/// Entries, and the rest of the directory unless they are the last ones.
#[derive(Debug)]
struct Batch {
    entries: VecDeque<io::Result<DirEntry>>,
    rest: Option<fs::ReadDir>,
}

impl Batch {
    fn first(files: &Files, path: &Path) -> io::Result<Batch> {
        let Some(tree) = files.simulated() else { return Ok(Batch::of(fs::read_dir(path)?)) };
        let entry = |(name, file_type)| Ok(DirEntry { path: path.join(name), file_type });
        Ok(Batch { entries: tree.read_dir(path)?.into_iter().map(entry).collect(), rest: None })
    }

    fn of(mut rest: fs::ReadDir) -> Batch {
        let mut entries = VecDeque::new();
        while entries.len() < BATCH {
            match rest.next() {
                Some(entry) => entries.push_back(entry.map(|entry| DirEntry::new(&entry))),
                None => return Batch { entries, rest: None },
            }
        }
        Batch { entries, rest: Some(rest) }
    }
}

impl ReadDir {
    /// The next entry; `None` after the last one. Cancel safe.
    ///
    /// # Errors
    ///
    /// The system's, with the path of the directory. The next call goes on behind it.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// As [`next_entry`](Self::next_entry); the last task to poll is woken.
    pub fn poll_next_entry(
        &mut self,
        cx: &mut task::Context<'_>,
    ) -> Poll<io::Result<Option<DirEntry>>> {
        loop {
            match &mut self.listing {
                Listing::Here(batch) => {
                    if let Some(entry) = batch.entries.pop_front() {
                        let entry = entry.map_err(|error| failed("list", &self.path, error));
                        return Poll::Ready(entry.map(Some));
                    }
                    let Some(rest) = batch.rest.take() else { return Poll::Ready(Ok(None)) };
                    let services = &self.context.services;
                    services.devices.paths.add(Event::Deferred);
                    let next = move || Batch::of(rest);
                    // Without a thread the rest is lost, so the listing ends.
                    self.listing = match blocking::defer_to(&services.pool, Class::File, next) {
                        Ok(deferred) => Listing::Deferred(deferred),
                        Err(error) => {
                            self.listing = Listing::Failed;
                            return Poll::Ready(Err(failed("list", &self.path, error)));
                        }
                    };
                }
                Listing::Deferred(deferred) => match ready!(Pin::new(deferred).poll(cx)) {
                    Some(batch) => self.listing = Listing::Here(batch),
                    None => {
                        self.listing = Listing::Failed;
                        let error = failed("list", &self.path, blocking::shut_down());
                        return Poll::Ready(Err(error));
                    }
                },
                Listing::Failed => return Poll::Ready(Ok(None)),
            }
        }
    }
}

impl futures_core::Stream for ReadDir {
    type Item = io::Result<DirEntry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_next_entry(cx).map(Result::transpose)
    }
}

/// An entry of a directory.
#[derive(Debug)]
pub struct DirEntry {
    path: PathBuf,
    /// From the listing, or from the metadata on file systems whose listings have no types.
    file_type: io::Result<FileType>,
}

impl DirEntry {
    fn new(entry: &fs::DirEntry) -> DirEntry {
        DirEntry { path: entry.path(), file_type: entry.file_type() }
    }

    /// The path: that of [`read_dir()`] with the name.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The name.
    #[must_use]
    pub fn file_name(&self) -> OsString {
        self.path.file_name().unwrap_or_default().to_owned()
    }

    /// The type, of a symbolic link itself. The listing has it: this costs nothing.
    ///
    /// # Errors
    ///
    /// If the listing had none, and the system did not tell: such as when the entry is gone.
    pub fn file_type(&self) -> io::Result<FileType> {
        match &self.file_type {
            Ok(file_type) => Ok(*file_type),
            Err(error) => {
                let same = match error.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => error.kind().into(),
                };
                Err(failed("find the type of", &self.path, same))
            }
        }
    }

    /// The metadata, of a symbolic link itself. Cancel safe.
    ///
    /// # Errors
    ///
    /// The system's, with the path: such as when the entry is gone.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        super::symlink_metadata(&self.path).await
    }
}
