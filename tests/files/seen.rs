//! What a test sees of results, files and directories.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The kind and the number of an error, or that there is none.
pub(super) fn said<T>(result: io::Result<T>) -> String {
    let Err(error) = result else { return "Ok".into() };
    format!("{:?}, {:?}", error.kind(), error.raw_os_error())
}

/// All that is in a directory, and what is at the path if that is elsewhere.
pub(super) fn seen(directory: &Path, path: &Path) -> String {
    let mut lines = Vec::new();
    look(directory, directory, &mut lines);
    if !path.starts_with(directory) && fs::metadata(path).is_ok_and(|found| found.is_file()) {
        lines.push(format!("elsewhere: {:?}", fs::read(path).map_err(|error| error.kind())));
    }
    lines.sort();
    lines.join("\n")
}

fn look(top: &Path, path: &Path, lines: &mut Vec<String>) {
    let found = fs::symlink_metadata(path).expect("it is there");
    let file_type = found.file_type();
    let inner = path.strip_prefix(top).expect("inside");
    let contents = match () {
        () if file_type.is_file() => contents(path),
        () if file_type.is_symlink() => {
            let text = fs::read_link(path).expect("a link").display().to_string();
            // The directory has another name for each writer, and a descriptor another number.
            let text = text.replace(&top.display().to_string(), "TOP");
            format!("-> {}", text.trim_end_matches(|c: char| c.is_ascii_digit()))
        }
        () if file_type.is_dir() => "directory".into(),
        () if file_type.is_fifo() => "pipe".into(),
        () => "special".into(),
    };
    let mode = found.mode() & 0o7777;
    // Names of entries change the number of a directory's links on some file systems.
    let links = if file_type.is_dir() { 0 } else { found.nlink() };
    lines.push(format!("{}: {contents}; {mode:o} links: {links}", inner.display()));
    if file_type.is_dir() {
        for entry in fs::read_dir(path).expect("a directory") {
            look(top, &entry.expect("an entry").path(), lines);
        }
    }
}

fn contents(path: &Path) -> String {
    match fs::read(path) {
        Ok(bytes) if bytes.len() > 200 => format!("{} bytes", bytes.len()),
        Ok(bytes) => format!("{:?}", String::from_utf8_lossy(&bytes)),
        Err(error) => format!("{:?}", error.kind()),
    }
}
