//! The file for records that are kept.

use super::Snapshot;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes the records as [`Snapshot::write_perfetto`] does. A line on the standard error tells if that fails.
pub fn write_file(snapshot: &Snapshot, path: &Path) {
    if let Err(error) = write(snapshot, path) {
        let path = path.display();
        // A program without a standard error goes on all the same.
        let _ = writeln!(io::stderr(), "colored: cannot write the trace file {path}: {error}");
    }
}

/// A file with this name is complete.
fn write(snapshot: &Snapshot, path: &Path) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    snapshot.write_perfetto(&mut File::create(&part)?)?;
    fs::rename(part, path)
}
