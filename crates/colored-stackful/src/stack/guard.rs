//! Pages that no access reaches, below each stack.

use super::refusal;
use std::io;
use std::ptr;

#[cfg(target_os = "linux")]
#[path = "guard/linux.rs"]
mod mark;
/// Other systems cannot.
#[cfg(not(target_os = "linux"))]
mod mark {
    pub(super) fn mark(_start: usize, _bytes: usize) -> bool {
        false
    }
}

/// Has the system refuse all accesses to these pages of a mapping, which nobody uses.
///
/// # Errors
///
/// The errors of the system. If the process has too many mappings, the text says which limit that is.
pub(super) fn install(start: usize, bytes: usize) -> io::Result<()> {
    if mark::mark(start, bytes) { Ok(()) } else { protect(start, bytes) }
}

/// Makes a mapping of its own of the pages.
fn protect(start: usize, bytes: usize) -> io::Result<()> {
    let place = ptr::with_exposed_provenance_mut(start);
    // SAFETY: the caller has the pages of a mapping, and nobody uses them.
    if unsafe { libc::mprotect(place, bytes, libc::PROT_NONE) } == 0 {
        return Ok(());
    }
    Err(refusal::of_mapping(io::Error::last_os_error()))
}

#[cfg(test)]
mod tests {
    use super::protect;
    use std::io::ErrorKind;

    /// musl rounds to whole pages, and nothing is there.
    #[test]
    fn what_is_no_page_is_refused() {
        let kind = protect(1, 4096).unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::InvalidInput | ErrorKind::OutOfMemory), "{kind:?}");
    }
}
