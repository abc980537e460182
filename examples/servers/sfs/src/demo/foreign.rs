//! Debian's libnfs without TLS.

use super::{Outcome, Stage};
use colored::process::Command;
use colored::time::{Duration, timeout};
use std::ffi::OsStr;
use std::io;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(30);

pub(super) async fn run(stage: &Stage) -> Outcome {
    println!("libnfs, which knows no leases:");
    match copy_and_read(stage, stage.plain.port(), "by-libnfs").await? {
        true => Ok(()),
        false => {
            println!("  nfs-cp is not installed: apt-get install libnfs-utils");
            Ok(())
        }
    }
}

/// Copies a file to a server of NFS, lists and reads it back. Returns whether there is such a client.
pub(super) async fn copy_and_read(stage: &Stage, port: u16, name: &str) -> Outcome<bool> {
    let url = |path: &str| format!("nfs://127.0.0.1/pub/{path}?nfsport={port}&mountport={port}");
    let file = stage.file.as_os_str();
    let Some(_) = output("nfs-cp", &[file, url(name).as_ref()]).await? else { return Ok(false) };
    println!("  nfs-cp FILE '{}'", url(name));
    let listing = output("nfs-ls", &[url("").as_ref()]).await?.unwrap_or_default();
    let listing = String::from_utf8_lossy(&listing).into_owned();
    println!("  nfs-ls '{}'", url(""));
    let line = listing.lines().find(|line| line.ends_with(name));
    println!("    {}", line.ok_or_else(|| format!("nfs-ls lists {listing:?} without {name}"))?);
    let bytes = output("nfs-cat", &[url(name).as_ref()]).await?.unwrap_or_default();
    stage.compare("nfs-cat", &bytes)?;
    Ok(true)
}

/// The standard output of a command, if it is installed.
pub(super) async fn output(program: &str, args: &[&OsStr]) -> Outcome<Option<Vec<u8>>> {
    let mut command = Command::new(program);
    command.args(args).kill_on_drop(true);
    let output = match timeout(LIMIT, command.output()).await? {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        output => output?,
    };
    match output.status.success() {
        true => Ok(Some(output.stdout)),
        false => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("{program} {args:?} fails: {text}").into())
        }
    }
}
