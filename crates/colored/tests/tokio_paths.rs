//! tokio's public paths against ours: the table in `table.rs`.

/// Imports a path of ours that the table says is there.
macro_rules! import {
    (absent $($path:ident)::+) => {};
    ($kind:ident $($path:ident)::+) => {
        #[allow(unused_imports, deprecated)]
        use colored::$($path)::+ as _;
    };
}

macro_rules! paths {
    ($($($path:ident)::+ $kind:ident $($text:literal)?;)+) => {
        $(import!($kind $($path)::+);)+

        /// The rows: path, kind, and what the kind leaves to say.
        pub(crate) const ROWS: &[(&[&str], &str, &str)] =
            &[$((&[$(stringify!($path)),+], stringify!($kind), concat!($($text)?))),+];
    };
}

mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A line of the table.
struct Row {
    path: String,
    kind: &'static str,
    text: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    table::ROWS.iter().map(|&(path, kind, text)| Row { path: path.join("::"), kind, text })
}

fn tmp(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn lock_file() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    fs::read_to_string(path).expect("the workspace has a lock file")
}

/// The version of tokio that the workspace uses.
fn version() -> String {
    let lock = lock_file();
    let (_, rest) = lock.split_once("name = \"tokio\"\nversion = \"").expect("it has tokio");
    rest.split('"').next().expect("a version ends").to_owned()
}

#[test]
fn the_table_is_sorted_and_gives_reasons() {
    let mut last = String::new();
    for Row { path, kind, text } in rows() {
        assert!(last < path, "{path} belongs before {last}");
        match kind {
            "same" => assert_eq!(text, "", "{path}: what is the same needs no reason"),
            "differs" | "absent" => assert_ne!(text, "", "{path}: say how, or why"),
            _ => panic!("{path}: {kind}: allowed are same, differs and absent"),
        }
        last = path;
    }
}

#[test]
fn the_table_is_of_the_tokio_in_use() {
    let version = version();
    let (minor, _) = version.rsplit_once('.').expect("three numbers");
    let first = include_str!("tokio_paths/table.rs").lines().next().unwrap_or_default();
    assert!(
        first.contains(&format!("tokio {minor},")),
        "tokio is {version}, and the table begins: {first}; run the test that is ignored, and add what it names"
    );
}

/// Documents tokio, and compares.
#[test]
#[ignore = "takes some ten seconds, and changes with the version of tokio only"]
fn nothing_of_tokios_is_left_out() {
    let package = tmp("documented");
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("src/lib.rs"), "").unwrap();
    fs::write(package.join("Cargo.lock"), lock_file()).unwrap();
    let manifest = format!(
        "[package]\nname = \"documented\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\ntokio = {{ version = \"={}\", features = [\"full\", \"test-util\"] }}\n",
        version()
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let target = package.join("target");
    let documented = Command::new(env!("CARGO"))
        .args(["doc", "-p", "tokio", "--no-deps", "--target-dir"])
        .arg(&target)
        .current_dir(&package)
        .status()
        .unwrap();
    assert!(documented.success());
    let page = fs::read_to_string(target.join("doc/tokio/all.html")).unwrap();
    // As in `<a href="fs/struct.File.html">fs::File</a>`; the page's own links begin with `#`.
    let links = page.split("<li><a href=\"").skip(1).filter(|rest| !rest.starts_with('#'));
    let there: BTreeSet<_> = links
        .filter_map(|rest| Some(rest.split_once("</a>")?.0.split_once('>')?.1.to_owned()))
        .collect();
    assert!(there.contains("net::TcpStream"), "{there:?}");
    let listed: BTreeSet<_> = rows().map(|row| row.path).collect();
    let missing: Vec<_> = there.difference(&listed).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
