//! Files, links and names.

use super::How::{InPlace, Made, Refused, Replaced};
use super::{Row, Set, old};
use std::ffi::OsStr;
use std::fs::{self, create_dir};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

pub(super) const ROWS: &[Row] = &[
    Row { name: "no file", how: Made, set_up: |dir| Ok(Set::at(dir.join("file"))) },
    Row { name: "a file", how: Replaced, set_up: |dir| Ok(Set::at(old(dir.join("file"))?)) },
    Row {
        name: "an empty file",
        how: Replaced,
        set_up: |dir| {
            fs::write(dir.join("file"), "")?;
            Ok(Set::at(dir.join("file")))
        },
    },
    Row {
        name: "a name of 245 bytes",
        how: Replaced,
        set_up: |dir| Ok(Set::at(old(dir.join("n".repeat(245)))?)),
    },
    Row {
        name: "a name of 255 bytes",
        how: Replaced,
        set_up: |dir| Ok(Set::at(old(dir.join("n".repeat(255)))?)),
    },
    Row {
        name: "no file of a name of 255 bytes",
        how: Made,
        set_up: |dir| Ok(Set::at(dir.join("n".repeat(255)))),
    },
    Row {
        name: "a name of 256 bytes",
        how: Refused,
        set_up: |dir| Ok(Set::at(dir.join("n".repeat(256)))),
    },
    Row {
        name: "a name that is no text",
        how: Replaced,
        set_up: |dir| Ok(Set::at(old(dir.join(OsStr::from_bytes(b"\xff\n")))?)),
    },
    Row {
        name: "a path of 4,000 bytes",
        how: Replaced,
        set_up: |dir| {
            let deep = dir.join("./".repeat(1800)).as_os_str().as_bytes().to_vec();
            let path = [&deep[..], b"file"].concat();
            Ok(Set::at(old(OsStr::from_bytes(&path).into())?))
        },
    },
    Row {
        name: "a path of 5,000 bytes",
        how: Refused,
        set_up: |dir| Ok(Set::at(dir.join("./".repeat(2500)).join("file"))),
    },
    Row { name: "an empty path", how: Refused, set_up: |_| Ok(Set::at("")) },
    Row { name: "a NUL byte", how: Refused, set_up: |dir| Ok(Set::at(dir.join("a\0b"))) },
    Row { name: "the root", how: Refused, set_up: |_| Ok(Set::at("/")) },
    Row { name: "a directory", how: Refused, set_up: |dir| Ok(Set::at(dir)) },
    Row {
        name: "a directory, by a dot",
        how: Refused,
        set_up: |dir| Ok(Set::at(format!("{}/.", dir.display()))),
    },
    Row {
        name: "a directory, by two dots",
        how: Refused,
        set_up: |dir| Ok(Set::at(dir.join(".."))),
    },
    Row { name: "no directory", how: Refused, set_up: |dir| Ok(Set::at(dir.join("no/file"))) },
    Row {
        name: "a file for a directory",
        how: Refused,
        set_up: |dir| Ok(Set::at(old(dir.join("file"))?.join("inner"))),
    },
    Row {
        name: "a file and a slash",
        how: Refused,
        set_up: |dir| Ok(Set::at(format!("{}/", old(dir.join("file"))?.display()))),
    },
    Row {
        name: "a file and a dot",
        how: Refused,
        set_up: |dir| Ok(Set::at(format!("{}/.", old(dir.join("file"))?.display()))),
    },
    Row {
        name: "no file and a slash",
        how: Refused,
        set_up: |dir| Ok(Set::at(format!("{}/", dir.join("file").display()))),
    },
    Row {
        name: "two dots in the path",
        how: Replaced,
        set_up: |dir| {
            create_dir(dir.join("inner"))?;
            old(dir.join("file"))?;
            Ok(Set::at(dir.join("inner/../file")))
        },
    },
    Row {
        name: "a link to a file",
        how: Replaced,
        set_up: |dir| {
            symlink(old(dir.join("file"))?, dir.join("link"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "a relative link to a relative link to a file",
        how: Replaced,
        set_up: |dir| {
            create_dir(dir.join("inner"))?;
            symlink("../file", dir.join("inner/link"))?;
            symlink("inner/link", dir.join("link"))?;
            old(dir.join("file"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "a link to nothing",
        how: Made,
        set_up: |dir| {
            symlink(dir.join("file"), dir.join("link"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "a relative link to a relative link to nothing",
        how: Made,
        set_up: |dir| {
            create_dir(dir.join("inner"))?;
            symlink("inner/link", dir.join("link"))?;
            symlink("file", dir.join("inner/link"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "a file in a directory behind a link",
        how: Replaced,
        set_up: |dir| {
            create_dir(dir.join("inner"))?;
            symlink("inner", dir.join("link"))?;
            Ok(Set::at(old(dir.join("link/file"))?))
        },
    },
    Row {
        name: "a link to nothing in no directory",
        how: Refused,
        set_up: |dir| {
            symlink("no/file", dir.join("link"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "a link to nothing with a slash",
        how: Refused,
        set_up: |dir| {
            symlink("file/", dir.join("link"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "a link to a directory",
        how: Refused,
        set_up: |dir| {
            symlink(".", dir.join("link"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "links in a circle",
        how: Refused,
        set_up: |dir| {
            symlink("two", dir.join("one"))?;
            symlink("one", dir.join("two"))?;
            Ok(Set::at(dir.join("one")))
        },
    },
    Row {
        // The kernel follows 40. It begins a path again if something is mounted meanwhile, and counts on.
        name: "20 links to a file",
        how: Replaced,
        set_up: |dir| {
            old(dir.join("0"))?;
            (1..=20).try_for_each(|n| symlink((n - 1).to_string(), dir.join(n.to_string())))?;
            Ok(Set::at(dir.join("20")))
        },
    },
    Row {
        name: "41 links to nothing",
        how: Refused,
        set_up: |dir| {
            (1..=41).try_for_each(|n| symlink((n - 1).to_string(), dir.join(n.to_string())))?;
            Ok(Set::at(dir.join("41")))
        },
    },
    Row {
        name: "a file with two names",
        how: InPlace,
        set_up: |dir| {
            fs::hard_link(old(dir.join("file"))?, dir.join("other"))?;
            Ok(Set::at(dir.join("file")))
        },
    },
    Row {
        name: "a file with the name of a new file",
        how: Replaced,
        set_up: |dir| Ok(Set::at(old(dir.join(".colored-af63dc4c8601ec8c-0.new"))?)),
    },
];
