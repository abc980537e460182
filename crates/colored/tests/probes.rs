//! The static probes are in the program, under their names.

#![cfg(all(
    feature = "usdt",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use colored::Runtime;
use std::fs;

/// As the front page lists them.
const PROBES: [&str; 6] = ["slice_begin", "slice_end", "steal", "park", "unpark", "long_poll"];

#[test]
fn each_probe_has_a_note_in_the_program() {
    // The workers' code is linked, and works with the probes in it.
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let sum = runtime.block_on(async { colored::spawn_colored(1, async { 1 + 1 }).await });
    assert_eq!(sum.expect("it ends"), 2);
    let program = fs::read("/proc/self/exe").expect("the program");
    let has = |text: &str| program.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    for name in PROBES {
        // The note: the provider, the name, and the places of the arguments. The text of this loop has no such neighbours.
        assert!(has(&format!("colored\0{name}\0")), "the probe {name}");
    }
}
