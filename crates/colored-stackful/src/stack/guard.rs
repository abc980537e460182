//! Pages that no access reaches, below each stack.

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
    Err(explain(io::Error::last_os_error()))
}

fn explain(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(libc::ENOMEM) {
        return error;
    }
    io::Error::new(
        io::ErrorKind::OutOfMemory,
        "the process has as many mappings as the system allows (Linux: `vm.max_map_count`), and on this system each \
         stack takes two; from Linux 6.13 on, many stacks share one",
    )
}

#[cfg(test)]
mod tests {
    use super::{explain, protect};
    use std::io;

    #[test]
    fn a_limit_of_mappings_is_named() {
        let error = explain(io::Error::from_raw_os_error(libc::ENOMEM));
        assert!(error.to_string().contains("vm.max_map_count"), "{error}");
        let other = explain(io::Error::from_raw_os_error(libc::EINVAL));
        assert_eq!(other.raw_os_error(), Some(libc::EINVAL));
    }

    #[test]
    fn what_is_no_page_is_refused() {
        assert_eq!(protect(1, 4096).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
