//! Files and directories.
//!
//! An operation is first tried on the worker, by a call that returns at once instead of waiting for a
//! disk. What the system has in memory is answered by that call, as fast as by the standard library.
//! What would wait becomes one read of the system's io_uring or one job of a blocking thread, and the task
//! goes on when all of it is done.
//! The idea is lazy asynchronous I/O (Elmeleegy, Chanda, Cox, Zwaenepoel: "Lazy Asynchronous I/O for
//! Event-Driven Servers", USENIX 2004).
//!
//! | operation | tried on the worker | otherwise |
//! |---|---|---|
//! | [`File::read_at`] and the other reads | `preadv2` with `RWF_NOWAIT`, 256 KiB a time | the rest by io_uring, or the call, up to 1 MiB a time |
//! | [`File::write_at`] and the other writes | `pwritev2` with `RWF_NOWAIT`, where the file system has it | the rest, up to 1 MiB a time |
//! | reads and writes of pipes and sockets | `preadv2` and `pwritev2` with `RWF_NOWAIT` | the reactor |
//! | reads of terminals, and of files of `/proc` and `/sys` | | the reactor, where there is nothing; then the call |
//! | [`File::open`], [`OpenOptions::open`] of a file that exists | `openat2` with `RESOLVE_CACHED` | the call |
//! | [`File::metadata`] | on a device of this machine, after the first call | the call |
//! | [`metadata`], [`symlink_metadata`], [`try_exists`] | the same, if the path is in memory | the call |
//! | [`read`], [`read_to_string`] | as `open` and `read_to_end` | the same |
//! | [`read_dir()`] | | 256 entries a time |
//! | all others | | the call |
//!
//! The attempts exist on Linux 5.12 or later; on other systems a blocking thread does everything. Some
//! file systems have none: then the runtime remembers that for the device. Files in memory (tmpfs) are
//! then read and written on the worker by ordinary calls. Of overlayfs, the root of most containers, and
//! of other file systems of this machine, `mincore` tells what is in memory, and an ordinary call reads
//! that: but only of files that this user owns, since the system tells others nothing. If most attempts on a device find nothing, only
//! one of 16 operations is tried, until they find something again. If attempts that find nothing are slow, because the
//! queue of the device is full, the next thousand reads of such files ask `mincore` first. [`Tuning::lazy_files`] switches all
//! attempts off, and so does the environment variable `COLORED_LAZY_FILES=0`.
//!
//! io_uring reads files that are on a device of this machine and have attempts, after the first operation
//! that a thread did on the device. At most 1,024 reads and 64 MiB are under way at a time, for each 8
//! workers; threads do the rest, and any read that io_uring fails. It saves three quarters of the CPU time
//! of reads by threads where many are under way. [`Tuning::io_uring`] switches it off, and so does
//! `COLORED_IO_URING=0`.
//!
//! [`Metrics::files`] counts what was tried, found and deferred, by device. An attempt does not wait for
//! data, but it may wait for a place in the full queue of a device, or for the blocks that say where the
//! data is.
//!
//! Operations work for the runtime of their thread, as sockets and timers do: without one they panic, and say how to enter
//! one. A future of this module may be polled by any executor: [`Handle::enter`](crate::Handle::enter) gives its thread a
//! runtime, and a [`File`] keeps the one that it was opened in.
//!
//! Files have threads of their own, at most 64, so that they and the calls of
//! [`spawn_blocking`](crate::spawn_blocking) do not delay each other. What may wait for somebody else has others, so that
//! it delays only its like, and the end of a runtime does not wait for it. There are at most 64 of each of these: openings
//! of named pipes for reading, and for writing; reads of files of FUSE; devices and files of `/proc` that have something;
//! and operations that wait although the reactor does not know of them, such as writes to terminals. Each standard stream
//! has one. What finds no free thread waits in line behind its like.
//!
//! In a simulation (feature `sim`), paths lead to a tree in memory, and `sim::fs` tells what a power failure leaves of it.
//!
//! [`Tuning::io_uring`]: crate::runtime::Tuning::io_uring
//! [`Tuning::lazy_files`]: crate::runtime::Tuning::lazy_files
//! [`Metrics::files`]: crate::metrics::Metrics::files
//!
//! # Examples
//!
//! ```
//! use colored::fs::{self, File};
//!
//! # #[colored::main]
//! # async fn main() -> std::io::Result<()> {
//! # let directory = std::env::temp_dir().join(format!("colored-fs-{}", std::process::id()));
//! # fs::create_dir_all(&directory).await?;
//! let path = directory.join("greeting");
//! fs::write(&path, "hello, world").await?;
//!
//! let file = File::open(&path).await?;
//! let mut word = [0; 5];
//! file.read_exact_at(&mut word, 7).await?;
//! assert_eq!(&word, b"world");
//!
//! let mut entries = fs::read_dir(&directory).await?;
//! while let Some(entry) = entries.next_entry().await? {
//!     println!("{}: {} bytes", entry.path().display(), entry.metadata().await?.len());
//! }
//! # fs::remove_dir_all(&directory).await
//! # }
//! ```

mod backing;
mod buffer;
mod convert;
mod cursor;
mod descriptor;
mod dir_builder;
mod fault;
mod file;
mod files;
mod gather;
mod nature;
mod offload;
mod open;
mod open_file;
mod opening;
mod paths;
mod positional;
mod read_dir;
mod stream;
mod system;
#[cfg(test)]
mod tests;
mod traits;
mod transfer;

pub use self::dir_builder::DirBuilder;
pub use self::file::File;
pub use self::open::OpenOptions;
#[cfg(unix)]
pub use self::paths::symlink;
pub use self::paths::{
    canonicalize, copy, create_dir, create_dir_all, hard_link, metadata, read, read_link,
    read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions,
    symlink_metadata, try_exists, write,
};
pub use self::read_dir::{DirEntry, ReadDir, read_dir};
