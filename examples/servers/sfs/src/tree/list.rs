//! Directories, page by page.
//!
//! The cookie of an entry is a hash of its name, and the entries come in the order of their cookies. So a page begins
//! behind the last cookie of the page before, whatever was made and removed in between, and also after a restart: an entry that
//! is there all the time comes once.

use super::Tree;
use crate::nodes::Id;
use crate::refused::Refused;
use colored::fs;
use ring::digest::{SHA256, digest};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The cookies of `.` and `..`.
const ITSELF: u64 = 1;
const ABOVE: u64 = 2;

/// The entries of a directory behind a cookie, in order.
pub(crate) type Listing = Vec<(u64, OsString)>;

impl Tree {
    pub(crate) async fn list(&self, id: Id, behind: u64) -> Result<Listing, Refused> {
        let names = self.names(&self.directory_path(id).await?).await?;
        let mut entries: Listing = names.into_iter().map(|name| (cookie(&name), name)).collect();
        entries.extend([(ITSELF, OsString::from(".")), (ABOVE, OsString::from(".."))]);
        entries.retain(|(cookie, _)| *cookie > behind);
        entries.sort_unstable();
        Ok(entries)
    }

    pub(super) async fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let directory = self.root.directory(path).await?;
        let mut entries = fs::read_dir(directory.path()).await?;
        let mut names = Vec::new();
        while let Some(entry) = entries.next_entry().await? {
            names.push(entry.file_name());
        }
        Ok(names)
    }
}

fn cookie(name: &OsStr) -> u64 {
    let hash = digest(&SHA256, name.as_bytes());
    let hash = u64::from_be_bytes(hash.as_ref()[..8].try_into().expect("it has 32 bytes"));
    // Some clients keep cookies in signed numbers.
    (hash >> 1).max(ABOVE + 1)
}
