//! Systems other than Linux: a new file with a name of its own.

use super::{Refusal, temporary_name};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The most names that are tried for the new file.
const NAMES: u32 = 100;

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Refusal::Failed(error),
            _ => Refusal::InPlace,
        }
    }
}

pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        // A link that leads to nothing leads to the new file.
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        Err(_) => return Err(Refusal::InPlace),
    };
    // A slash or a dot behind the name means a directory.
    let text = path.as_os_str().as_encoded_bytes();
    if !path.file_name().is_some_and(|name| text.ends_with(name.as_encoded_bytes())) {
        return Err(Refusal::InPlace);
    }
    let old = match fs::metadata(&target) {
        Ok(old) if !old.is_file() => return Err(Refusal::InPlace),
        // What cannot be written is not replaced either.
        Ok(old) => Some((OpenOptions::new().write(true).open(&target)?, old)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(_) => return Err(Refusal::InPlace),
    };
    let (mut file, new) = beside(&target)?;
    let _removed = RemoveUnlessRenamed(&new);
    // Before the bytes, which may be private.
    if let Some((_, old)) = &old {
        keep_owner(old, &file)?;
        file.set_permissions(old.permissions())?;
    }
    file.write_all(bytes).map_err(Refusal::Failed)?;
    // Some systems rename no open file, and replace none.
    drop((file, old));
    Ok(fs::rename(&new, &target)?)
}

/// Gives a new file the owner and the group of the old one, if that has no other name and nothing that a write takes away.
#[cfg(unix)]
fn keep_owner(old: &fs::Metadata, new: &File) -> Result<(), Refusal> {
    use std::os::unix::fs::MetadataExt;
    const SET_IDS: u32 = 0o6000;
    if old.nlink() != 1 || old.mode() & SET_IDS != 0 {
        return Err(Refusal::InPlace);
    }
    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
        std::os::unix::fs::fchown(new, Some(old.uid()), Some(old.gid()))?;
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "on unix it can fail")]
fn keep_owner(_: &fs::Metadata, _: &File) -> Result<(), Refusal> {
    Ok(())
}

/// A new file in the directory of `target`.
fn beside(target: &Path) -> Result<(File, PathBuf), Refusal> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = target.file_name() else { return Err(Refusal::InPlace) };
    for _ in 0..NAMES {
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let number = format!("{}-{number}", std::process::id());
        let path = target.with_file_name(temporary_name(name.as_encoded_bytes(), number));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Refusal::InPlace)
}

/// Removes the new file if it still has its first name.
struct RemoveUnlessRenamed<'a>(&'a Path);

impl Drop for RemoveUnlessRenamed<'_> {
    fn drop(&mut self) {
        // After the rename there is no such file: its name has a number that no other call uses.
        let _ = fs::remove_file(self.0);
    }
}
