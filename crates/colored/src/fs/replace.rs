//! [`write()`]: replacing a file in one step.

use super::offload::offload;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// So many names for the new file are tried.
const NAMES: u32 = 100;

/// Makes `bytes` the contents of the file at a path, in one step: a program that opens the file finds
/// the old contents or the new ones, also after a crash of this program, and also if the call is dropped
/// or fails. Not cancel safe: a dropped call may still replace the file.
///
/// The bytes are written to a new file beside the old one, which is then renamed to it; the permissions
/// of an old file stay, its owner becomes that of the process. A path that leads over a symbolic link replaces the file that the link leads to.
/// A device, a pipe and the like are written as they are. The directory must be writable. Data and name
/// are on the device only after a [`sync_all`](super::File::sync_all) of file and directory.
///
/// To write a file in place, use [`File::create`](super::File::create).
///
/// # Errors
///
/// The system's, with the path. Then the old file is as it was, and the new one is removed.
pub async fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let bytes = bytes.as_ref().to_vec();
    offload("write", path.as_ref(), move |path| replace(path, &bytes)).await
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let old = match fs::metadata(&target) {
        Ok(old) if !old.is_file() => return fs::write(&target, bytes),
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (mut file, new) = beside(&target)?;
    let _removed = RemoveUnlessRenamed(&new);
    // Before the bytes, which may be private.
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(bytes)?;
    drop(file);
    fs::rename(&new, &target)
}

/// A new file in the directory of `target`.
fn beside(target: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = target.file_name() else {
        let text = "the path names no file: it ends in `..`, or is empty";
        return Err(io::Error::new(ErrorKind::InvalidInput, text));
    };
    let mut failed = io::Error::from(ErrorKind::AlreadyExists);
    for _ in 0..NAMES {
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut new = OsString::from(".");
        new.push(name);
        new.push(format!(".{}.{number}.new", std::process::id()));
        let path = target.with_file_name(new);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => failed = error,
            Err(error) => return Err(error),
        }
    }
    Err(failed)
}

/// Removes the new file if it still has its first name.
struct RemoveUnlessRenamed<'a>(&'a Path);

impl Drop for RemoveUnlessRenamed<'_> {
    fn drop(&mut self) {
        // After the rename there is no such file.
        let _ = fs::remove_file(self.0);
    }
}
