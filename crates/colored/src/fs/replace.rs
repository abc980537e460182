//! [`write()`]: replacing a file in one step. [`write_in_place()`]: as the standard library writes.

use super::offload::offload;
use std::fs;
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(not(target_os = "linux"))]
use self::other as system;

/// Makes `bytes` the contents of the file at a path, in one step: a program that opens the file finds
/// the old contents or the new ones, also after a crash of this program, and also if the call is dropped
/// or fails. A file that does not exist appears with all its bytes. Not cancel safe: a dropped call may
/// still replace the file.
///
/// The bytes are written to a new file in the directory of the old one, which is then renamed to it. So a
/// program that has the file open keeps the old contents, and the file system needs room for both.
/// Permissions, owner and group of the old file stay, and on Linux access control lists, attributes of
/// users (`user.*`) and the flags of `chattr`. A path that leads over symbolic links replaces the file
/// that the last one leads to, or makes it; the links stay. Data and name are on the device only after a
/// [`sync_all`](super::File::sync_all) of file and directory.
///
/// # Where a file is not replaced
///
/// What [`std::fs::write`] refuses, this refuses with the same error: for example a file that the process
/// may not write, although it may replace it. Where a file can be written, and not replaced, it
/// is written in place, as by [`write_in_place`]; another program may then see a part of the bytes:
///
/// - what is no regular file: a device, a pipe;
/// - files of `/proc`, `/sys` and the like, and open files by their names in `/proc`, such as
///   `/dev/stdout`;
/// - a file with several names (hard links): all of them show the new contents;
/// - a file that another one is mounted on, as `/etc/hosts` in a container;
/// - if the directory allows no new file, or no replacement: it is not writable, it is sticky and
///   the file is somebody else's, or it has a flag of `chattr` against that;
/// - a file whose owner, group or attributes this process may not give to a new one;
/// - a file with a set-user-ID or set-group-ID bit or with capabilities, which a write takes away.
///
/// # If the program is killed
///
/// On Linux the new file has no name until it is complete, if the file system has such files
/// (`O_TMPFILE`); then a file `.colored-<number>-<number>.new` stays in the directory only if the program is
/// killed between the two calls that name it and rename it. On other file systems it has that name during the whole
/// call. The next `write` that replaces the same file removes what a killed program left: the
/// file is no longer locked. Other systems than Linux have such a name too, and nobody removes it there.
///
/// # Which one to use
///
/// `write`, for a file that others read meanwhile, or that must survive a crash of the program: settings,
/// saved state, a cache. [`write_in_place`], for many small files that nobody reads meanwhile, for a file that
/// another program follows through its open descriptor, and where there is no room for two.
///
/// `write` makes 18 calls of the system, [`write_in_place`] 3. On a busy virtual machine it took twice the time
/// for 100 bytes on tmpfs, and 2 to 10 times on ext4, which begins to write a renamed file to the device at once;
/// for 1 MiB, and for a file that did not exist, the two were too close to tell apart.
///
/// # Errors
///
/// The system's, with the path. If the file is one that is replaced, it is as it was: also if there is
/// no room for the new one ([`StorageFull`](io::ErrorKind::StorageFull),
/// [`QuotaExceeded`](io::ErrorKind::QuotaExceeded)), or no descriptor.
///
/// # Panics
///
/// Outside a runtime.
pub async fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let bytes = bytes.as_ref().to_vec();
    offload("write", path.as_ref(), move |files, path| match files.simulated() {
        Some(tree) => tree.replace(path, &bytes),
        None => replace(path, &bytes),
    })
    .await
}

/// Makes `bytes` the contents of the file at a path, exactly as [`std::fs::write`] and `tokio::fs::write`
/// do: empties the file, or makes it, and writes the bytes. Not cancel safe: a dropped call may still write.
///
/// Another program may see the file empty, or with a part of the bytes, and a crash of this one may leave it
/// so. [`write`](write()) shows the old contents or the new ones; its page says when to use which.
///
/// # Errors
///
/// The system's, with the path. The file may then be empty, or have a part of the bytes.
///
/// # Panics
///
/// Outside a runtime.
pub async fn write_in_place(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let bytes = bytes.as_ref().to_vec();
    offload("write", path.as_ref(), move |files, path| files.write(path, &bytes)).await
}

/// Why a file was not replaced. It is as it was.
enum Refusal {
    /// Files like this one, or at this place, cannot be replaced.
    InPlace,
    /// The new file could not be written.
    Failed(io::Error),
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match system::replace(path, bytes) {
        Ok(()) => Ok(()),
        // This also finds out what is wrong with the path.
        Err(Refusal::InPlace) => fs::write(path, bytes),
        Err(Refusal::Failed(error)) => Err(error),
    }
}

/// The name of a new file that is to replace the file `name`; several calls at a time need several numbers.
/// It fits every file system, however long `name` is, and is the same in every program and version, so
/// that the next call finds it.
fn temporary_name(name: &[u8], number: impl std::fmt::Display) -> String {
    // FNV-1a.
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!(".colored-{hash:016x}-{number}.new")
}
