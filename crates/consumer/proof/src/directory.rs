//! Temporary directories.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new directory, which is removed at the end.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Makes a directory.
    ///
    /// # Panics
    ///
    /// If the system refuses.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Directory {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("colored-engines-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the directory of temporary files is writable");
        Directory(path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
