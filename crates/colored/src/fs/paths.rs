//! Operations on paths.

use super::File;
use super::files::Files;
use super::offload::{failed, offload, offload_two};
use super::system::{self, Attempt};
use crate::device::{Event, Kind};
use crate::pool::Class;
use crate::services::current;
use std::fs::{Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bytes of a file. Cancel safe.
///
/// # Errors
///
/// The system's, with the path.
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).await?.read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// The text of a file. Cancel safe.
///
/// # Errors
///
/// The system's, with the path. [`InvalidData`](ErrorKind::InvalidData) if the bytes are not UTF-8; the
/// error tells where.
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref();
    String::from_utf8(read(path).await?)
        .map_err(|error| failed("read", path, io::Error::new(ErrorKind::InvalidData, error)))
}

/// Makes `bytes` the contents of the file at a path, as [`std::fs::write`] does: empties the file, or makes it, and writes
/// the bytes. Not cancel safe: a dropped call may still write.
///
/// Another program may see the file empty, or with a part of the bytes, and a crash of this one may leave it so. `docs/recipes.md` has a way
/// to show either the old contents or the new ones.
///
/// # Errors
///
/// The system's, with the path. The file may then be empty, or have a part of the bytes.
///
/// # Panics
///
/// Outside a runtime.
pub async fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let bytes = bytes.as_ref().to_vec();
    offload("write", path.as_ref(), move |files, path| files.write(path, &bytes)).await
}

/// The metadata of what is at a path; follows symbolic links. If the path is in memory, and on a device
/// of this machine, the answer comes at once. Cancel safe.
///
/// # Errors
///
/// The system's, with the path.
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    look_at(path.as_ref(), true).await
}

/// As [`metadata`], of a symbolic link itself. Cancel safe.
///
/// # Errors
///
/// The system's, with the path.
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    look_at(path.as_ref(), false).await
}

async fn look_at(path: &Path, follow: bool) -> io::Result<Metadata> {
    const OPERATION: &str = "read the metadata of";
    let found = look_in_memory(path, follow).map_err(|error| failed(OPERATION, path, error))?;
    if let Some(metadata) = found {
        return Ok(metadata);
    }
    let context = current::with(Arc::clone);
    offload(OPERATION, path, move |files, path| {
        // A later call may be answered from memory if the kind of the device is known.
        if files.simulated().is_none()
            && let Ok(Attempt::Done((file, identity))) = system::find(path, follow)
        {
            let device = context.services.devices.get(identity.device);
            if device.kind().is_none() {
                device.learn(system::kind(&file));
            }
        }
        files.look_at(path, follow)
    })
    .await
}

fn look_in_memory(path: &Path, follow: bool) -> io::Result<Option<Metadata>> {
    current::with(|context| {
        if let Some(tree) = Files::of(&context.services).simulated() {
            return match tree.is_deferred() {
                true => Ok(None),
                false => tree.look_at(path, follow).map(Some),
            };
        }
        let devices = &context.services.devices;
        if !devices.tries() {
            return Ok(None);
        }
        let Attempt::Done((file, identity)) = system::find(path, follow)? else {
            devices.paths.add(Event::WouldBlock);
            return Ok(None);
        };
        match devices.get(identity.device).kind() {
            Some(Kind::Memory | Kind::Local) => {
                devices.paths.add(Event::Hit);
                file.metadata().map(Some)
            }
            _ => Ok(None),
        }
    })
}

/// Whether something is at a path; follows symbolic links. Cancel safe.
///
/// # Errors
///
/// If the system does not tell, with the path.
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    match metadata(path).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Copies the contents and the permissions of a file, and returns the number of bytes. Overwrites `to`.
/// Not cancel safe: a dropped call may still copy.
///
/// # Errors
///
/// The system's, with both paths.
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let (from, to) = (from.as_ref(), to.as_ref());
    match offload_two(Class::File, "copy", from, to, Files::copy_unless_it_waits).await? {
        Some(bytes) => Ok(bytes),
        None => offload_two(Class::Stream, "copy", from, to, Files::copy).await,
    }
}

/// Gives a file or directory another name, and replaces a file that has it. Both must be on one file
/// system. Not cancel safe: a dropped call may still rename.
///
/// # Errors
///
/// The system's, with both paths.
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    offload_two(Class::File, "rename", from.as_ref(), to.as_ref(), Files::rename).await
}

/// Makes a second name, `link`, of a file. Not cancel safe: a dropped call may still make it.
///
/// # Errors
///
/// The system's, with both paths.
pub async fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    offload_two(Class::File, "link", original.as_ref(), link.as_ref(), Files::hard_link).await
}

/// Makes a symbolic link, `link`, that leads to `original`. Not cancel safe: a dropped call may still make it.
///
/// # Errors
///
/// The system's, with both paths.
#[cfg(unix)]
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    offload_two(Class::File, "link", original.as_ref(), link.as_ref(), Files::symlink).await
}

macro_rules! on_a_path {
    ($($(#[$doc:meta])* $name:ident($operation:literal) -> $output:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// The system's, with the path.
        pub async fn $name(path: impl AsRef<Path>) -> io::Result<$output> {
            offload($operation, path.as_ref(), Files::$name).await
        }
    )*};
}

on_a_path! {
    /// Makes a directory, in one that exists. Not cancel safe: a dropped call may still make it.
    create_dir("make the directory") -> ();
    /// Makes a directory, and those above it that do not exist. Not cancel safe: a dropped call may still make them.
    create_dir_all("make the directory") -> ();
    /// Removes a file. Not cancel safe: a dropped call may still remove it.
    remove_file("remove the file") -> ();
    /// Removes an empty directory. Not cancel safe: a dropped call may still remove it.
    remove_dir("remove the directory") -> ();
    /// Removes a directory with all that is in it; does not follow symbolic links. Not cancel
    /// safe: a dropped call may still remove them.
    remove_dir_all("remove the directory") -> ();
    /// The path that a symbolic link leads to. Cancel safe.
    read_link("read the link") -> PathBuf;
    /// The absolute path without symbolic links and `..`. Cancel safe.
    canonicalize("resolve") -> PathBuf;
}

/// Sets the permissions of a file or directory. Not cancel safe: a dropped call may still set them.
///
/// # Errors
///
/// The system's, with the path.
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    let set = move |files: &Files, path: &Path| files.set_permissions(path, permissions);
    offload("set the permissions of", path.as_ref(), set).await
}
