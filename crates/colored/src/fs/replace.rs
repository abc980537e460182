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
/// The bytes are written to a new file in the directory of the old one, which is then renamed to it. So a program
/// that has the file open keeps the old contents, and the file system needs room for both.
/// Permissions, owner and group of the old file stay; on Linux also access control lists, extended attributes
/// and the flags of `chattr`. A path that leads over symbolic links replaces the file that the last
/// one leads to, or makes it; the links stay. The data is on the device only after a
/// [`sync_all`](super::File::sync_all) of file and directory.
///
/// # Where a file is not replaced
///
/// What [`std::fs::write`] refuses for a path, this refuses with the same error: for
/// example a file without the permission to write. Where a file can be written, and not
/// replaced, it is written in place, as by [`write_in_place`]; then another program may see a part of the bytes:
///
/// - what is no regular file: a device, a pipe;
/// - files of `/proc`, `/sys` and the like, and what a path through `/proc` stands for, such as `/dev/stdout` and
///   `/proc/self/fd/1`: an open file;
/// - a file that has several names (hard links), so that all of them show the new contents;
/// - a file that other files are mounted on, as `/etc/hosts` of a container;
/// - if the directory allows no new file, or no replacement: it is not writable, or is sticky and the file is
///   somebody else's;
/// - a file with owner, group or attributes that this process may not give to another one; one with a set-user-ID
///   or set-group-ID bit or with capabilities, which a write takes away.
///
/// # If the program is killed
///
/// On Linux the new file has no name until it is complete, if the file system allows that (`O_TMPFILE`). A program
/// that is killed between the two calls that name it and rename it leaves a file
/// `.colored-<number>-<number>.new` in the directory, or an incomplete one if the file system does not
/// allow that; the next `write` to the same path removes it. Other systems have such a name during the whole write, and
/// nobody removes what a killed program leaves.
///
/// # Which one to use
///
/// `write` for a file that others read, or that must survive a crash of the program: settings, saved state, a cache.
/// [`write_in_place`] for many small files that nobody reads meanwhile, for a file that another program
/// follows through its open descriptor, and for what `tokio::fs::write` did: it makes three calls of the system,
/// `write` about twenty. Measured on ext4, to replace a file of 100 bytes takes COST_SMALL of the time of `write_in_place`,
/// one of 1 MiB COST_LARGE; on tmpfs COST_TMPFS.
///
/// # Errors
///
/// The system's, with the path. If the file would have been replaced, the old file is as it was: also if there is no room for the
/// new one ([`StorageFull`](io::ErrorKind::StorageFull), [`QuotaExceeded`](io::ErrorKind::QuotaExceeded)) or no
/// descriptor.
///
/// # Panics
///
/// Outside a runtime.
pub async fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let bytes = bytes.as_ref().to_vec();
    offload("write", path.as_ref(), move |path| replace(path, &bytes)).await
}

/// Makes `bytes` the contents of the file at a path, exactly as [`std::fs::write`] and `tokio::fs::write` do: empties the file, or makes
/// it, and writes the bytes. Not cancel safe: a dropped call may still write.
///
/// Another program may see the file empty, or a part of the bytes; a crash and an error may leave it so. [`write`](write()) shows the
/// old contents or the new ones; its page says when to use which.
///
/// # Errors
///
/// The system's, with the path. The file may be empty then, or have a part of the bytes.
///
/// # Panics
///
/// Outside a runtime.
pub async fn write_in_place(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let bytes = bytes.as_ref().to_vec();
    offload("write", path.as_ref(), move |path| fs::write(path, &bytes)).await
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

/// The name of a new file for the contents of the file `name`; several calls at a time need several numbers. It fits every file system,
/// however long `name` is, and is the same in every program and version, so that the next call finds it.
fn temporary_name(name: &[u8], number: impl std::fmt::Display) -> String {
    // FNV-1a.
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!(".colored-{hash:016x}-{number}.new")
}
