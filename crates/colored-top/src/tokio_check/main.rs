//! `colored-tokio-check`: names the packages of a program that may look for tokio's runtime.
//!
//! It asks `cargo metadata`, which reads `Cargo.lock`, and compiles nothing.

mod metadata;
mod users;

use self::metadata::Metadata;
use self::users::Findings;
use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

const HELP: &str = "\
Names the packages of a program that may look for tokio's runtime, and panic where there is none.

usage: colored-tokio-check [OPTIONS OF cargo metadata]

Such as --manifest-path PATH, --features NAMES, --all-features, --no-default-features, --offline.
Ends with 1 if there are such packages, and colored-rt is without its feature tokio-context.
";

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match ask_cargo(&arguments).and_then(|json| Metadata::parse(&json)) {
        Ok(metadata) => {
            let findings = Findings::of(&metadata);
            print!("{findings}");
            if findings.are_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(text) => {
            eprintln!("colored-tokio-check: {text}");
            ExitCode::from(2)
        }
    }
}

fn ask_cargo(arguments: &[OsString]) -> Result<Vec<u8>, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&cargo)
        .args(["metadata", "--format-version", "1"])
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", cargo.display()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("cargo metadata: {}", said.trim()))
}
