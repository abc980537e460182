//! Files below a directory: what they were, and what is done to them. The same on the system's files and on simulated ones.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The files below a directory, with their bytes.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// All files below a directory but the lock of an engine.
pub(crate) async fn list(directory: &Path) -> io::Result<Files> {
    let (mut files, mut left) = (Files::new(), vec![directory.to_owned()]);
    while let Some(directory) = left.pop() {
        let mut entries = match colored::fs::read_dir(&directory).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        while let Some(entry) = entries.next_entry().await? {
            let path = entry.path();
            if colored::fs::metadata(&path).await?.is_dir() {
                left.push(path);
            } else if path.file_name().is_some_and(|name| name != "lock") {
                let bytes = colored::fs::read(&path).await?;
                files.insert(path, bytes);
            }
        }
    }
    Ok(files)
}

/// Makes these the files below a directory.
pub(crate) async fn restore(directory: &Path, files: &Files) -> io::Result<()> {
    for path in list(directory).await?.into_keys().filter(|path| !files.contains_key(path)) {
        colored::fs::remove_file(path).await?;
    }
    for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with(directory)) {
        let above = path.parent().expect("it is below the directory");
        colored::fs::create_dir_all(above).await?;
        colored::fs::write(path, bytes).await?;
    }
    Ok(())
}

/// Changes one bit of a file.
pub(crate) async fn flip(path: &Path, bit: usize) -> io::Result<()> {
    let mut bytes = colored::fs::read(path).await?;
    bytes[bit / 8] ^= 1 << (bit % 8);
    colored::fs::write(path, bytes).await
}

/// Makes zeros of all bytes from a place on.
pub(crate) async fn zero(path: &Path, from: usize) -> io::Result<()> {
    let mut bytes = colored::fs::read(path).await?;
    bytes[from..].fill(0);
    colored::fs::write(path, bytes).await
}

/// Leaves the first bytes of a file.
pub(crate) async fn cut(path: &Path, length: usize) -> io::Result<()> {
    let mut bytes = colored::fs::read(path).await?;
    bytes.truncate(length);
    colored::fs::write(path, bytes).await
}
