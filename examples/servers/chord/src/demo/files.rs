//! Files to publish, in a directory that is removed in the end.

use crate::id::Id;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many files there are, in directories of 8.
const FILES: u32 = 40;

/// A directory for temporary files, which is removed when this is dropped.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new(name: &str) -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("chord-{}-{name}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }

    /// A directory with 40 files: from an empty one to 80 KiB, 1 MiB together, no two blocks equal.
    pub(super) fn with_files() -> io::Result<Self> {
        let directory = Self::new("published")?;
        for number in 0..FILES {
            let parent = directory.0.join(format!("{}", number / 8));
            fs::create_dir_all(&parent)?;
            let length = (number * number * 50) as usize;
            fs::write(parent.join(format!("{number}.bin")), content(number, length))?;
        }
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn content(file: u32, length: usize) -> Vec<u8> {
    let piece = |place: u32| Id::hash(&[&file.to_be_bytes(), &place.to_be_bytes()]).to_bytes();
    (0..).flat_map(piece).take(length).collect()
}

/// The hash of all names and files below a directory.
pub(super) fn digest(directory: &Path) -> io::Result<Id> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut parts = Vec::new();
    for entry in entries {
        let content = match entry.file_type()?.is_dir() {
            true => digest(&entry.path())?,
            false => Id::hash(&[&fs::read(entry.path())?]),
        };
        let name = Id::hash(&[entry.file_name().as_encoded_bytes()]);
        parts.extend([name.to_bytes(), content.to_bytes()]);
    }
    Ok(Id::hash(&[&parts.concat()]))
}
