//! An exit code.

use std::process::ExitCode;

#[colored::main]
async fn main() -> ExitCode {
    ExitCode::SUCCESS
}

#[test]
fn an_exit_code_is_returned() {
    super::succeeds(main());
}
