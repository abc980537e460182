//! The names of a log: directories and the files of segments.

use colored::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the file whose first record has this offset.
pub(crate) fn file_name(base: u64) -> String {
    format!("{base:020}.log")
}

/// The offset in the name of a segment's file.
fn base_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".log").filter(|digits| digits.len() == 20)?;
    digits.parse().ok()
}

/// Brings a file and its name to the device.
pub(crate) async fn sync_new(file: &File, directory: &Path) -> io::Result<()> {
    file.sync_all().await?;
    sync_directory(directory).await
}

/// Makes the names in a directory survive a crash of the machine.
pub(crate) async fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory).await?.sync_all().await } else { Ok(()) }
}

/// Makes a directory, and each directory above it that does not exist. With `sync`, the names of the new directories survive
/// a crash of the machine. The names of this directory and of the one above it survive it too, even if an earlier call made
/// them and a crash came before their sync.
pub(crate) async fn create_directories(directory: &Path, sync: bool) -> io::Result<()> {
    let mut missing = Vec::new();
    let mut at = directory;
    loop {
        match (colored::fs::create_dir(at).await, at.parent()) {
            (Err(error), Some(above)) if error.kind() == io::ErrorKind::NotFound => {
                missing.push(at);
                at = above;
            }
            (Err(error), _) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => break,
        }
    }
    for path in missing.iter().rev() {
        colored::fs::create_dir(path).await?;
    }
    let names = 2.max(missing.len() + 1);
    let holders = directory.ancestors().skip(1).take(names);
    for holder in holders.filter(|_| sync) {
        let is_here = holder == Path::new("");
        match sync_directory(if is_here { Path::new(".") } else { holder }).await {
            // What this user may not read was not made here.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            synced => synced?,
        }
    }
    Ok(())
}

/// The segments in a directory, by the offsets of their first records, ascending.
pub(crate) async fn bases(directory: &Path) -> io::Result<Vec<u64>> {
    let mut bases = Vec::new();
    let mut entries = colored::fs::read_dir(directory).await?;
    while let Some(entry) = entries.next_entry().await? {
        bases.extend(entry.file_name().to_str().and_then(base_of));
    }
    bases.sort_unstable();
    Ok(bases)
}

/// Deletes a segment. With `sync`, it does not come back after a crash of the machine.
pub(crate) async fn delete(directory: &Path, base: u64, sync: bool) -> io::Result<()> {
    match colored::fs::remove_file(path(directory, base)).await {
        // The sync of an earlier call failed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        deleted => deleted?,
    }
    if sync { sync_directory(directory).await } else { Ok(()) }
}

/// The path of a segment.
pub(crate) fn path(directory: &Path, base: u64) -> PathBuf {
    directory.join(file_name(base))
}
