//! The files of the hosts, seen from outside: what a test prepares, looks at, and breaks.
//!
//! In a simulation, the paths of `colored::fs` lead to a tree in memory, one for each host. It has the
//! directories `/`, `/run` and `/tmp`, and paths that do not begin with `/` begin there. It outlives a
//! [crash](super::Host::crash) of its host, but for what the program has not synced.
//!
//! These functions take effect at once, also on a host that is down; they need no turn. Files that a program finds at its
//! start are written in the closure of [`run`](super::Builder::run), before its `async` block:
//!
//! ```
//! use colored::{fs, sim};
//!
//! sim::check(|| {
//!     sim::fs::write("main", "/etc/settings", "color = red").unwrap();
//!     async {
//!         assert_eq!(fs::read_to_string("/etc/settings").await.unwrap(), "color = red");
//!         fs::write("/state", "new").await.unwrap();
//!         // Neither the file nor its directory is synced.
//!         sim::fs::lose_unsynced("main");
//!         assert!(!fs::try_exists("/state").await.unwrap());
//!     }
//! });
//! ```
//!
//! # What a power failure leaves
//!
//! | change | is on the device after |
//! |---|---|
//! | a write, another length | `sync_data` or `sync_all` of the file, or a write to a file that was opened with `O_DSYNC` |
//! | other permissions | `sync_all` of the file |
//! | a new name, a removed one, a rename | `sync_all` of the directory, opened as a `File`; for a rename between two directories, of either one |
//!
//! Of other changes, a choice each, some are there and some are not, in any combination: a write whole, or up to a multiple
//! of 512 bytes, or not at all; a rename as a whole or not at all. By default nothing is there. A name may be there
//! although the bytes of its file are not. No device writes without a sync here, and systems keep more than this, each in
//! another way: what survives here survives there.
//!
//! # Metadata
//!
//! A simulated file has its kind, its length, its permissions and the time of its last change, which is in the
//! time of the host, and the time of its last access too. Only the system makes values of
//! [`std::fs::Metadata`], so all else, as `created` and what the `MetadataExt` traits have, belongs to a file of the system,
//! which stands in for all. The process keeps one without a name in [`std::env::temp_dir`].
//!
//! # Faults
//!
//! With [`Fault::Disk`](super::Fault::Disk), reads and syncs fail with `EIO`, and writes with `EIO` or `ENOSPC`: once in 16,
//! 64 or 256 times, as the seed draws. After a sync that fails, the bytes of the file are in memory, and the next sync succeeds although they are not on
//! the device, as on Linux: the program has to write them again. [`set_capacity`] makes a disk full.

use super::host::{Host, host};
use std::io;
use std::path::Path;

/// Makes these the bytes of a file, and makes the file and the directories above it if they do not exist. All of this, and
/// what else is on the disk, is synced.
///
/// # Errors
///
/// As of the system.
///
/// # Panics
///
/// If there is no such host, and outside of a simulation.
#[track_caller]
pub fn write(on: &str, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let (Host { world, number }, path) = (host(on), path.as_ref());
    let mut disk = world.disk(number);
    if let Some(above) = path.parent() {
        disk.create_dir_all(above, 0o777)?;
    }
    disk.write(path, bytes.as_ref())?;
    disk.sync_everything();
    Ok(())
}

/// The bytes of a file, as programs of the host see them.
///
/// # Errors
///
/// As of the system.
///
/// # Panics
///
/// As [`write()`].
#[track_caller]
pub fn read(on: &str, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let Host { world, number } = host(on);
    world.disk(number).read(path.as_ref())
}

/// Sets the room for the bytes of all files of a host; 1 GiB by default. A write that needs more fails with
/// [`StorageFull`](io::ErrorKind::StorageFull). Holes count. What is there stays, also if it has more.
///
/// # Panics
///
/// As [`write()`].
#[track_caller]
pub fn set_capacity(on: &str, bytes: u64) {
    let Host { world, number } = host(on);
    world.disk(number).set_capacity(bytes);
}

/// The disk of a host loses its power, while the programs of the host go on: what is not synced is lost, or a part of
/// it, [by choice](self#what-a-power-failure-leaves). Files that were open fail with `EBADF`. A
/// [crash](super::Host::crash) of the host does this too.
///
/// # Panics
///
/// As [`write()`].
#[track_caller]
pub fn fail_power(on: &str) {
    let Host { world, number } = host(on);
    world.fail_power(number);
}

/// As [`fail_power`], and all is lost that is not synced.
///
/// # Panics
///
/// As [`write()`].
#[track_caller]
pub fn lose_unsynced(on: &str) {
    let Host { world, number } = host(on);
    world.disk(number).fail_power(&mut |_| false);
}
