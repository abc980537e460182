//! tokio's own tests on this runtime.
//!
//! `cargo run` takes them from the package of tokio that `Cargo.toml` names, writes `colored` in place of `tokio`, leaves out
//! the functions that `outcomes` calls `absent` because they do not compile, runs each other one in a process of its own,
//! and compares what happens with `outcomes`, where `race` stands for what may pass or not. It ends with 1 if something
//! differs. `cargo run -- NAME` runs the tests whose name contains this, `cargo run -- --write` writes what happened into
//! `outcomes`, and keeps the reasons that are there.

mod generate;
mod outcomes;
mod run;

use outcomes::{Outcome, Outcomes};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut filter = String::new();
    let mut writes = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--write" => writes = true,
            name => filter = name.into(),
        }
    }
    let list = here.join("outcomes");
    let expected = Outcomes::read(&list);
    let tokio = tokio(here);
    generate::generate(&tokio, &here.join("target/generated"), &expected);
    let Some(binary) = build(here) else { return ExitCode::FAILURE };
    let seen = run::run(&binary, &tokio, &filter, &expected);
    println!("{}", seen.count());
    let differences = expected.differences(&seen);
    for difference in &differences {
        println!("{difference}");
    }
    if writes {
        expected.with(seen).write(&list);
    }
    match differences.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The folder of tokio's package.
fn tokio(here: &Path) -> PathBuf {
    let output = cargo(here).args(["metadata", "--format-version", "1"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // No parser for one path: the manifest of the only package whose folder begins so.
    let manifest = text.match_indices("/tokio-1.").filter_map(|(at, _)| {
        let begin = text[..at].rfind('"')? + 1;
        let rest = &text[begin..];
        rest[..rest.find('"')?].strip_suffix("/Cargo.toml")
    });
    PathBuf::from(manifest.into_iter().next().expect("tokio is among the packages"))
}

fn cargo(here: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(here);
    cargo
}

/// The program with the tests. The compiler says what does not compile.
fn build(here: &Path) -> Option<PathBuf> {
    let arguments = ["test", "--no-run", "--test", "generated", "--message-format"];
    let output = cargo(here)
        .args(arguments)
        .arg("json-render-diagnostics")
        .stderr(std::process::Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.contains("\"name\":\"generated\""))?;
    let (_, path) = line.split_once("\"executable\":\"")?;
    output.status.success().then(|| PathBuf::from(&path[..path.find('"').unwrap()]))
}
