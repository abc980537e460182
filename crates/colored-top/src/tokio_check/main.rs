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

Such as --manifest-path PATH, --features NAMES, --all-features, --no-default-features, --offline, and
--filter-platform TRIPLE for a program for another system than this one.
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
    let run = |command: &mut Command| {
        let output =
            command.output().map_err(|error| format!("cannot run {}: {error}", cargo.display()))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("cargo says: {}", said.trim()))
    };
    let mut command = Command::new(&cargo);
    command.args(["metadata", "--format-version", "1"]).args(arguments);
    let is_filtered = arguments.iter().any(|argument| {
        argument.to_str().is_some_and(|argument| argument.starts_with("--filter-platform"))
    });
    if !is_filtered {
        // Packages for other systems need not be there.
        let said = run(Command::new(&cargo).arg("-vV"))?;
        let said = String::from_utf8_lossy(&said);
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        command.args(host.map(|host| format!("--filter-platform={host}")));
    }
    run(&mut command)
}
