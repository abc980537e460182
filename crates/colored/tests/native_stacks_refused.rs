//! A handler of the program's own for the signal of native stacks. In a process of its own.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use colored::diagnose::dump::install_stack_handler;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[test]
fn another_handler_of_the_signal_is_kept_and_named() {
    let came = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(libc::SIGURG, came).expect("a handler");
    let error = install_stack_handler().expect_err("there is a handler");
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("SIGURG, and the program has another one"), "{error}");
}
