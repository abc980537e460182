//! Directories for tests, which are removed at the end.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// A new directory.
pub struct Scratch(PathBuf);

impl Scratch {
    /// In the directory of temporary files.
    pub fn new() -> Self {
        Self::within(&env::temp_dir())
    }

    /// In another directory.
    pub fn within(parent: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            // Ordering: the numbers are different, whatever their order.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("colored-tests-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Self(path),
                // An earlier process of this number was killed, and left it behind.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!("a directory in {}: {error}", parent.display()),
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A path inside.
    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file inside.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, bytes).expect("the directory is writable");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
