//! A directory for a test.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// An empty directory, which is removed with the value.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("colored-traces-{}-{}", std::process::id(), NUMBER.fetch_add(1, SeqCst));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("the name is new");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A test that fails here has failed before.
        let _ = fs::remove_dir_all(&self.0);
    }
}
