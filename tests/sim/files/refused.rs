//! What a simulated file does not have.

use super::passes;
use colored::fs::{self, File};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_simulated_file_has_no_descriptor() {
    let _report = passes(|| async {
        fs::write("/a", "bytes").await.unwrap();
        let file = File::open("/a").await.unwrap();
        #[cfg(unix)]
        {
            let descriptor = || std::os::fd::AsRawFd::as_raw_fd(&file);
            let panic = catch_unwind(AssertUnwindSafe(descriptor)).unwrap_err();
            let text = panic.downcast_ref::<&str>().unwrap();
            assert_eq!(*text, "a simulated file has no descriptor");
        }
        assert_eq!(file.into_std().await.unwrap_err().kind(), ErrorKind::Unsupported);
    });
}
