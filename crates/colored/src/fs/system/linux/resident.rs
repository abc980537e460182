//! What is in memory of a file whose file system has no attempts: overlayfs, and others of this machine.
//!
//! The page may leave memory between the answer and the read, which then waits: seldom, and once.

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;
use rustix::process::geteuid;
use std::ffi::c_void;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::ptr;

/// The smallest pages that Linux has.
const SMALLEST_PAGE: usize = 4096;

/// The pages that one system call asks about.
const PAGES: usize = 65;

/// Room for a file that grows: its end may become so many times as far.
const ROOM: u64 = 2;

/// A mapping of a file that nobody reads or writes. It costs addresses, and no memory.
#[derive(Debug)]
pub(in crate::fs) struct Residency {
    start: *mut c_void,
    len: usize,
}

impl Residency {
    /// A mapping of an open file. `None` if the system would not tell the truth, which it does to the owner of a file
    /// and to those who may write it; or if the file cannot be mapped.
    pub(in crate::fs) fn of(file: &File) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        if metadata.uid() != geteuid().as_raw() || cfg!(target_pointer_width = "32") {
            return None;
        }
        let len = usize::try_from(metadata.len().max(1).checked_mul(ROOM)?).ok()?;
        let len = len.checked_next_multiple_of(page_size())?;
        // SAFETY: The kernel chooses a place where nothing is mapped. The mapping allows no access, so nothing that
        // happens to the file is undefined behavior here.
        let start =
            unsafe { mmap(ptr::null_mut(), len, ProtFlags::empty(), MapFlags::SHARED, file, 0) };
        Some(Self { start: start.ok()?, len })
    }

    /// How many of `len` bytes at `offset` are in memory, from the first one on. It may be fewer than there are.
    pub(in crate::fs) fn resident(&self, offset: u64, len: usize) -> usize {
        let page = page_size();
        let Ok(offset) = usize::try_from(offset) else { return 0 };
        if offset >= self.len || page < SMALLEST_PAGE {
            return 0;
        }
        let first = offset / page * page;
        let end = offset.saturating_add(len).min(self.len);
        let mut pages = [0_u8; PAGES];
        let asked = (end - first).div_ceil(page).min(PAGES);
        // SAFETY: `first` is inside the mapping.
        let start = unsafe { self.start.byte_add(first) };
        // SAFETY: `start` is at the start of a page. The call writes one byte for each of `asked` pages, which are not more
        // than `pages` has, and all of which are in the mapping.
        let answer =
            unsafe { libc::mincore(start, (end - first).min(asked * page), pages.as_mut_ptr()) };
        if answer != 0 {
            return 0;
        }
        let resident = pages[..asked].iter().take_while(|page| **page & 1 == 1).count();
        (first + resident * page).min(end).saturating_sub(offset)
    }
}

// SAFETY: The mapping belongs to the process, not to a thread; the methods only ask about it.
unsafe impl Send for Residency {}
// SAFETY: As above: nothing is changed before the drop.
unsafe impl Sync for Residency {}

impl Drop for Residency {
    fn drop(&mut self) {
        // SAFETY: The mapping was made by `of`, and nobody has a reference into it.
        let unmapped = unsafe { munmap(self.start, self.len) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_written_is_in_memory_and_what_is_not_there_is_not() {
        let path = std::env::temp_dir().join(format!("colored-resident-{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let page = page_size();
        file.write_all(&vec![7; 2 * page + 10]).unwrap();
        let map = Residency::of(&file);
        if cfg!(target_pointer_width = "32") {
            assert!(map.is_none(), "the addresses are for others");
            return;
        }
        let map = map.expect("this process owns it");
        assert_eq!(map.resident(0, 1), 1);
        assert_eq!(map.resident(page as u64 - 1, 2), 2);
        assert_eq!(map.resident(3, 10 * page), 3 * page - 3, "up to the last page of the file");
        assert_eq!(map.resident(3 * page as u64, 10), 0, "behind the end");
        assert_eq!(map.resident(u64::MAX, 10), 0);
        // It may grow.
        file.write_all(&vec![7; page]).unwrap();
        assert_eq!(map.resident(3 * page as u64, 10), 10);
        file.write_all(&vec![7; 100 * page]).unwrap();
        assert_eq!(map.resident(90 * page as u64, 10), 0, "farther than it was mapped");
    }
}
