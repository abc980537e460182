//! The compiler's message for each mistake, word for word: of the attributes, of the runtime, and of `colored_hyper`. It shows
//! the source line of the bound that is not met, with the advice that stands there as a comment.

mod attributes;

use std::env;
use std::process::Command;

/// One set of flags for what is checked and for what that depends on. trybuild 1.0.122 gives the two its own, which differ in the
/// last one, and so has all dependencies checked twice.
const FLAGS: &str = "--cfg\x1ftrybuild\x1f--verbose\x1f-A\x1fdead_code\x1f--diagnostic-width=140";

#[test]
fn mistakes_are_explained() {
    // Cargo takes these flags, and none that trybuild gives.
    let variable = "CARGO_ENCODED_RUSTFLAGS";
    if env::var(variable).as_deref() != Ok(FLAGS) {
        let mut this = Command::new(env::current_exe().unwrap());
        let this = this.args(["mistakes_are_explained", "--exact", "--nocapture"]);
        assert!(this.env(variable, FLAGS).status().unwrap().success());
        return;
    }
    let tests = trybuild::TestCases::new();
    for folder in ["macros", "runtime", "hyper"] {
        tests.compile_fail(format!("{folder}/*.rs"));
    }
}
