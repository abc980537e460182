//! Programs that may not be installed.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The path of a program of a Debian package, or `None` with a line on standard error.
///
/// # Panics
///
/// If it is missing and `COLORED_ALL_PROGRAMS` is set.
#[track_caller]
pub(super) fn find(name: &str, package: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // The latter are not in every user's path.
    let places = env::split_paths(&path).chain(["/usr/sbin".into()]).chain(versions());
    let found = places.map(|place| place.join(name)).find(|path| path.is_file());
    if found.is_none() {
        let text = format!("skipped: there is no {name}; `apt-get install {package}` brings it");
        assert!(env::var_os("COLORED_ALL_PROGRAMS").is_none(), "{text}");
        // Not by `eprintln`, which the harness captures.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
    found
}

/// Where Debian puts the programs of PostgreSQL, by version.
fn versions() -> impl Iterator<Item = PathBuf> {
    let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    versions.map(|version| version.path().join("bin"))
}
