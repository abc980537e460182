//! [`Entry`]: what the server knows of a version of a file.

use crate::access::Opened;
use crate::conditions::Validators;
use bytes::Bytes;
use colored::time::Duration;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// A version of a file.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) len: u64,
    pub(crate) validators: Validators,
    pub(crate) media_type: &'static str,
    pub(crate) content: Content,
    identity: Identity,
    /// Whether the file was changed long before it was read. Otherwise a change in the same tick of the
    /// file system's clock would leave no trace.
    is_settled: bool,
}

#[derive(Debug)]
pub(crate) enum Content {
    Bytes(Bytes),
    File(Opened),
}

/// The values that change when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Longer than the tick of any file system's clock.
const TICK: Duration = Duration::from_secs(2);

impl Entry {
    pub(crate) fn new(path: &Path, metadata: &Metadata, content: Content) -> Entry {
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let age = SystemTime::now().duration_since(modified).unwrap_or_default();
        Entry {
            len: metadata.len(),
            validators: Validators::new(metadata.len(), modified),
            media_type: crate::media::media_type(path),
            content,
            identity: Identity::of(metadata),
            is_settled: age > TICK,
        }
    }

    /// Whether this is still the file that the metadata describes.
    pub(crate) fn is_of(&self, metadata: &Metadata) -> bool {
        self.is_settled && self.identity == Identity::of(metadata)
    }
}

impl Identity {
    fn of(metadata: &Metadata) -> Identity {
        Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}
