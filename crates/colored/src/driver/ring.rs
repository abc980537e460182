//! Reads of files that the system does in the background.
//!
//! A [`Ring`] belongs to a shard: the completions of its reads are events of the shard, and the thread that polls the
//! shard hands the bytes over. It is made by the first read. Where there is no io_uring, or it has no room, a read is
//! given back, and a thread of the pool does it.

#![cfg_attr(
    not(all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64",
            target_arch = "loongarch64",
            target_arch = "powerpc64",
        )
    )),
    expect(dead_code, reason = "without io_uring nobody takes a read")
)]

// The systems that the crate `io-uring` knows.
#[cfg_attr(
    not(all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64",
            target_arch = "loongarch64",
            target_arch = "powerpc64",
        )
    )),
    path = "ring/absent.rs"
)]
mod uring;

use self::uring::Uring;
use super::reactor::Shard;
use std::fs::File;
use std::io;
use std::sync::{Arc, OnceLock};

/// What has an open file, and keeps it open.
pub(crate) trait Opened: Send + Sync {
    fn file(&self) -> &File;
}

/// A read at a position.
pub(crate) struct Read {
    pub(crate) of: Arc<dyn Opened>,
    /// At most 2³¹ - 1.
    pub(crate) len: usize,
    pub(crate) offset: u64,
    /// Gets the bytes, fewer than `len` before the end of the file or an error, on the thread that polls the shard. It is
    /// dropped, not called, if the runtime ends first.
    pub(crate) done: Box<dyn FnOnce(io::Result<Vec<u8>>) + Send>,
}

/// The io_uring of a shard, if there is one.
pub(crate) struct Ring {
    is_allowed: bool,
    uring: OnceLock<Option<Arc<Uring>>>,
}

impl Ring {
    pub(crate) fn new(is_allowed: bool) -> Ring {
        Ring { is_allowed, uring: OnceLock::new() }
    }

    /// Begins a read; `shard` is the same each time. Costs one system call, which does not wait for the data.
    ///
    /// # Errors
    ///
    /// The read, which has not begun, if there is no ring, or the ring has enough to do.
    pub(crate) fn read(&self, shard: &Shard, read: Read) -> Result<(), Read> {
        if !self.is_allowed {
            return Err(read);
        }
        match self.uring.get_or_init(|| Uring::new(shard).ok()) {
            Some(uring) => uring.read(read),
            None => Err(read),
        }
    }

    /// Whether a read is under way.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.uring.get(), Some(Some(uring)) if uring.is_busy())
    }

    /// Ends the reads that are under way, which takes as long as the device.
    pub(crate) fn shut_down(&self) {
        if let Some(Some(uring)) = self.uring.get() {
            uring.shut_down();
        }
    }
}
