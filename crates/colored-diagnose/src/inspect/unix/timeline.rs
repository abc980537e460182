//! The file of a timeline, beside the socket.

use crate::json::object;
use crate::subject::Subject;
use crate::trace::{Level, Snapshot};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What the name of the file has behind the name of the socket.
const SUFFIX: &str = ".pftrace";

/// Writes what is recorded, and says where it is, or why not.
pub(super) fn text(subject: &dyn Subject, socket: &Path) -> String {
    if subject.scheduler().level() == Level::Off {
        let error = "the runtime records nothing: ask for `level 1` first, or set `COLORED_TRACE`";
        return object(|all| all.field("error", error));
    }
    let path = with(socket, SUFFIX);
    match write(&subject.diagnosis().trace(subject.scheduler()), &path) {
        Ok(bytes) => object(|all| {
            all.field("trace", &path.display().to_string());
            all.field("bytes", bytes);
        }),
        Err(error) => {
            let error = format!("cannot write the trace file {}: {error}", path.display());
            object(|all| all.field("error", &error))
        }
    }
}

/// A file with this name is complete, and its user's alone. The directory may be everybody's, so nothing that is there
/// already is written to.
fn write(snapshot: &Snapshot, path: &Path) -> io::Result<u64> {
    let part = with(path, ".part");
    let _ = fs::remove_file(&part);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    let written = snapshot.write_perfetto(&mut file).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written.and_then(|()| file.metadata()).map(|of| of.len())
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}
